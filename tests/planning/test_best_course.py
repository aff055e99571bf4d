"""The cheapest course of whoever knows all orders beforehand: hand-made worlds, and trying everything."""

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
    return {code: tenancies[0].idc for code, tenancies in course.placed.items()}


def test_it_works() -> None:
    """By x both go to the dear IDC; at night they cost nothing there, but by day they cost least on the cheap one."""
    known = period(order(1, 0.0), order(2, 0.0, flow=IN_THE_NIGHT))
    found = best(known)
    assert idcs(found)["o-1"] == "cheap"
    assert course_report("best", found).added == pytest.approx(1000)


def commits(cheap: float, dear: float) -> tuple[Tariff, Tariff]:
    """The cheap line's commit leaves so many Mbps, and the dear one's."""
    terms = {"charge_type": "p95_month", "purchased_mbps": 5000.0}
    return (
        Tariff(**terms, price_per_mbps=10.0, commit_mbps=900.0 + cheap),
        Tariff(**terms, price_per_mbps=30.0, commit_mbps=900.0 + dear),
    )


def test_what_is_paid_for_is_filled_with_what_fits_best() -> None:
    """300 are free on the cheap line and 100 on the dear one; of orders of 100 and 300, taken one after the other, the
    first goes to the dear line, which is free, and so does none of the second."""
    known = period(order(1, 0.0, mbps=100), order(2, 1.0, mbps=300), tariffs=commits(300, 100))
    found = best(known)
    assert idcs(found) == {"o-1": "dear", "o-2": "cheap"}
    assert course_report("best", found).added == pytest.approx(0, abs=0.01)


def test_the_room_of_a_line_is_kept() -> None:
    """900 of 5,000 Mbps flow, and 90 % may be filled: of two orders of 2,000 at once only one has room."""
    at_once = period(order(1, 0.0, mbps=2000), order(2, 1.0, mbps=2000))
    assert sorted(idcs(best(at_once)).values()) == ["cheap", "dear"]
    in_turn = period(order(1, 0.0, mbps=2000, stays=10), order(2, 11.0, mbps=2000, stays=10))
    assert set(idcs(best(in_turn)).values()) == {"cheap"}


def test_what_cannot_be_moved_stays() -> None:
    """Spread orders, those without a place and those that could not be decided."""
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
    """A profile that finds no place for anybody adds nothing; the optimum is that of the order that was placed."""
    nobody = profile(
        "network_flow", "resource", ("flow", "metric", {"weight": 1, "args": {"metric": "x", "at_most": 0}})
    )
    result = backtest(period(order(1, 0.0)), {"x": BY_X, "nobody": nobody}, optimum_seconds=SECONDS)
    assert [(course.added, course.unplaced) for course in result.courses] == [(3000.0, 0), (0.0, 1)]
    assert result.optimum is not None
    assert (result.optimum.added, result.optimum.unplaced) == (1000.0, 0)


def test_a_line_of_which_nobody_knows_the_price_is_no_bargain() -> None:
    """Nothing is known of what the other line bills: the order stays on the dear one, for 3,000."""
    dear = commits(0, 0)[1]
    known = period(order(1, 0.0), tariffs=(replace(dear, price_per_mbps=None), replace(dear, commit_mbps=None)))
    assert idcs(best(known)) == {"o-1": "dear"}


@settings(max_examples=25)  # each bills some thirty months
@given(
    seed=st.integers(0, 10_000),
    charge_types=st.tuples(*[st.sampled_from(["p95_month", "fourth_peak_month", "daily_peak_average", "volume"])] * 2),
)
def test_no_single_move_makes_it_cheaper(seed: int, charge_types: tuple[str, str]) -> None:
    """Of four orders on two lines."""
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
