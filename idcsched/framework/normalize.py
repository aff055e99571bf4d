"""Raw values → scores of 0..100, where more is better.

"Less is better" is turned round here and nowhere else. Every normaliser takes the known values of the
survivors and gives as many scores; the laws that it keeps stand in docs/normalising.md and are
property-tested.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import copysign
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = [
    "BY_ROW",
    "DECIMALS",
    "KINDS",
    "Floats",
    "NormalizerKind",
    "Number",
    "Scale",
    "normalize",
    "normalize_one",
    "rounded",
    "rounded_alike",
    "rounded_each",
    "sound_range",
    "within_bounds",
]

Floats = npt.NDArray[np.float64]
NormalizerKind = Literal["fixed", "share", "min_max", "max_ratio", "none"]
Number = TypeVar("Number", float, Floats)
Better = Literal["more", "less"]

BY_ROW: frozenset[NormalizerKind] = frozenset({"fixed", "none"})
"""Normalisers by which nobody's score depends on who else is there."""
DECIMALS = 6
_UNIT = 10.0**DECIMALS
_UNITS = np.array(_UNIT)  # as an array it need not be made one each time
_NOUGHT = np.zeros(())
_WHOLE = 2.0**53  # from here on a float has no decimals to round
_TOP = 100.0
_TOPS = np.array(_TOP)
_HUGE = 1e150  # beyond this, sums and differences of values may overflow
_SCALE_FREE = frozenset({"share", "min_max", "max_ratio"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a scorer's raw values become scores: which normaliser, which way is better, and over which range."""

    kind: NormalizerKind
    better: Better = "more"
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.kind == "fixed" and not sound_range(self.low, self.high):
            raise ValueError(
                f"a fixed range needs low < high, neither too near nor too far, got {self.low}..{self.high}"
            )


def sound_range(low: float, high: float) -> bool:
    """Whether scores can be told on this range: it is not empty, and arithmetic neither overflows nor drowns on it."""
    return low < high and 0.0 < _TOP / (high - low) < np.inf


def normalize(values: Floats, scale: Scale) -> Floats:
    """The scores of `values`, which must all be finite; never NaN, and within 0..100 but for `none`."""
    if not values.size:
        return values
    if scale.kind in _SCALE_FREE and (most := float(np.abs(values).max())) > _HUGE:
        values = values / most
    scores = KINDS[scale.kind](values, scale)  # it is nobody else's, and may be written into
    rounded_in_place(scores)
    scores += _NOUGHT  # without a sign
    return scores


def normalize_one(value: float, scale: Scale) -> float:
    """What `normalize` makes of that one value, by a scale that is one of `BY_ROW`."""
    if scale.kind == "none":
        return rounded(value if scale.better == "more" else 0.0 - value) + 0.0
    within = scale.low if value < scale.low else min(value, scale.high)
    score = (within - scale.low) * (_TOP / (scale.high - scale.low))
    return rounded(score if scale.better == "more" else _TOP - score) + 0.0


def rounded_each(values: Floats) -> Floats:
    """As the array library's `round(DECIMALS)`, which takes longer to get going than to round a few hundred."""
    found: Floats = np.multiply(values, _UNITS)
    np.rint(found, found)
    np.divide(found, _UNITS, found)
    return found


def rounded_in_place(values: Floats) -> None:
    """The same of values that nobody else sees."""
    np.multiply(values, _UNITS, values)
    np.rint(values, values)
    np.divide(values, _UNITS, values)


def rounded(value: float) -> float:
    """As the array library rounds to DECIMALS: to the last bit, which Python's own `round` does not."""
    scaled = value * _UNIT
    if -_WHOLE < scaled < _WHOLE:
        return round(scaled) / _UNIT or copysign(0.0, value)
    return scaled / _UNIT


def rounded_alike(value: Number) -> Number:
    """One value or many, rounded to DECIMALS."""
    return rounded(value) if isinstance(value, float) else rounded_each(value)


def within_bounds(scores: Floats, kind: NormalizerKind) -> bool:
    """Whether scores are what `kind` may give: finite, and 0..100 unless nothing is normalised."""
    if not scores.size:
        return True
    low, high = float(scores.min()), float(scores.max())
    if kind == "none":
        return bool(np.isfinite(low) and np.isfinite(high))
    return low >= 0.0 and high <= _TOP


def _fixed(values: Floats, scale: Scale) -> Floats:
    low, high, factor = _limits(scale.low, scale.high)
    scores = np.maximum(values, low)
    np.minimum(scores, high, out=scores)
    if scale.low:
        scores -= low
    scores *= factor
    return _turned(scores, scale)


@lru_cache(maxsize=256)
def _limits(low: float, high: float) -> tuple[Floats, Floats, Floats]:
    """The range, and what of a score one of it makes, as arrays."""
    return np.array(low), np.array(high), np.array(_TOP / (high - low))


def _share(values: Floats, scale: Scale) -> Floats:
    low = float(values.min())
    shifted = values - low if low < 0 else values
    if scale.better == "less":
        shifted = shifted.max() + shifted.min() - shifted
    total = float(shifted.sum())
    if not 0.0 < total < np.inf:
        return np.full(values.size, _TOP / values.size)
    return (shifted / total * _TOP).clip(0.0, _TOP)


def _min_max(values: Floats, scale: Scale) -> Floats:
    low, high = float(values.min()), float(values.max())
    span = high - low
    if span <= 0.0:
        return np.full(values.size, _TOP)
    return _turned(((values - low) / span * _TOP).clip(0.0, _TOP), scale)


def _max_ratio(values: Floats, scale: Scale) -> Floats:
    positive = np.maximum(values, 0.0)
    most = float(positive.max())
    scores = positive / most * _TOP if most > 0.0 else np.zeros(values.size)
    return _turned(scores, scale)


def _none(values: Floats, scale: Scale) -> Floats:
    return values.copy() if scale.better == "more" else 0.0 - values


def _turned(scores: Floats, scale: Scale) -> Floats:
    return scores if scale.better == "more" else np.subtract(_TOPS, scores, scores)


KINDS: dict[NormalizerKind, Callable[[Floats, Scale], Floats]] = {
    "fixed": _fixed,
    "share": _share,
    "min_max": _min_max,
    "max_ratio": _max_ratio,
    "none": _none,
}
