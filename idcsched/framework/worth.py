"""What points are worth in money.

A point has a price where a scorer's raw values are money (`Plugin.prices`) and its range is fixed: then an order's
points differ by one where what it counts a month differs by `per_point`, whatever the other IDCs are.
"""

import msgspec

from .answer import NoPrice, Worth
from .decision import Decision, ScoreColumn
from .normalize import rounded
from .scoring import weights_of

__all__ = ["worth_of"]


def worth_of(decision: Decision) -> Worth:
    """Return each scorer's best contribution over all IDCs that fit, and the money that one point is worth."""
    column, no_price = _bill_column(decision), _no_price(decision)
    per_point = None
    if column is not None and no_price is None:
        span = column.scale.high - column.scale.low
        per_point = float(rounded(span * decision.survivors.need / (100 * column.weight)))
    return Worth(
        currency=decision.cycle.snapshot.currency,
        per_point=per_point,
        best={
            column.entry.name: 0.0 if column.left_out else float(rounded(column.scores.max() * column.weight))
            for column in decision.columns
        },
        no_price=no_price or msgspec.UNSET,
    )


def _bill_column(decision: Decision) -> ScoreColumn | None:
    """Return the first scorer whose raw values are money."""
    return next((column for column in decision.columns if column.entry.plugin.prices), None)


def _no_price(decision: Decision) -> NoPrice | None:
    survivors, column = decision.survivors, _bill_column(decision)
    if not any(weights_of(survivors, entry)[1] for entry in decision.profile.scorers if entry.plugin.prices):
        return "bill_not_weighed"
    if not survivors.need:
        return "no_bandwidth"
    if column is None or column.left_out:
        return "bill_unknown"
    own_scale = column.entry.normalizer is None and column.entry.joins("normalize")
    return "not_fixed" if own_scale or column.scale.kind != "fixed" else None
