"""The cheapest assignment: against trying out all of them, and in worlds that are worked out by hand."""

from collections.abc import Sequence
from itertools import product
from math import inf, isclose
from time import monotonic
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.billing import TRAFFIC_LEVELS, added_bill, free_mbps
from idcsched.planning.optimum import BETTER_RANKED, GAP, NOWHERE, Problem, Uses, bill_of, solve

Line = tuple[float, float, float]
"""Price, room, and the Mbps that are free at every level of its traffic."""
Option = tuple[int, int, float, float]
"""Order, line, Mbps, and the part of them that would be billed if nothing were free."""


def problem(lines: Sequence[Line], options: Sequence[Option], *, orders: int, **more: Any) -> Problem:
    order, line, mbps, busy = (
        (np.array(column) for column in zip(*options, strict=True)) if options else (np.array([]),) * 4
    )
    uses = Uses(np.arange(len(options)), line.astype(np.intp), mbps.astype(np.float64))
    fields = {
        "orders": orders,
        "order": order.astype(np.intp),
        "rank": np.zeros(len(options)),
        "capacity": np.array([room for _, room, _ in lines], dtype=np.float64),
        "taken": uses,
        "price": np.array([price for price, _, _ in lines], dtype=np.float64),
        "free": np.array([[free] * 5 for _, _, free in lines], dtype=np.float64),
        "mbps": uses,
        "busy": busy.astype(np.float64),
    }
    return Problem(**{**fields, **more})


def everywhere(needs: Sequence[float], lines: Sequence[Line]) -> list[Option]:
    """Options that let every order go to every line, with all its traffic in the line's busiest hours."""
    return [(order, line, need, 1.0) for order, need in enumerate(needs) for line in range(len(lines))]


def lines_of(asked: Problem, chosen: Any) -> list[int | None]:
    """Return the line of each order."""
    return [None if option == NOWHERE else int(asked.mbps.thing[option]) for option in chosen]


def test_a_commit_carries_two_of_three_orders() -> None:
    """The dear line has 200 Mbps free: two orders of 100 cost nothing there; the third costs 10 × 100 elsewhere."""
    lines = [(30.0, 900.0, 200.0), (10.0, 900.0, 0.0)]
    asked = problem(lines, everywhere([100, 100, 100], lines), orders=3)
    found = solve(asked, seconds=100)
    assert sorted(lines_of(asked, found.chosen), key=str) == [0, 0, 1]
    assert (found.status, found.bill) == ("optimal", 1000.0)
    assert found.bound <= found.bill <= found.bound + 3 * BETTER_RANKED + GAP * found.bill


def test_one_after_the_other_costs_more() -> None:
    """Line 0 costs 20, has room for 200 Mbps and 100 of them free; line 1 costs 10.50.

    Alone the order of 200 Mbps costs 2,000 on line 0 and 2,100 on line 1; line 0 is full then, and the order of 100
    costs 1,050 on line 1. The other way round the small order costs nothing.
    """
    lines = [(20.0, 200.0, 100.0), (10.5, 900.0, 0.0)]
    asked = problem(lines, everywhere([200, 100], lines), orders=2)
    one_by_one = np.array([0, 3])
    found = solve(asked, seconds=100, start=one_by_one)
    assert bill_of(asked, one_by_one) == 3050.0
    assert (lines_of(asked, found.chosen), found.bill) == ([1, 0], 2100.0)


def test_what_flows_at_night_leaves_the_commit_to_the_others() -> None:
    """Both orders need 100 Mbps where 100 are free; of the first only a fifth flows in the busiest hours."""
    asked = problem([(10.0, 900.0, 100.0)], [(0, 0, 100.0, 0.2), (1, 0, 100.0, 1.0)], orders=2)
    found = solve(asked, seconds=100)
    assert lines_of(asked, found.chosen) == [0, 0]
    assert found.bill == 10 * 100 * 0.2


def test_orders_that_fit_nowhere_are_left_out() -> None:
    """The line has room for 300 Mbps: the three orders of 100 are placed, since with the one of 250 fewer would be."""
    lines = [(1.0, 300.0, 0.0)]
    asked = problem(lines, everywhere([250, 100, 100, 100, 400], lines), orders=5)
    found = solve(asked, seconds=100)
    assert lines_of(asked, found.chosen) == [None, 0, 0, 0, None]
    assert (found.status, found.bill) == ("optimal", 300.0)


def test_more_orders_come_before_a_smaller_bill() -> None:
    lines = [(0.0, 100.0, 0.0), (50.0, 100.0, 0.0)]
    asked = problem(lines, [(0, 0, 100.0, 1.0), (0, 1, 100.0, 1.0), (1, 0, 100.0, 1.0)], orders=2)
    found = solve(asked, seconds=100)
    assert (lines_of(asked, found.chosen), found.bill) == ([1, 0], 5000.0)


def test_an_order_on_two_lines_at_once() -> None:
    """Each option puts 100 Mbps on both lines of its IDC; a third line is dearer than one, cheaper than both."""
    uses = Uses(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([100.0, 100.0, 100.0]))
    lines = [(10.0, 900.0, 0.0), (10.0, 900.0, 50.0), (18.0, 900.0, 0.0)]
    asked = problem(lines, [(0, 0, 1.0, 1.0)] * 2, orders=1, mbps=uses, taken=uses, busy=np.ones(3))
    found = solve(asked, seconds=100)
    assert (found.chosen.tolist(), found.bill) == ([0], 1500.0)


def test_what_may_not_share_an_idc_is_a_resource_of_one() -> None:
    lines = [(0.0, inf, 0.0), (7.0, inf, 0.0)]
    options = everywhere([100, 100], lines)
    apart = Uses(np.arange(4), np.array([0, 1, 0, 1]), np.ones(4))
    asked = problem(lines, options, orders=2, taken=apart, capacity=np.ones(2))
    found = solve(asked, seconds=100)
    assert sorted(lines_of(asked, found.chosen), key=str) == [0, 1]


def test_equal_bills_go_by_rank() -> None:
    lines = [(10.0, 900.0, 0.0)] * 3
    asked = problem(lines, everywhere([100], lines), orders=1, rank=np.array([1.0, 0.0, 0.5]))
    assert lines_of(asked, solve(asked, seconds=100).chosen) == [1]


def test_no_orders_and_no_options() -> None:
    for orders in (0, 2):
        found = solve(problem([], [], orders=orders, free=np.zeros((0, 5))), seconds=100)
        assert (found.status, found.chosen.tolist(), found.bill, found.gap) == ("optimal", [NOWHERE] * orders, 0.0, 0.0)


def test_without_time_what_is_known_stays() -> None:
    lines = [(30.0, 900.0, 200.0), (10.0, 900.0, 0.0)]
    asked = problem(lines, everywhere([100, 100], lines), orders=2)
    known = np.array([1, 3])
    found = solve(asked, seconds=0, start=known)
    assert (found.status, found.chosen.tolist(), found.bill, found.bound) == ("nothing_found", [1, 3], 2000.0, 0.0)
    assert solve(asked, seconds=100, start=known).bill == 0.0


def test_little_time_is_enough_for_something_good() -> None:
    """With 300 orders, each cheapest on a line with room for ten, what is found is within 2 % of the best possible
    bill.
    """
    lines = [(float(price), 1000.0, 0.0) for price in range(1, 61)]
    options = [(order, line, 100.0, 1.0) for order in range(300) for line in range(order % 40, 60, 3)]
    found = solve(problem(lines, options, orders=300), seconds=100)
    assert (found.chosen != NOWHERE).all()
    assert found.gap < 0.02


def test_what_is_known_but_does_not_fit_is_not_used() -> None:
    lines = [(1.0, 100.0, 0.0), (2.0, 100.0, 0.0)]
    asked = problem(lines, everywhere([100, 100], lines), orders=2)
    found = solve(asked, seconds=100, start=np.array([0, 2]))
    assert (sorted(lines_of(asked, found.chosen), key=str), found.bill) == ([0, 1], 300.0)


def cases() -> st.SearchStrategy[Problem]:
    lines = st.lists(
        st.tuples(st.sampled_from([0.0, 5.0, 20.0, 21.0]), st.integers(0, 500), st.integers(0, 300)),
        min_size=1,
        max_size=3,
    )

    def with_orders(lines: list[Line]) -> st.SearchStrategy[Problem]:
        option = st.tuples(
            st.integers(0, 3),
            st.integers(0, len(lines) - 1),
            st.integers(1, 300),
            st.sampled_from([0.0, 0.3, 1.0, 1.6]),
        )
        options = st.lists(option, max_size=9, unique_by=lambda option: option[:2])
        return options.map(lambda options: problem(lines, sorted(options), orders=4))

    return lines.flatmap(with_orders)


def best_by_trying(asked: Problem) -> tuple[int, float]:
    """Return how many orders can be placed, and the smallest bill of so many."""
    options_of = [[NOWHERE, *np.flatnonzero(asked.order == order).tolist()] for order in range(asked.orders)]
    tried = []
    for chosen in product(*options_of):
        taken = [option for option in chosen if option != NOWHERE]
        by_line: dict[int, list[tuple[float, float]]] = {}
        for option in taken:
            entry = (asked.busy[option], asked.mbps.amount[option])
            by_line.setdefault(int(asked.mbps.thing[option]), []).append(entry)
        if all(sum(mbps for _, mbps in uses) <= asked.capacity[line] for line, uses in by_line.items()):
            bill = sum(asked.price[line] * billed(uses, asked.free[line, 0]) for line, uses in by_line.items())
            tried.append((-len(taken), bill))
    count, bill = min(tried)
    return -count, bill


def billed(uses: list[tuple[float, float]], free: float) -> float:
    """Return the billed Mbps of some (busy, Mbps) on one line: what is free goes to those billed for most."""
    total = 0.0
    for busy, mbps in sorted(uses, reverse=True):
        total += busy * max(mbps - free, 0.0)
        free = max(free - mbps, 0.0)
    return total


@given(cases())
@settings(deadline=None)
def test_nothing_is_better(asked: Problem) -> None:
    found = solve(asked, seconds=100)
    count, bill = best_by_trying(asked)
    assert found.status == "optimal"
    assert np.count_nonzero(found.chosen != NOWHERE) == count
    assert bill - 1e-6 <= found.bill <= bill * (1 + 2 * GAP) + 4 * BETTER_RANKED
    assert found.bound <= bill + 1e-6


@given(
    need=st.floats(1, 1000),
    load=st.floats(0, 1000),
    commit=st.sampled_from([0.0, 100.0, 400.0, 1000.0]),
    busy=st.floats(0, 1.6),
)
def test_one_order_alone_is_billed_by_the_formula(need: float, load: float, commit: float, busy: float) -> None:
    of_line = {"price": np.array([20.0]), "load": np.array([load]), "paid": np.array([commit])}
    formula = added_bill(
        need, np.array([busy]), **of_line, purchased=np.array([2000.0]), flat_rate=np.array([False])
    ).billed
    free = free_mbps(of_line["load"], of_line["paid"])
    assert free.shape == (1, TRAFFIC_LEVELS.size)
    asked = problem([(20.0, inf, 0.0)], [(0, 0, need, busy)], orders=1, free=free)
    assert isclose(bill_of(asked, np.array([0])), formula[0] * need, rel_tol=1e-9, abs_tol=1e-6)


@pytest.mark.long
def test_two_hundred_orders_in_fifty_idcs() -> None:
    """Within half a minute, what is found is within 5 % of what is possible."""
    rng = np.random.default_rng(1)
    lines = [
        (rng.uniform(8, 60), purchased * rng.uniform(0.2, 0.7), purchased * rng.uniform(0, 0.15) * rng.integers(0, 2))
        for purchased in rng.choice([1000.0, 2000.0, 5000.0, 10000.0], 100)
    ]
    needs = rng.choice([50.0, 100.0, 200.0, 300.0, 500.0], 200)
    options = [option for option in everywhere(needs, lines) if rng.random() < 0.7 and option[2] <= lines[option[1]][1]]
    asked = problem(lines, options, orders=200)
    began = monotonic()
    found = solve(asked, seconds=25)
    assert monotonic() - began < 30
    assert (found.chosen != NOWHERE).all()
    assert found.gap < 0.05
