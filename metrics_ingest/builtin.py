"""The metrics that the built-in plugins read.

They are created after every `migrate` and not by a migration, so that a flush restores them, too. What an operator has
changed about them (name, range, age) stays.
"""

from typing import Any, Final

from django.apps import apps as installed
from django.apps.registry import Apps

from idcsched.framework.messages import _
from idcsched.language.wording import say

from .models import Direction, Scope

__all__ = ["BANDWIDTH", "ROLLUPS_MOVED", "builtin_metrics_ensure", "metric_title"]

BANDWIDTH: Final = "bandwidth_mbps"
ROLLUPS_MOVED: Final = f"{BANDWIDTH}/rollups"
"""The feed's key for recomputed bandwidth roll-ups, beside the codes of metrics; no metric can have this code."""

QUARTER_HOUR: Final = 15 * 60
HOUR: Final = 60 * 60
LOAD: Final = {"unit": "", "scope": Scope.IDC, "max_age_seconds": QUARTER_HOUR, "low": 0.0, "high": 1.0}

BUILTIN: Final[dict[str, dict[str, Any]]] = {
    BANDWIDTH: {
        "name": _("Bandwidth, the larger of in and out"),
        "unit": "Mbps",
        "scope": Scope.LINE,
        "max_age_seconds": QUARTER_HOUR,
        "low": 0.0,
        "high": 1e9,
    },
    "cpu_load": {"name": _("CPU load"), **LOAD},
    "memory_load": {"name": _("Memory load"), **LOAD},
    "disk_load": {"name": _("Disk load"), **LOAD},
    "cost_index": {"name": _("Cost index"), "unit": "", "scope": Scope.IDC, "low": 0.0, "high": None},
    "rtt_ms": {
        "name": _("Round-trip time"),
        "unit": "ms",
        "scope": Scope.IDC,
        "max_age_seconds": HOUR,
        "low": 0.0,
        "high": 60_000.0,
    },
}


def builtin_metrics_ensure(*, using: str, apps: Apps = installed, **kwargs: Any) -> None:
    """Create the built-in metrics that are missing; a receiver of `post_migrate`.

    `apps` has the models as the migration left them.
    """
    try:
        metrics = apps.get_model("metrics_ingest", "Metric")._default_manager.using(using)
    except LookupError:  # all migrations were undone, so there is no table
        return
    existing = set(metrics.values_list("code", flat=True))
    metrics.bulk_create(
        metrics.model(code=code, direction=Direction.LOWER, builtin=True, **fields)
        for code, fields in BUILTIN.items()
        if code not in existing
    )


def metric_title(code: str, name: str) -> str:
    """Return a metric's name for the reader: that of a built-in one in the reader's language, unless it was changed.

    A metric without a name goes by its code.
    """
    shipped = BUILTIN.get(code, {}).get("name")
    return say(shipped, None) if shipped and name == shipped else name or code
