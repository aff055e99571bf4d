"""The services: every write of metrics, samples, roll-ups, sources and runs."""

from .history import history_store
from .metric import metric_create, metric_delete, metric_update
from .pruning import history_prune
from .readings import readings_to_rates
from .rollups import rollups_refresh
from .run import RunOver, run_begin, run_fail, run_store, runs_lose, runs_prune
from .samples import MAX_COLLECTED, MAX_SAMPLES, Collected, Refusal, Sample, samples_collect, samples_store
from .source import source_ask, source_create, source_delete, source_names_map, source_update

__all__ = [
    "MAX_COLLECTED",
    "MAX_SAMPLES",
    "Collected",
    "Refusal",
    "RunOver",
    "Sample",
    "history_prune",
    "history_store",
    "metric_create",
    "metric_delete",
    "metric_update",
    "readings_to_rates",
    "rollups_refresh",
    "run_begin",
    "run_fail",
    "run_store",
    "runs_lose",
    "runs_prune",
    "samples_collect",
    "samples_store",
    "source_ask",
    "source_create",
    "source_delete",
    "source_names_map",
    "source_update",
]
