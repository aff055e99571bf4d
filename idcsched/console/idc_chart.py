"""The chart of a line's bandwidth on the IDC's page: its measured values, their 95th percentile, and its bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from idcsched.framework.capacity import BANDWIDTH
from idcsched.inventory.models import Idc, Line
from metrics_ingest.billing.report import BandwidthReport
from metrics_ingest.billing.series import series_read
from metrics_ingest.samples.slots import SLOT
from metrics_ingest.selectors import metric_named

__all__ = ["SPANS", "Chart", "chart"]

SPANS: Final[Mapping[str, Any]] = {
    "24h": gettext_lazy("24 hours"),
    "7d": gettext_lazy("7 days"),
    "30d": gettext_lazy("30 days"),
}
LENGTHS: Final = {"24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
STEPS: Final = {"24h": SLOT, "7d": SLOT, "30d": 6 * SLOT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What the chart shows; `data` goes to its script. `above` are the steps whose value lies above the percentile."""

    line: str
    span: str
    span_words: str
    data: Mapping[str, Any]
    percentile: float | None
    coverage: float
    highest: float | None
    above: int
    step_minutes: int


def chart(
    idc: Idc, line: Line, span: str, *, now: datetime, max_level: float, report: BandwidthReport | None
) -> Chart | None:
    """Return the chart of a line over a span of SPANS; None where nothing was measured in it. Two queries."""
    series = series_read(
        metric=metric_named(BANDWIDTH),
        idc=idc,
        line=line,
        start=now - LENGTHS[span],
        end=now,
        step=STEPS[span],
        agg="max",
    )
    known = series.values[~np.isnan(series.values)]
    if not known.size:
        return None
    percentile = None if report is None else report.p95[span].mbps
    data = {
        "start": series.start.timestamp(),
        "step": series.step.total_seconds(),
        "values": [None if value is None else round(value, 1) for _at, value in series.points()],
        "percentile": percentile,
        "bounds": [
            {"name": _("limit"), "mbps": line.purchased_mbps * max_level},
            {"name": _("purchased"), "mbps": line.purchased_mbps},
            *([] if line.commit_mbps is None else [{"name": _("commit"), "mbps": line.commit_mbps}]),
        ],
        "names": {
            "time": _("time"),
            "values": _("measured"),
            "above": _("above it"),
            "percentile": _("95th percentile, %(span)s") % {"span": SPANS[span]},
        },
    }
    return Chart(
        line=line.code,
        span=span,
        span_words=str(SPANS[span]),
        data=data,
        percentile=percentile,
        coverage=0.0 if report is None else report.p95[span].coverage,
        highest=float(known.max()),
        above=0 if percentile is None else int((known > percentile).sum()),
        step_minutes=int(series.step.total_seconds() // 60),
    )
