"""The 95th percentile, as ISPs bill it and by NumPy's other conventions."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
from django.conf import settings

from metrics_ingest.samples.slots import Values

__all__ = ["CONVENTIONS", "DROPPED", "percentile_95", "percentile_95_sorted"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

DROPPED: Final = 20
"""One value in this many is dropped from the top; the highest that is left is billed."""
KEPT: Final = DROPPED - 1


def percentile_95(values: Values, *, convention: str | None = None) -> tuple[Floats, Integers]:
    """Return each row's percentile, and the number of its values; NaN is a gap.

    The convention (None: the installation's) says which rank the percentile is, or between which two it lies. By
    `nearest_rank` it is the value at index n // 20 of n values in descending order: of 30 days, 8,640 values, the
    highest 432 are dropped. A row of gaps has NaN.
    """
    known = np.count_nonzero(~np.isnan(values), axis=-1)
    return percentile_95_sorted(np.sort(values, axis=-1), known, convention=convention), known


def percentile_95_sorted(upwards: Values, known: Integers, *, convention: str | None = None) -> Floats:
    """Return the percentile of rows that are sorted already, lowest first, gaps last; `known` counts their values."""
    floor, share = CONVENTIONS[convention or settings.PERCENTILE_CONVENTION](known)
    lower, upper = (_at(upwards, np.clip(place, 0, np.maximum(known - 1, 0))) for place in (floor, floor + 1))
    percentiles: Floats = lower + np.where(share > 0, (upper - lower) * share, 0.0)
    return percentiles


def _at(upwards: Values, place: Integers) -> Floats:
    return np.take_along_axis(upwards, place[..., None], axis=-1)[..., 0].astype(np.float64)


Rank = Callable[[Integers], tuple[Integers, Floats]]
"""From the number of values to the percentile's place in ascending order, and the share of the way to the next one."""


def _exactly(place: Integers) -> tuple[Integers, Floats]:
    return place, np.zeros(place.shape)


def _in_twentieths(twentieths: Integers) -> tuple[Integers, Floats]:
    whole, rest = np.divmod(twentieths, DROPPED)
    return whole, rest / DROPPED


def _plotting(alpha: float, beta: float) -> Rank:
    """Return the rank of one of Hyndman and Fan's continuous definitions: n q + α + q (1 − α − β), counted from 1."""
    shift = alpha + KEPT / DROPPED * (1 - alpha - beta) - 1

    def rank(known: Integers) -> tuple[Integers, Floats]:
        place = np.clip(known * KEPT / DROPPED + shift, 0, np.maximum(known - 1, 0))
        whole = np.floor(place).astype(np.int64)
        return whole, place - whole

    return rank


def _nearest_rank(known: Integers) -> tuple[Integers, Floats]:
    return _exactly(known - 1 - known // DROPPED)


def _averaged(known: Integers) -> tuple[Integers, Floats]:
    return known - 1 - known // DROPPED, np.where(known % DROPPED == 0, 0.5, 0.0)


def _closest(known: Integers) -> tuple[Integers, Floats]:
    """Return the place whose number, counted from 1, is nearest to n q; of two, the even number."""
    whole, rest = np.divmod(known * KEPT - DROPPED // 2, DROPPED)
    return _exactly(whole - ((rest == 0) & (whole % 2 == 0)))


def _linear(known: Integers) -> tuple[Integers, Floats]:
    return _in_twentieths((known - 1) * KEPT)


def _nearest(known: Integers) -> tuple[Integers, Floats]:
    """Return the place, counted from 0, that is nearest to (n − 1) q; of two, the even place."""
    whole, rest = np.divmod((known - 1) * KEPT, DROPPED)
    up = (rest * 2 > DROPPED) | ((rest * 2 == DROPPED) & (whole % 2 == 1))
    return _exactly(whole + up)


def _midpoint(known: Integers) -> tuple[Integers, Floats]:
    whole, share = _linear(known)
    return whole, np.where(share > 0, 0.5, 0.0)


CONVENTIONS: Final = MappingProxyType[str, Rank](
    {
        "nearest_rank": _nearest_rank,
        "inverted_cdf": _nearest_rank,
        "averaged_inverted_cdf": _averaged,
        "closest_observation": _closest,
        "interpolated_inverted_cdf": _plotting(0, 1),
        "hazen": _plotting(0.5, 0.5),
        "weibull": _plotting(0, 0),
        "linear": _linear,
        "median_unbiased": _plotting(1 / 3, 1 / 3),
        "normal_unbiased": _plotting(3 / 8, 3 / 8),
        "lower": lambda known: _exactly(_linear(known)[0]),
        "higher": lambda known: _exactly(-((known - 1) * -KEPT // DROPPED)),
        "midpoint": _midpoint,
        "nearest": _nearest,
    }
)
"""`nearest_rank` is what ISPs bill: drop the highest twentieth. The others are NumPy's, under NumPy's names; of 8,640
values `higher` bills the 432nd highest instead of the 433rd."""
