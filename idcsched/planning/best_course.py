"""The cheapest course of a period that can be found by whoever knows all its orders and all its traffic beforehand.

A mixed-integer program assigns the orders by a linear estimate of the bills; then orders are moved, one at a time, as
long as the exact bills fall. So no single move makes the result cheaper; moving several orders at once might.
"""

import time
from typing import Final

import numpy as np

from idcsched.framework.billing import MEAN_OF_PEAK, monthly_price, paid_anyway
from idcsched.framework.capacity import BANDWIDTH, Claim
from idcsched.framework.columns import STOCK_RESOURCES
from idcsched.framework.cycle import decide
from idcsched.framework.decision import Decision
from idcsched.framework.errors import IdcschedError
from idcsched.framework.lines import NO_LINE
from idcsched.framework.overlay import Allocation
from idcsched.framework.profile import Profile
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.samples.slots import SLOTS_A_DAY, Values

from .bills import monthly_costs
from .course import Course
from .optimum import NOWHERE, Problem, Uses, solve
from .period import PastOrder, Period
from .problem import options_of

__all__ = ["best_course"]

FOR_THE_PROGRAM: Final = 1 / 3
"""The part of the time that the program may take."""
BUSY_SHARE: Final = 0.05
LEAST: Final = 0.01
"""What a move must save, in the currency."""


def best_course(period: Period, policy: Profile, start: Course, *, seconds: float) -> Course:
    """Return the cheapest course found within so many seconds, beginning with the better of `start` and the program's.

    Orders go where the policy's filters let them, as if they were alone; `start` also says where those stay that are
    spread over several IDCs or could not be decided.
    """
    began = time.monotonic()
    search = _Search(period, policy, start)
    if search.orders:
        search.take(search.by_program(seconds * FOR_THE_PROGRAM))
        while search.improve(began + seconds):
            pass
    return search.course()


class _Choice:
    """One place for an order: what it would take there, and what would flow on each line."""

    def __init__(self, period: Period, order: PastOrder, allocation: Allocation) -> None:
        self.allocation = allocation
        self.flows = {row: (slots, mbps) for row, slots, mbps in period.flows(order, [allocation])}
        self.mbps = {
            period.lines[allocation.idc, claim.line]: claim.amount
            for claim in allocation.claims
            if claim.line is not None
        }


class _Search:
    """The orders that can be moved, each with its choices, and the choice that each has now."""

    def __init__(self, period: Period, policy: Profile, start: Course) -> None:
        self.period, self._start = period, start
        alone = Course(period)
        self.orders: list[PastOrder] = []
        self.choices: list[list[_Choice]] = []
        self.now: list[int] = []
        self._levels = np.full(len(period.tariffs), np.nan)
        for order in period.orders:
            if order.request.spread is None and len(start.placed.get(order.code, ())) == 1:
                self._add(order, _alone(order, alone, policy))
        self.traffic: Values = start.traffic.copy()
        everything = np.arange(len(period.tariffs))
        self.cost = np.nan_to_num(monthly_costs(period, everything, self.traffic))
        base, _ = percentile_95(period.traffic[:, period.lead * SLOTS_A_DAY :])
        purchased = np.array([tariff.purchased_mbps for tariff in period.tariffs])
        self.base = base
        self.room = np.nan_to_num(purchased * np.nan_to_num(self._levels, nan=1.0) - base)

    def _add(self, order: PastOrder, decision: Decision | None) -> None:
        """Add an order with all its choices; the first is where it stands at the start."""
        (standing,) = self._start.placed[order.code]
        choices = [_Choice(self.period, order, standing)]
        if decision is not None:
            places = (allocation for allocation in self._allocations(order, decision) if allocation != standing)
            choices += [_Choice(self.period, order, allocation) for allocation in places]
        self.orders.append(order)
        self.choices.append(choices)
        self.now.append(0)

    def _allocations(self, order: PastOrder, decision: Decision) -> list[Allocation]:
        """Return what the order would take at each IDC and line that fits; notes the lines' highest levels."""
        ctx, lines = decision.survivors, decision.survivors.snapshot.lines
        options, codes = options_of(decision), ctx.snapshot.idcs.codes
        needs = [(name, order.request.need(name)) for name in STOCK_RESOURCES]
        stock = tuple(Claim(resource=name, amount=need) for name, need in needs if need)
        found = []
        for row, used in zip(options.rows.tolist(), options.lines.tolist(), strict=True):
            chosen = [line for line in used if line != NO_LINE]
            if all(self._billed(codes[row], lines.codes[line]) for line in chosen):
                for line in chosen:
                    self._levels[self.period.lines[codes[row], lines.codes[line]]] = lines.max_level[line]
                claims = tuple(Claim(resource=BANDWIDTH, amount=ctx.need, line=lines.codes[line]) for line in chosen)
                found.append(
                    Allocation(
                        idc=codes[row],
                        claims=claims + stock,
                        tenant=order.labels.get("tenant", ""),
                        business=order.labels.get("business", ""),
                        machines=order.request.machine_count,
                    )
                )
        return found

    def _billed(self, idc: str, line: str) -> bool:
        """Return whether it is known what the line bills."""
        row = self.period.lines.get((idc, line))
        if row is None:
            return False
        tariff = self.period.tariffs[row]
        price = monthly_price(tariff.charge_type, tariff.price_per_mbps, tariff.price_per_gb)
        return tariff.charge_type == "fixed" or price is not None

    def by_program(self, seconds: float) -> list[int]:
        """Return each order's choice by the program; where it leaves an order out, the present one."""
        period, billed = self.period, slice(self.period.lead * SLOTS_A_DAY, None)
        busiest = [_busiest(row[billed]) for row in period.traffic]
        order, options, lines, mbps, busy = [], [], [], [], []
        number = 0
        for position, choices in enumerate(self.choices):
            for choice in choices:
                order.append(position)
                for row, (slots, flow) in choice.flows.items():
                    options.append(number)
                    lines.append(row)
                    mbps.append(choice.mbps[row])
                    busy.append(self._billed_share(row, slots, flow, busiest[row]) / choice.mbps[row])
                number += 1
        uses = Uses(np.array(options, dtype=np.intp), np.array(lines, dtype=np.intp), np.array(mbps))
        tariffs = period.tariffs
        prices = [monthly_price(tariff.charge_type, tariff.price_per_mbps, tariff.price_per_gb) for tariff in tariffs]
        paid = [paid_anyway(tariff.charge_type, tariff.commit_mbps, tariff.purchased_mbps) for tariff in tariffs]
        fixed = np.array([tariff.charge_type == "fixed" for tariff in tariffs])
        problem = Problem(
            orders=len(self.orders),
            order=np.array(order, dtype=np.intp),
            rank=np.zeros(len(order)),
            capacity=self.room.clip(min=0.0),
            taken=Uses(uses.option, uses.thing, uses.amount * self._together()),
            price=np.where(fixed, 0.0, np.array([price or 0.0 for price in prices])),
            free=np.maximum(np.array(paid) - np.nan_to_num(self.base), 0.0)[:, np.newaxis],
            mbps=uses,
            busy=np.round(np.array(busy), 3),
        )
        first = np.searchsorted(problem.order, np.arange(len(self.orders)))
        chosen = solve(problem, seconds=seconds, start=first).chosen
        return [0 if option == NOWHERE else int(option - begin) for option, begin in zip(chosen, first, strict=True)]

    def _billed_share(self, row: int, slots: slice, flow: Values, busiest: np.ndarray) -> float:
        """Return the Mbps that count for the line's bill: the mean in its busiest slots, by volume that of all."""
        series = np.zeros(self.period.traffic.shape[1], dtype=np.float32)
        series[slots] = flow
        billed = series[self.period.lead * SLOTS_A_DAY :]
        if self.period.tariffs[row].charge_type == "volume":
            return float(billed.mean()) / MEAN_OF_PEAK
        return float(billed[busiest].mean())

    def _together(self) -> float:
        """Return the largest part of all that is ordered that stands at any one time."""
        sizes = np.array([max(choices[0].mbps.values(), default=0.0) for choices in self.choices])
        starts = np.array([order.at for order in self.orders])
        ends = np.array([order.until for order in self.orders])
        standing = [sizes[(starts <= at) & (at < ends)].sum() for at in starts]
        return float(max(standing) / sizes.sum()) if sizes.sum() else 1.0

    def take(self, chosen: list[int]) -> None:
        """Move the orders there if that is cheaper than where they stand."""
        before = (list(self.now), self.traffic.copy(), self.cost.copy())
        for position, choice in enumerate(chosen):
            self._move(position, choice)
        self.cost = np.nan_to_num(monthly_costs(self.period, np.arange(self.cost.size), self.traffic))
        if self.cost.sum() >= before[2].sum():
            self.now, self.traffic, self.cost = before

    def improve(self, until: float) -> bool:
        """Move each order to the cheapest of its choices, the largest orders first; return whether that saved any."""
        saved = 0.0
        sizes = [max(choices[0].mbps.values(), default=0.0) for choices in self.choices]
        for position in sorted(range(len(self.orders)), key=lambda place: -sizes[place]):
            if time.monotonic() > until:
                return False
            saved += self._best_move(position)
        return saved >= LEAST

    def _best_move(self, position: int) -> float:
        """Move one order to the cheapest of its choices, and return what that saves a month."""
        choices, here = self.choices[position], self.now[position]
        self._shift(position, here, -1)
        open_to = [number for number, choice in enumerate(choices) if number == here or self._fits(position, choice)]
        rows, series = list(choices[here].flows), [self.traffic[row] for row in choices[here].flows]
        for number in open_to:
            for row, (slots, flow) in choices[number].flows.items():
                rows.append(row)
                series.append(self.traffic[row].copy())
                series[-1][slots] += flow
        costs = self._costs(rows, series)
        without = dict(zip(rows, costs[: len(choices[here].flows)], strict=False))
        with_order = iter(costs[len(choices[here].flows) :])
        added = {
            number: sum(next(with_order) - without.get(row, float(self.cost[row])) for row in choices[number].flows)
            for number in open_to
        }
        best = min(open_to, key=lambda number: (added[number] + LEAST * (number != here), number))
        self._shift(position, best, 1)
        self.now[position] = best
        if best != here:
            moved = sorted({*choices[here].flows, *choices[best].flows})
            self.cost[moved] = self._costs(moved, [self.traffic[row] for row in moved])
        return added[here] - added[best]

    def _fits(self, position: int, choice: _Choice) -> bool:
        """Return whether the lines have room for the order beside those that stand there at the same time."""
        order = self.orders[position]
        for row, mbps in choice.mbps.items():
            beside = [
                (other, self.choices[number][self.now[number]].mbps.get(row, 0.0))
                for number, other in enumerate(self.orders)
                if number != position and other.at < order.until and order.at < other.until
            ]
            times = [order.at, *(other.at for other, amount in beside if amount and other.at > order.at)]
            most = max(sum(amount for other, amount in beside if other.at <= at < other.until) for at in times)
            if most + mbps > self.room[row]:
                return False
        return True

    def _move(self, position: int, choice: int) -> None:
        self._shift(position, self.now[position], -1)
        self._shift(position, choice, 1)
        self.now[position] = choice

    def _shift(self, position: int, choice: int, sign: int) -> None:
        for row, (slots, flow) in self.choices[position][choice].flows.items():
            self.traffic[row, slots] += sign * flow

    def _costs(self, rows: list[int], series: list[Values]) -> list[float]:
        """Return what a month on these lines costs with that traffic; nothing where no price is known."""
        if not rows:
            return []
        costs: list[float] = np.nan_to_num(monthly_costs(self.period, np.array(rows), np.stack(series))).tolist()
        return costs

    def course(self) -> Course:
        """Return the course with the orders where they are now."""
        course, now = Course(self.period), {order.code: place for place, order in enumerate(self.orders)}
        for order in self.period.orders:
            place = now.get(order.code)
            taken = self._start.placed.get(order.code, ())
            course.take(order, taken if place is None else [self.choices[place][self.now[place]].allocation])
        course.failed |= self._start.failed
        return course


def _alone(order: PastOrder, nobody: Course, policy: Profile) -> Decision | None:
    """Decide an order as if no other one stood; None where the policy can't decide it."""
    try:
        return decide(nobody.question(order, policy))
    except IdcschedError:
        return None


def _busiest(series: Values) -> np.ndarray:
    """Return the slots with the highest values, 5 % of all."""
    count = max(1, round(BUSY_SHARE * series.size))
    return np.argsort(-np.nan_to_num(series, nan=-1.0), kind="stable")[:count]
