"""Raw values → scores of 0..100, where more is better.

"Less is better" is turned round here and nowhere else. A normaliser takes the survivors' known values and
returns one score for each; docs/normalising.md lists the laws of all normalisers, which are property-tested.
"""

from collections.abc import Callable
from typing import Literal, TypeVar, get_args

import msgspec
import numpy as np
import numpy.typing as npt

__all__ = [
    "DECIMALS",
    "KINDS",
    "Floats",
    "NormalizerKind",
    "Number",
    "Scale",
    "normalize",
    "rounded",
    "rounded_value",
    "sound_range",
    "within_bounds",
]

Floats = npt.NDArray[np.float64]
NormalizerKind = Literal["fixed", "share", "min_max", "max_ratio", "none"]
Number = TypeVar("Number", float, Floats)
Better = Literal["more", "less"]

DECIMALS = 6
_UNIT = 10.0**DECIMALS
_TOP = 100.0
_HUGE = 1e150  # beyond this, sums and differences of values may overflow
_WAYS = frozenset(get_args(Better))
_SCALE_FREE = frozenset({"share", "min_max", "max_ratio"})


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """How a scorer's raw values become scores: which normaliser, which way is better, and over which range."""

    kind: NormalizerKind
    better: Better = "more"
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if self.better not in _WAYS:
            raise ValueError(f"`better` is `more` or `less`, not {self.better!r}")
        if self.kind == "fixed" and not sound_range(self.low, self.high):
            raise ValueError(
                f"a fixed range needs low < high, neither too near nor too far, got {self.low}..{self.high}"
            )


def sound_range(low: float, high: float) -> bool:
    """Return whether the range is usable: not empty, and neither so wide nor so narrow that arithmetic fails."""
    return low < high and 0.0 < _TOP / (high - low) < np.inf


def normalize(values: Floats, scale: Scale) -> Floats:
    """Return the scores of `values`, which must be finite; never NaN, and within 0..100 except for `none`."""
    if not values.size:
        return values
    if scale.kind in _SCALE_FREE and (largest := float(np.abs(values).max())) > _HUGE:
        values = values / largest
    return KINDS[scale.kind](values, scale) + 0.0  # turns −0.0 into 0.0


def rounded(values: Number) -> Number:
    """Round one number or many to DECIMALS."""
    result: Number = np.rint(values * _UNIT) / _UNIT
    return result


def rounded_value(value: float) -> float:
    """Round a value of any unit to be shown: to DECIMALS or, where it is smaller than 1, to as many digits."""
    return round(value, DECIMALS) if abs(value) >= 1.0 else float(f"{value:.{DECIMALS}g}")


def within_bounds(scores: Floats, kind: NormalizerKind) -> bool:
    """Return whether scores are finite and, unless `kind` is `none`, within 0..100."""
    if not scores.size:
        return True
    low, high = float(scores.min()), float(scores.max())
    if kind == "none":
        return bool(np.isfinite(low) and np.isfinite(high))
    return low >= 0.0 and high <= _TOP


def _fixed(values: Floats, scale: Scale) -> Floats:
    scores = (values.clip(scale.low, scale.high) - scale.low) / (scale.high - scale.low)
    scores *= _TOP
    return _turned(scores, scale)


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
    largest = float(positive.max())
    scores = positive / largest * _TOP if largest > 0.0 else np.zeros(values.size)
    return _turned(scores, scale)


def _none(values: Floats, scale: Scale) -> Floats:
    return values if scale.better == "more" else 0.0 - values


def _turned(scores: Floats, scale: Scale) -> Floats:
    return scores if scale.better == "more" else _TOP - scores


KINDS: dict[NormalizerKind, Callable[[Floats, Scale], Floats]] = {
    "fixed": _fixed,
    "share": _share,
    "min_max": _min_max,
    "max_ratio": _max_ratio,
    "none": _none,
}
