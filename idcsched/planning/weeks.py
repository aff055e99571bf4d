"""In how many of the last weeks a move would have saved: each week is taken alone, as a month that repeats it."""

from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.labels import Mask
from idcsched.framework.monthly_bill import HOURS_A_MONTH, MonthFigures, Tariffs, order_bills
from idcsched.framework.normalize import Floats
from idcsched.framework.snapshot import Snapshot

from .shifts import Shift, flows_of, hours_without

__all__ = ["HOURS", "LEAST", "WEEKS", "WeeksSaved", "mean_week", "weeks_of", "weeks_saved"]

WEEKS: Final = 4
HOURS: Final = WEEKS * HOURS_A_WEEK
"""The hours of these weeks: the last ones of a line's history."""
DAYS_BEFORE: Final = (HOURS_A_MONTH - HOURS) // 24
"""How many days of the history lie before these weeks."""
ENOUGH: Final = HOURS_A_WEEK // 2
"""So many hours of a week must be known."""
LEAST: Final = 1.0
"""What a move must save a month, in the installation's currency."""


class WeeksSaved(msgspec.Struct, frozen=True):
    """In how many weeks a move would have saved, and how many are known on all of its lines."""

    saved: int
    known: int


def mean_week(snapshot: Snapshot, line: int) -> Floats | None:
    """Return what a line carried in each hour of the week from Monday on, as the mean of these weeks; NaN: a gap.

    None where half of a week's hours or more are not known.
    """
    if snapshot.history is None:
        return None
    hours = snapshot.history.hours[line, -HOURS:].astype(np.float64).reshape(WEEKS, HOURS_A_WEEK)
    known = np.count_nonzero(~np.isnan(hours), axis=0)
    if np.count_nonzero(known) < ENOUGH:
        return None
    mean = np.divide(np.nansum(hours, axis=0), known, out=np.full(HOURS_A_WEEK, np.nan), where=known > 0)
    weekday = (snapshot.history.weekday + DAYS_BEFORE) % 7
    return np.roll(mean, weekday * 24)


def weeks_of(shift: Shift, snapshot: Snapshot) -> WeeksSaved:
    """Return in how many weeks it would have saved to have the order on the lines used instead of those left."""
    history, rows = snapshot.history, shift.lines
    if history is None:
        return WeeksSaved(0, 0)
    return weeks_saved(
        history.hours[rows, -HOURS:],
        Tariffs.of(snapshot.lines, rows),
        np.arange(rows.size) < shift.left.size,
        mbps=shift.mbps,
        shape=shift.shape,
        weekday=(history.weekday + DAYS_BEFORE) % 7,
        seen=min(shift.seen, HOURS),
    )


def weeks_saved(
    hours: npt.NDArray[np.floating[Any]],
    tariffs: Tariffs,
    left: Mask,
    *,
    mbps: float,
    shape: Floats | None,
    weekday: int,
    seen: int,
) -> WeeksSaved:
    """Return in how many weeks a move would have saved, by itself.

    `hours` are what each line carried (a row each), beginning on that `weekday`; `left` says which lines the move
    leaves, the others are those that it uses. In the last `seen` hours the order's own traffic is among what these
    carried: without it, each of a line's weeks is billed as a month that repeats it, and with it. A week is known on a
    line if half of its hours are.
    """
    flows = flows_of(tariffs.charge_types, mbps, shape)
    rest = hours.astype(np.float64)
    rest[left] = hours_without(rest[left], flows[left], shape, weekday=weekday, seen=seen)
    weeks = rest.reshape(-1, HOURS_A_WEEK)
    weeks[np.count_nonzero(~np.isnan(weeks), axis=1) < ENOUGH] = np.nan
    months = np.tile(weeks, -(-HOURS_A_MONTH // HOURS_A_WEEK))[:, :HOURS_A_MONTH]
    line = np.repeat(np.arange(left.size), WEEKS)
    bills = order_bills(
        months,
        MonthFigures.of(months),
        np.arange(line.size),
        Tariffs.of(tariffs, line),
        flows[line],
        shape,
        weekday=weekday,
    )
    added = (bills.with_order - bills.without).reshape(-1, WEEKS)
    saves = added[left].sum(axis=0) - added[~left].sum(axis=0)
    return WeeksSaved(int(np.count_nonzero(saves >= LEAST)), int(np.count_nonzero(~np.isnan(saves))))
