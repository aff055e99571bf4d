"""The metrics that the built-in plugins read; they exist from the start.

They are ensured after every migration rather than by one: so they are there again after a flush, too. What an
operator has changed since (a name, a range, an age) stays.
"""

from typing import Any, Final

from django.apps import apps as installed
from django.apps.registry import Apps

from .models import Direction, Scope

__all__ = ["BANDWIDTH", "ROLLUPS_MOVED", "builtin_metrics_ensure"]

BANDWIDTH: Final = "bandwidth_mbps"
ROLLUPS_MOVED: Final = f"{BANDWIDTH}/rollups"
"""What the feed calls what bandwidth has come to, among the metrics: no metric has such a code."""

QUARTER_HOUR: Final = 15 * 60
HOUR: Final = 60 * 60
LOAD: Final = {"unit": "", "scope": Scope.IDC, "max_age_seconds": QUARTER_HOUR, "low": 0.0, "high": 1.0}

BUILTIN: Final[dict[str, dict[str, Any]]] = {
    BANDWIDTH: {
        "name": "Bandwidth, the larger of in and out",
        "unit": "Mbps",
        "scope": Scope.LINE,
        "max_age_seconds": QUARTER_HOUR,
        "low": 0.0,
        "high": 1e9,
    },
    "cpu_load": {"name": "CPU load", **LOAD},
    "memory_load": {"name": "Memory load", **LOAD},
    "disk_load": {"name": "Disk load", **LOAD},
    "cost_index": {"name": "Cost index", "unit": "", "scope": Scope.IDC, "low": 0.0, "high": None},
    "rtt_ms": {
        "name": "Round-trip time",
        "unit": "ms",
        "scope": Scope.IDC,
        "max_age_seconds": HOUR,
        "low": 0.0,
        "high": 60_000.0,
    },
}


def builtin_metrics_ensure(*, using: str, apps: Apps = installed, **kwargs: Any) -> None:
    """Make those that are missing; a receiver of `post_migrate`.

    After a migration `apps` says what the tables look like now.
    """
    try:
        metrics = apps.get_model("metrics_ingest", "Metric")._default_manager.using(using)
    except LookupError:  # migrated back to nothing
        return
    there = set(metrics.values_list("code", flat=True))
    metrics.bulk_create(
        metrics.model(code=code, direction=Direction.LOWER, builtin=True, **fields)
        for code, fields in BUILTIN.items()
        if code not in there
    )
