"""In how many of the last weeks a move would have saved: each week is taken alone, as a month that repeats it."""

from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import numpy.typing as npt
from django.conf import settings

from idcsched.framework.billing import MEAN_OF_PEAK
from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.labels import Mask, Rows
from idcsched.framework.monthly_bill import HOURS_A_MONTH, MonthFigures, Tariffs, order_bills
from idcsched.framework.normalize import Floats
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot

from .standing import Standing

__all__ = ["HOURS", "LEAST", "WEEKS", "WeeksSaved", "mean_week", "weeks_of_move", "weeks_saved"]

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


def weeks_of_move(
    placed: Standing, flow: float, left: Rows, used: Rows, snapshot: Snapshot, now: datetime
) -> WeeksSaved:
    """Return in how many weeks it would have saved to have `flow` Mbps on the lines used instead of those left."""
    lines, history, rows = snapshot.lines, snapshot.history, np.concatenate([left, used])
    if history is None:
        return WeeksSaved(0, 0)
    return weeks_saved(
        history.hours[rows, -HOURS:],
        Tariffs(
            charge_types=lines.charge_types[rows],
            purchased=lines.purchased[rows],
            commit=lines.commit[rows],
            price_per_mbps=lines.price_per_mbps[rows],
            price_per_gb=lines.price_per_gb[rows],
        ),
        np.arange(rows.size) < left.size,
        mbps=flow,
        shape=order_shape(placed.request, placed.labels, snapshot.shapes).hours,
        weekday=(history.weekday + DAYS_BEFORE) % 7,
        seen=_hours_seen(placed, now),
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
    flows = mbps * (
        np.where(tariffs.charge_types == "volume", MEAN_OF_PEAK, 1.0) if shape is None else np.ones(left.size)
    )
    rest = hours.astype(np.float64)
    if seen:
        shares = np.ones(HOURS_A_WEEK) if shape is None else np.roll(shape, -weekday * 24)
        own = np.outer(flows[left], np.tile(shares, WEEKS)[-seen:])
        rest[left, -seen:] = np.maximum(rest[left, -seen:] - own, 0.0)
    weeks = rest.reshape(-1, HOURS_A_WEEK)
    weeks[np.count_nonzero(~np.isnan(weeks), axis=1) < ENOUGH] = np.nan
    months = np.tile(weeks, -(-HOURS_A_MONTH // HOURS_A_WEEK))[:, :HOURS_A_MONTH]
    line = np.repeat(np.arange(left.size), WEEKS)
    bills = order_bills(
        months, MonthFigures.of(months), np.arange(line.size), _of(tariffs, line), flows[line], shape, weekday=weekday
    )
    added = (bills.with_order - bills.without).reshape(-1, WEEKS)
    saves = added[left].sum(axis=0) - added[~left].sum(axis=0)
    return WeeksSaved(int(np.count_nonzero(saves >= LEAST)), int(np.count_nonzero(~np.isnan(saves))))


def _of(tariffs: Tariffs, line: Rows) -> Tariffs:
    return Tariffs(
        charge_types=tariffs.charge_types[line],
        purchased=tariffs.purchased[line],
        commit=tariffs.commit[line],
        price_per_mbps=tariffs.price_per_mbps[line],
        price_per_gb=tariffs.price_per_gb[line],
    )


def _hours_seen(placed: Standing, now: datetime) -> int:
    """Return how many of the last whole hours before midnight have the traffic of a placement that runs."""
    since = [held.fading_since for held in placed.held.values()]
    midnight = now.astimezone(ZoneInfo(settings.BILLING_ZONE)).replace(hour=0, minute=0, second=0, microsecond=0)
    whole = [int((midnight - at).total_seconds() // 3600) for at in since if at is not None]
    return min(max(min(whole, default=0), 0), HOURS)
