"""Finding rows by the names that clients know."""

from idcsched.framework.errors import Invalid

from .models import Metric

__all__ = ["metric_named"]


def metric_named(code: str, pointer: str = "") -> Metric:
    """The metric of that code; raises Invalid `unknown_metric`."""
    found = Metric.objects.filter(code=code).first()
    if found is None:
        raise Invalid("unknown_metric", "there is no metric {name}", pointer, name=code)
    return found
