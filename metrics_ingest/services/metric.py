from collections.abc import Mapping
from typing import Any

from idcsched.audit.naming import refuse_named
from idcsched.audit.writing import locked, row_create, row_delete, row_update, write
from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _
from metrics_ingest.models import Latest, Metric, SampleDay

__all__ = ["RANGE", "metric_create", "metric_delete", "metric_update"]

FIELDS = frozenset({"code", "name", "unit", "direction", "scope", "max_age_seconds", "low", "high"})
FIXED = ("code", "direction", "scope")
RANGE = "metric_range"
"""The kind by which `audit/naming.py` is asked what is built on the range of the metric of a code."""


@write()
def metric_create(
    *,
    code: str,
    direction: str,
    scope: str,
    name: str = "",
    unit: str = "",
    max_age_seconds: int | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Metric:
    """Create a metric; without `max_age_seconds` its samples never go stale. Raises Invalid, Conflict."""
    return row_create(
        Metric(
            code=code,
            name=name,
            unit=unit,
            direction=direction,
            scope=scope,
            max_age_seconds=max_age_seconds,
            low=low,
            high=high,
        )
    )


@write()
def metric_update(*, metric: Metric, changes: Mapping[str, Any]) -> Metric:
    """Change a metric's fields; raises Invalid, NotFound, Conflict.

    Code, direction and scope of a built-in metric can't be changed, nor the scope of a metric with values. Its range
    can't be taken away where something is built on it.
    """
    stored = locked(metric)
    fixed = [name for name in FIXED if name in changes and changes[name] != getattr(stored, name)]
    if stored.builtin and fixed:
        raise Conflict("builtin_metric", _("{name} of a built-in metric can't be changed"), name=fixed[0])
    if "scope" in fixed and _has_values(stored):
        raise Conflict("in_use", _("there are values already; what they are about can't be changed"))
    fresh = row_update(stored, changes, allowed=FIELDS)
    if _has_range(stored) and not _has_range(fresh):
        refuse_named(RANGE, stored.code)
    return fresh


@write()
def metric_delete(*, metric: Metric) -> None:
    """Remove a metric without values; raises NotFound, Conflict."""
    stored = locked(metric)
    if stored.builtin:
        raise Conflict("builtin_metric", _("a built-in metric can't be deleted"))
    if _has_values(stored):
        raise Conflict("in_use", _("there are values of this metric"))
    row_delete(stored)


def _has_range(metric: Metric) -> bool:
    return metric.low is not None and metric.high is not None


def _has_values(metric: Metric) -> bool:
    return any(model.objects.filter(metric=metric).exists() for model in (Latest, SampleDay))
