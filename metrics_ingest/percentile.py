"""The 95th percentile as ISPs bill it."""

import numpy as np
import numpy.typing as npt

from .slots import Values

__all__ = ["DROPPED", "percentile_95"]

DROPPED = 20
"""One value in this many is dropped from the top; the highest that is left is billed."""


def percentile_95(values: Values) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """For each row the percentile of its values, and how many there are; NaN is a gap and no value.

    With n values sorted downwards it is the one at index n // 20: of 30 days, 8,640 values, 432 are dropped. A
    row of gaps has NaN.
    """
    known = np.count_nonzero(~np.isnan(values), axis=-1)
    upwards = np.sort(values, axis=-1)  # NaN goes last
    place = np.maximum(known - 1 - known // DROPPED, 0)
    return np.take_along_axis(upwards, place[..., None], axis=-1)[..., 0].astype(np.float64), known
