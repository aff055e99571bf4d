"""All that is around the views: middlewares, probes, error pages, and the start of a web process."""
