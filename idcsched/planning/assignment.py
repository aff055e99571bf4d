"""An assignment of orders to options that is changed order by order: what a change would save, and the change.

Only the bills of the lines that an order leaves or comes to are worked out anew. So ten thousand orders are gone
through in seconds, where the search of `optimum` finds nothing in minutes.
"""

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from idcsched.framework.labels import Rows

from .optimum import NOWHERE, ROUNDING, Problem, Uses

__all__ = ["Assignment", "descended", "in_sequence", "largest_first"]

CENT: Final = 0.01
"""A move that saves less is none."""
Use = tuple[int, float, float]
"""A line, the part of an order that would be billed there if nothing were free, and the Mbps."""


class Assignment:
    """Each order's option, with the bill of every line and what is left of every resource."""

    def __init__(self, problem: Problem, chosen: Rows) -> None:
        self.problem, self.chosen = problem, chosen.copy()
        self._uses = _entries(problem.mbps, problem.order.size, problem.busy.tolist())
        self._takes = _entries(problem.taken, problem.order.size, [0.0] * problem.taken.thing.size)
        self._price, self._free = problem.price.tolist(), problem.free.tolist()
        taken = problem.taken.total(chosen[chosen != NOWHERE], problem.capacity.size)
        self._left = (problem.capacity - taken).tolist()
        self._on_line: list[dict[int, tuple[float, float]]] = [{} for _ in self._price]
        for order, option in enumerate(self.chosen.tolist()):
            for line, busy, mbps in self._used(option):
                self._on_line[line][order] = -busy, mbps
        self._bills = [self._bill(line, uses.values()) for line, uses in enumerate(self._on_line)]

    def saving(self, order: int, option: int) -> float:
        """Return what the bills of a month fall by if the order goes to that option."""
        return sum(self._bills[line] - bill for line, bill in self._bills_with(order, option))

    def fits(self, order: int, option: int) -> bool:
        """Return whether there is enough left for the order to go there."""
        back = {thing: amount for thing, _, amount in self._taken(self.chosen.item(order))}
        return all(
            amount <= self._left[thing] + back.get(thing, 0.0) + ROUNDING for thing, _, amount in self._taken(option)
        )

    def move(self, order: int, option: int) -> None:
        """Let the order go to that option."""
        bills, before = self._bills_with(order, option), self.chosen.item(order)
        for thing, _, amount in self._taken(before):
            self._left[thing] += amount
        for thing, _, amount in self._taken(option):
            self._left[thing] -= amount
        for line, _, _ in self._used(before):
            del self._on_line[line][order]
        for line, busy, mbps in self._used(option):
            self._on_line[line][order] = -busy, mbps
        for line, bill in bills:
            self._bills[line] = bill
        self.chosen[order] = option

    def _bills_with(self, order: int, option: int) -> list[tuple[int, float]]:
        """Return the bills of all lines that the order uses now or would use there, with the order there."""
        there = {line: (-busy, mbps) for line, busy, mbps in self._used(option)}
        lines = dict.fromkeys([*[line for line, _, _ in self._used(self.chosen.item(order))], *there])
        bills = []
        for line in lines:
            uses = {**self._on_line[line], order: there[line]} if line in there else dict(self._on_line[line])
            if line not in there:
                uses.pop(order, None)
            bills.append((line, self._bill(line, uses.values())))
        return bills

    def _bill(self, line: int, uses: Iterable[tuple[float, float]]) -> float:
        """Return what these uses, each with the negative of its busy part, add to the bill of the line.

        The free Mbps go to those that would be billed for most: that is what `optimum.bill_of` computes of all lines.
        """
        free, until, added = self._free[line], 0.0, 0.0
        for less_busy, mbps in sorted(uses):
            until += mbps
            added -= less_busy * sum([min(max(until - level, 0.0), mbps) for level in free])
        return float(self._price[line] * added / len(free))

    def _used(self, option: int) -> Sequence[Use]:
        return () if option == NOWHERE else self._uses[option]

    def _taken(self, option: int) -> Sequence[Use]:
        return () if option == NOWHERE else self._takes[option]


def _entries(uses: Uses, options: int, busy: Sequence[float]) -> list[list[Use]]:
    """Return what each option uses."""
    entries: list[list[Use]] = [[] for _ in range(options)]
    for option, thing, part, amount in zip(
        uses.option.tolist(), uses.thing.tolist(), busy, uses.amount.tolist(), strict=True
    ):
        entries[option].append((thing, part, amount))
    return entries


def descended(problem: Problem, start: Rows, *, seconds: float) -> Rows:
    """Return the assignment after moving single orders, each time the one that saves most, until none saves anything.

    Orders that have no option stay without one. What a move saves seldom grows by another one, so that only the first
    few are computed again; when all are through, what has grown is looked for.
    """
    until, now = time.monotonic() + seconds, Assignment(problem, start)
    while time.monotonic() < until and _one_descent(now, until):
        pass
    return now.chosen


def _one_descent(now: Assignment, until: float) -> bool:
    """Move the orders that save something, and return whether there were any."""
    moved, order_of, chosen = False, now.problem.order.tolist(), now.chosen
    waiting = []
    for option, order in enumerate(order_of):
        if chosen[order] != NOWHERE and (saves := now.saving(order, option)) >= CENT:
            waiting.append((-saves, option))
    heapq.heapify(waiting)
    while waiting and time.monotonic() < until:
        _, option = heapq.heappop(waiting)
        order = order_of[option]
        saves = now.saving(order, option)
        if saves < CENT or not now.fits(order, option):
            continue
        if waiting and -saves > waiting[0][0]:
            heapq.heappush(waiting, (-saves, option))
            continue
        now.move(order, option)
        moved = True
    return moved


def in_sequence(problem: Problem, start: Rows, chosen: Rows) -> Iterator[tuple[int, float]]:
    """Yield the orders that move, each time the one that saves most, with what the bill falls by.

    What a move saves seldom grows by another one, so that only the first few have to be computed again.
    """
    now = Assignment(problem, start)
    return largest_first(
        np.flatnonzero(chosen != start).tolist(),
        lambda order: now.saving(order, chosen.item(order)),
        lambda order: now.move(order, chosen.item(order)),
    )


def largest_first(
    orders: Iterable[int], saving: Callable[[int], float], move: Callable[[int], None]
) -> Iterator[tuple[int, float]]:
    """Move the orders, each time the one that saves most by then; yield each with what it saves."""
    waiting = [(-saving(order), order) for order in orders]
    heapq.heapify(waiting)
    while waiting:
        _, order = heapq.heappop(waiting)
        saves = saving(order)
        if waiting and -saves > waiting[0][0]:
            heapq.heappush(waiting, (-saves, order))
            continue
        move(order)
        yield order, saves
