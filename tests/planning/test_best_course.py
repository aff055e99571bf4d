"""The cheapest course for somebody who knows all orders beforehand, in small worlds, and against trying all courses."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.testing import profile
from idcsched.planning.backtest import backtest, course_report
from idcsched.planning.best_course import best_course
from idcsched.planning.course import Course, run
from idcsched.planning.period import Period
from metrics_ingest.billing.charges import Tariff

from .test_courses import BY_BILL, BY_X, FLAT, IN_THE_NIGHT, order, period, standing

SECONDS = 200.0


def best(known: Period, start: Course | None = None) -> Course:
    return best_course(known, BY_BILL, start or run(known, BY_X), seconds=SECONDS)


def idcs(course: Course) -> dict[str, str]:
    return {code: allocations[0].idc for code, allocations in course.placed.items()}


def test_it_works() -> None:
    """Ranked by x, both orders go to the dear IDC. The best course puts the order that flows all day on the cheap line,
    for 1,000; the one that flows at night adds nothing.
    """
    known = period(order(1, 0.0), order(2, 0.0, flow=IN_THE_NIGHT))
    found = best(known)
    assert idcs(found)["o-1"] == "cheap"
    assert course_report("best", found).added == pytest.approx(1000)


def commits(cheap: float, dear: float) -> tuple[Tariff, Tariff]:
    """Two contracts whose commits are `cheap` and `dear` Mbps above the 900 that flow."""
    terms = {"charge_type": "p95_month", "purchased_mbps": 5000.0}
    return (
        Tariff(**terms, price_per_mbps=10.0, commit_mbps=900.0 + cheap),
        Tariff(**terms, price_per_mbps=30.0, commit_mbps=900.0 + dear),
    )


def test_what_is_paid_for_is_filled_with_what_fits_best() -> None:
    """The commits leave 300 Mbps free on the cheap line and 100 on the dear one. The order of 100 leaves the cheap line
    to the order of 300, so that both add nothing.
    """
    known = period(order(1, 0.0, mbps=100), order(2, 1.0, mbps=300), tariffs=commits(300, 100))
    found = best(known)
    assert idcs(found) == {"o-1": "dear", "o-2": "cheap"}
    assert course_report("best", found).added == pytest.approx(0, abs=0.01)


def test_the_room_of_a_line_is_kept() -> None:
    """A line of 5,000 Mbps carries 900 and may be filled to 90 %. Two orders of 2,000 do not fit on it at the same
    time, but one after the other they do.
    """
    at_once = period(order(1, 0.0, mbps=2000), order(2, 1.0, mbps=2000))
    assert sorted(idcs(best(at_once)).values()) == ["cheap", "dear"]
    in_turn = period(order(1, 0.0, mbps=2000, stays=10), order(2, 11.0, mbps=2000, stays=10))
    assert set(idcs(best(in_turn)).values()) == {"cheap"}


def test_what_cannot_be_moved_stays() -> None:
    """Orders that are spread over IDCs, and orders that had no place, stay as they are."""
    known = period(order(1, 0.0), order(2, 0.0, mbps=99_999))
    start = Course(known)
    start.take(known.orders[0], [standing("dear", 50), standing("cheap", 50)])
    start.take(known.orders[1], [])
    found = best(known, start)
    assert found.placed == start.placed


def test_no_order_at_all() -> None:
    known = period()
    assert best(known).placed == {}


def test_it_is_shown_beside_the_others() -> None:
    result = backtest(period(order(1, 0.0)), {"x": BY_X}, optimum_seconds=SECONDS)
    assert result.optimum is not None
    assert (result.courses[0].added, result.optimum.added, result.optimum.name) == (3000.0, 1000.0, "optimum")


def test_it_begins_with_a_course_that_places_the_orders() -> None:
    """The search starts from the course that places the order, not from the cheaper one that leaves it unplaced."""
    nobody = profile(
        "network_flow", "resource", ("flow", "metric", {"weight": 1, "args": {"metric": "x", "at_most": 0}})
    )
    result = backtest(period(order(1, 0.0)), {"x": BY_X, "nobody": nobody}, optimum_seconds=SECONDS)
    assert [(course.added, course.unplaced) for course in result.courses] == [(3000.0, 0), (0.0, 1)]
    assert result.optimum is not None
    assert (result.optimum.added, result.optimum.unplaced) == (1000.0, 0)


def test_a_line_of_which_nobody_knows_the_price_is_no_bargain() -> None:
    """The other line has no price, so its bill is not known: the order stays on the dear line."""
    dear = commits(0, 0)[1]
    known = period(order(1, 0.0), tariffs=(replace(dear, price_per_mbps=None), replace(dear, commit_mbps=None)))
    assert idcs(best(known)) == {"o-1": "dear"}


@settings(max_examples=25)  # each bills some thirty months
@given(
    seed=st.integers(0, 10_000),
    charge_types=st.tuples(*[st.sampled_from(["p95_month", "fourth_peak_month", "daily_peak_average", "volume"])] * 2),
)
def test_no_single_move_makes_it_cheaper(seed: int, charge_types: tuple[str, str]) -> None:
    """No order of the best course can be put on the other line for less."""
    chance = np.random.default_rng(seed)
    orders = [
        order(
            number,
            float(chance.uniform(0, 10)),
            mbps=float(chance.integers(1, 6)) * 100,
            flow=[FLAT, IN_THE_NIGHT][int(chance.integers(2))],
        )
        for number in range(4)
    ]
    tariffs = tuple(
        replace(tariff, charge_type=charge_type, price_per_gb=0.1, commit_mbps=float(chance.integers(0, 15)) * 100)
        for tariff, charge_type in zip(commits(0, 0), charge_types, strict=True)
    )
    known = period(*orders, tariffs=tariffs)
    start = run(known, BY_X)
    course = best(known, start)
    added = {names: cost(assigned(known, names)) for names in product(("cheap", "dear"), repeat=4)}
    names = tuple(idcs(course).values())
    assert added[names] == pytest.approx(cost(course), abs=0.05)
    assert cost(course) <= cost(start) + 0.05
    for place, other in enumerate({"cheap": "dear", "dear": "cheap"}[idc] for idc in names):
        assert cost(course) <= added[(*names[:place], other, *names[place + 1 :])] + 0.05


def cost(course: Course) -> float:
    return course_report("any", course).added


def assigned(known: Period, names: tuple[str, ...]) -> Course:
    course = Course(known)
    for each, idc in zip(known.orders, names, strict=True):
        course.take(each, [standing(idc, each.request.bandwidth)])
    return course
