"""`metric` (Score, optional Filter): any named metric, in as many entries as a profile needs; a metric of
lines is read from the line that the request would use.

Arguments: `metric` (its code), `better` (`more` or `less`; else the metric's own direction), `at_least` and
`at_most` (limits: IDCs beyond them are rejected). Normalised on the metric's range where it has one, else by
min_max. Missing data: the filter passes, the score is neutral.
"""

from typing import Annotated, Literal

import msgspec
import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.normalize import Scale
from idcsched.framework.plugin import METRIC_UNKNOWN, Plugin, Reason, Rejection, Verdict
from idcsched.framework.snapshot import Reading

BEYOND_LIMIT = Reason(
    "metric_limit", _("metric beyond its limit"), _("{metric} is {value:g}, the limit is {limit:g}"), cures=("metrics",)
)


class MetricArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metric, whether more or less of it is better, and its limits."""

    metric: Annotated[str, msgspec.Meta(min_length=1, max_length=63)]
    better: Literal["more", "less"] | None = None
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise Invalid("empty_range", _("at_least must not exceed at_most"), "/at_least")


class Metric(Plugin):
    """Scores by any metric that the profile names, and filters by it where there are limits."""

    name = "metric"
    Args = MetricArgs

    def scale_for(self, ctx: Cycle) -> Scale:
        column = ctx.snapshot.metrics.get(self.args.metric)
        fact = column.fact if column else None
        better: Literal["more", "less"] = self.args.better or ("less" if fact and fact.direction == "lower" else "more")
        if fact is None or fact.low is None or fact.high is None:
            return Scale(kind="min_max", better=better)
        return Scale(kind="fixed", better=better, low=fact.low, high=fact.high)

    def filter(self, ctx: Cycle) -> Verdict | None:
        low, high = self.args.at_least, self.args.at_most
        if low is None and high is None and ctx.missing.filter != "reject":
            return None
        reading = ctx.metric(self.args.metric)
        within = np.ones(ctx.size, dtype=np.bool_)
        if low is not None:
            within &= reading.values >= low
        if high is not None:
            within &= reading.values <= high
        return Verdict(
            within,
            BEYOND_LIMIT,
            detail=lambda i: self._shortfall(reading, i),
            figures=lambda i: self._within(reading, i),
            reading=reading,
            unknown=Rejection(METRIC_UNKNOWN, {"metric": self.args.metric}),
        )

    def score(self, ctx: Cycle) -> Reading:
        return ctx.metric(self.args.metric)

    def _within(self, reading: Reading, i: int) -> dict[str, float | str | None]:
        value = float(reading.values[i])
        limits = {"at_least": self.args.at_least, "at_most": self.args.at_most}
        return {"metric": self.args.metric, "value": None if np.isnan(value) else value, **limits}

    def _shortfall(self, reading: Reading, i: int) -> dict[str, float | str]:
        value, low, high = float(reading.values[i]), self.args.at_least, self.args.at_most
        limit = low if low is not None and value < low else high
        return {"metric": self.args.metric, "value": value, "limit": limit, "short_by": round(abs(value - limit), 6)}
