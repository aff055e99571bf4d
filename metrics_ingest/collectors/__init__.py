"""The built-in kinds of sources, one file each; `metrics_ingest.sources.kinds` finds them."""
