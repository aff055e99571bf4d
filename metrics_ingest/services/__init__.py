"""Every write of this room."""

from .history import history_store
from .metric import metric_create, metric_delete, metric_update
from .pruning import history_prune
from .rollups import rollups_refresh
from .samples import MAX_COLLECTED, MAX_SAMPLES, Collected, Refusal, Sample, samples_collect, samples_store

__all__ = [
    "MAX_COLLECTED",
    "MAX_SAMPLES",
    "Collected",
    "Refusal",
    "Sample",
    "history_prune",
    "history_store",
    "metric_create",
    "metric_delete",
    "metric_update",
    "rollups_refresh",
    "samples_collect",
    "samples_store",
]
