"""`resource` (Filter, Score, Reserve): rejects overloaded IDCs and those whose stock is short; scores load.

Reads `cpu_load`, `memory_load` and `disk_load` (0..1). Arguments: `cpu`, `memory`, `disk` (limits, 0.9 each) and
`strategy`: `least` loaded first (default), `most` (pack), or `balanced` (the loads of one IDC close together).
Raw value: the highest load (`balanced`: the highest less the lowest), fixed on 0..1. A load that no IDC in
question reports is left out. Missing data: the filter passes, the score is the worst. No stock given: unlimited.
Reserve claims what the machines need of the stock.
"""

from functools import reduce
from math import isinf, isnan
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from idcsched.framework.capacity import Claim, shortfall
from idcsched.framework.columns import STOCK_RESOURCES
from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.normalize import DECIMALS, Floats, Scale
from idcsched.framework.plugin import Detail, Figures, Missing, Plugin, Reason, Rejection, Verdict
from idcsched.framework.snapshot import Reading

LOADS = {"cpu": "cpu_load", "memory": "memory_load", "disk": "disk_load"}

OVERLOADED = Reason(
    "overloaded", _("overloaded"), _("its {resource} load is {value:.0%}, the limit is {limit:.0%}"), cures=("metrics",)
)
UNKNOWN = Reason("load_unknown", _("load unknown"), _("its {resource} load is not known"), cures=("metrics",))
NOT_ENOUGH = Reason(
    "not_enough_stock", _("not enough stock"), _("needs {need:g} {resource}, {free:g} left"), cures=("ledger", "stock")
)

Limit = Annotated[float, msgspec.Meta(gt=0, le=1)]


class ResourceArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of the loads, and which load scores best."""

    cpu: Limit = 0.9
    memory: Limit = 0.9
    disk: Limit = 0.9
    strategy: Literal["least", "most", "balanced"] = "least"


class Resource(Plugin):
    """One overload, or one resource in short supply, is enough to reject an IDC."""

    name = "resource"
    Args = ResourceArgs
    missing = Missing(filter="pass", score="worst")
    metrics = tuple(LOADS.values())

    def scale_for(self, ctx: Cycle) -> Scale:
        return Scale(kind="fixed", better="more" if self.args.strategy == "most" else "less", low=0.0, high=1.0)

    def filter(self, ctx: Cycle) -> tuple[Verdict, ...]:
        return (*self._load_verdicts(ctx), *self._stock_verdicts(ctx))

    def score(self, ctx: Cycle) -> Reading | None:
        readings = list(self._readings(ctx).values())
        if not readings:
            return None
        return Reading.derived(self._raw([reading.values for reading in readings]), *readings)

    def reserve(self, ctx: Cycle) -> list[Claim]:
        claims, row, total = [], ctx.row_numbers.item(0), ctx.snapshot.stock.total
        for name in STOCK_RESOURCES:
            if (need := ctx.request.need(name)) and (need := round(need, DECIMALS)):
                stock: float = total[name].item(row)
                claims.append(Claim(resource=name, amount=need, ceiling=None if isnan(stock) else stock))
        return claims

    def _raw(self, loads: list[Floats]) -> Floats:
        highest = reduce(np.maximum, loads)
        return highest - reduce(np.minimum, loads) if self.args.strategy == "balanced" else highest

    @staticmethod
    def _readings(ctx: Cycle) -> dict[str, Reading]:
        """Return the loads that any IDC of `ctx` reports, by resource."""
        readings = {name: ctx.metric(metric) for name, metric in LOADS.items()}
        return {
            name: reading
            for name, reading in readings.items()
            if reading.complete or not np.isnan(reading.values).all()
        }

    def _load_verdicts(self, ctx: Cycle) -> tuple[Verdict, ...]:
        verdicts: list[Verdict] = []
        for name, reading in self._readings(ctx).items():
            limit = getattr(self.args, name)
            verdicts.append(
                Verdict(
                    reading.values <= limit,
                    OVERLOADED,
                    detail=_overload(name, reading.values, limit),
                    figures=_load(name, reading.values, limit),
                    reading=reading,
                    unknown=Rejection(UNKNOWN, {"resource": name}),
                )
            )
        return tuple(verdicts)

    def _stock_verdicts(self, ctx: Cycle) -> list[Verdict]:
        verdicts = []
        for name in STOCK_RESOURCES:
            if need := ctx.request.need(name):
                left = ctx.take(ctx.snapshot.stock.left[name])
                figures = _stock(name, left, need)
                verdicts.append(Verdict(left >= need, NOT_ENOUGH, detail=figures, figures=figures))
        return verdicts


def _overload(resource: str, loads: Floats, limit: float) -> Detail:
    return lambda i: {
        "resource": resource,
        "value": float(loads[i]),
        "limit": limit,
        "short_by": round(float(loads[i]) - limit, 6),
    }


def _load(resource: str, loads: Floats, limit: float) -> Figures:
    """Return the figures of passing; `value` is null where the load is unknown."""

    def figures(i: int) -> dict[str, Any]:
        value: float = loads.item(i)
        return {"resource": resource, "value": None if isnan(value) else value, "limit": limit}

    return figures


def _stock(resource: str, left: Floats, need: float) -> Detail:
    """Return need, stock left and shortfall; `free` is null where the stock is unlimited."""

    def figures(i: int) -> dict[str, Any]:
        free: float = left.item(i)
        if isinf(free):
            return {"resource": resource, "need": need, "free": None, "short_by": 0.0}
        return {"resource": resource, **shortfall(need, free)}

    return figures
