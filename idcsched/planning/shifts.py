"""What it does to bills that an order goes from some lines to others: by the last 30 days of these, hour by hour."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
from django.conf import settings

from idcsched.framework.billing import MEAN_OF_PEAK
from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.labels import Rows
from idcsched.framework.monthly_bill import HOURS_A_MONTH, MonthFigures, OrderBills, Tariffs, order_bills
from idcsched.framework.normalize import Floats
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot

from .optimum import Problem
from .standing import Standing

__all__ = ["Months", "Shift", "flows_of", "hours_without", "shift_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """An order of `mbps` that goes from the lines `left` to the lines `used`.

    In the last `seen` hours its own traffic is among what the lines left have carried. Of what is pending on these,
    `pending` Mbps are its own.
    """

    left: Rows
    used: Rows
    mbps: float
    shape: Floats | None
    seen: int
    pending: float

    @property
    def lines(self) -> Rows:
        """The lines that it leaves, then those that it uses."""
        return np.concatenate([self.left, self.used])


def shift_of(placed: Standing, problem: Problem, before: int, after: int, snapshot: Snapshot, now: datetime) -> Shift:
    """Return what it is for a placement to go from one option of the program to another."""
    uses = problem.mbps
    left, used = uses.thing[uses.option == before], uses.thing[uses.option == after]
    midnight = now.astimezone(ZoneInfo(settings.BILLING_ZONE)).replace(hour=0, minute=0, second=0, microsecond=0)
    since = [held.fading_since for held in placed.held.values()]
    whole = [int((midnight - at).total_seconds() // 3600) for at in since if at is not None]
    return Shift(
        left=np.setdiff1d(left, used),
        used=np.setdiff1d(used, left),
        mbps=float(uses.amount[uses.option == before].max()),
        shape=order_shape(placed.request, placed.labels, snapshot.shapes).hours,
        seen=min(max(min(whole, default=0), 0), HOURS_A_MONTH),
        pending=max(held.pending for held in placed.held.values()),
    )


def flows_of(charge_types: npt.NDArray[np.str_], mbps: float, shape: Floats | None) -> Floats:
    """Return what of an order flows on lines of these contracts, where the shape does not say it by the hour."""
    return mbps * np.where((charge_types == "volume") & (shape is None), MEAN_OF_PEAK, 1.0)


def hours_without(
    hours: npt.NDArray[np.floating[Any]], flows: Floats, shape: Floats | None, *, weekday: int, seen: int
) -> Floats:
    """Return what the lines carried (a row each, from midnight of that `weekday` on) without an order's own traffic.

    It flowed in the last `seen` hours, with these Mbps on each line.
    """
    rest = hours.astype(np.float64)
    if seen:
        shares = np.ones(HOURS_A_WEEK) if shape is None else np.roll(shape, -weekday * 24)
        own = np.outer(flows, np.resize(shares, rest.shape[1])[-seen:])
        rest[:, -seen:] = np.maximum(rest[:, -seen:] - own, 0.0)
    return rest


class Months:
    """What each line carries in the hours of a month, while orders go from line to line."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._lines, self._history = snapshot.lines, snapshot.history
        self._hours: dict[int, Floats] = {}
        self._pending = np.nan_to_num(snapshot.lines.load - snapshot.lines.used)

    def bills(self, shift: Shift) -> OrderBills | None:
        """Return the bills of the shift's lines without the order and with it; None where one of them is not known."""
        if self._history is None or not shift.lines.size:
            return None
        rows, (rest, pending) = shift.lines, self._without(shift)
        figures, known = MonthFigures.of(rest), self._history.figures
        bills = order_bills(
            rest,
            replace(
                figures,
                percentile_rise=known.percentile_rise[rows],
                peak_rise=known.peak_rise[rows],
                fifth_rise=known.fifth_rise[rows],
            ),
            np.arange(rows.size),
            Tariffs.of(self._lines, rows),
            flows_of(self._lines.charge_types[rows], shift.mbps, shift.shape),
            shift.shape,
            weekday=self._history.weekday,
            pending=pending * np.where(self._lines.by_volume[rows], MEAN_OF_PEAK, 1.0),
        )
        return None if np.isnan(bills.with_order).any() else bills

    def saves(self, shift: Shift) -> float | None:
        """Return what the bills of a month fall by; None where one of them is not known."""
        bills = self.bills(shift)
        if bills is None:
            return None
        added = bills.with_order - bills.without
        return float(added[: shift.left.size].sum() - added[shift.left.size :].sum())

    def make(self, shift: Shift) -> None:
        """Let the order go."""
        if self._history is None or not shift.lines.size:
            return
        rows, (rest, pending) = shift.lines, self._without(shift)
        flows = flows_of(self._lines.charge_types[rows], shift.mbps, shift.shape)
        shares = np.ones(1) if shift.shape is None else np.roll(shift.shape, -self._history.weekday * 24)
        for place, line in enumerate(rows.tolist()):
            own = np.resize(shares, HOURS_A_MONTH) * flows[place]
            self._hours[line] = rest[place] if place < shift.left.size else rest[place] + own
            self._pending[line] = pending[place]

    def _without(self, shift: Shift) -> tuple[Floats, Floats]:
        """Return the hours of the shift's lines, and what is pending on them, without the order."""
        assert self._history is not None  # noqa: S101  # as both callers have asked
        known, pending = self._history.hours, self._pending[shift.lines]
        hours = np.stack([self._hours.get(line, known[line]) for line in shift.lines.tolist()]).astype(np.float64)
        count, flows = shift.left.size, flows_of(self._lines.charge_types[shift.left], shift.mbps, shift.shape)
        hours[:count] = hours_without(hours[:count], flows, shift.shape, weekday=self._history.weekday, seen=shift.seen)
        pending[:count] = np.maximum(pending[:count] - shift.pending, 0.0)
        return hours, pending
