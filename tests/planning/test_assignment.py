"""An assignment that is changed one order at a time: it keeps the figures of the whole problem, and its bill only
falls.
"""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.planning.assignment import CENT, Assignment, descended, in_sequence
from idcsched.planning.optimum import NOWHERE, ROUNDING, Problem, Uses, bill_of, fits
from tests.planning.test_optimum import everywhere, lines_of, problem


@st.composite
def programs(draw: Any) -> tuple[Problem, Any]:
    """A few lines, some full or free, a few orders that use one or two of them, and a line or none for each to start
    on.
    """
    amounts = st.integers(0, 40).map(lambda tens: 10.0 * tens)
    lines = draw(st.lists(st.tuples(st.integers(0, 30).map(float), amounts, amounts), min_size=2, max_size=5))
    orders = draw(st.integers(1, 5))
    options, option, thing, amount, busy = [], [], [], [], []
    for order in range(orders):
        need = draw(st.integers(1, 20)) * 10.0
        for used in draw(
            st.lists(st.sets(st.integers(0, len(lines) - 1), min_size=1, max_size=2), min_size=1, max_size=4)
        ):
            for line in used:
                option.append(len(options))
                thing.append(line)
                amount.append(need)
                busy.append(draw(st.sampled_from([0.0, 0.25, 1.0])))
            options.append((order, 0, need, 1.0))
    uses = Uses(np.array(option), np.array(thing), np.array(amount))
    asked = problem(lines, options, orders=orders, mbps=uses, taken=uses, busy=np.array(busy))
    start = [
        draw(st.sampled_from([NOWHERE, *np.flatnonzero(asked.order == order).tolist()])) for order in range(orders)
    ]
    return asked, np.array(start, dtype=np.intp)


def moved(chosen: Any, order: int, option: int) -> Any:
    then = chosen.copy()
    then[order] = option
    return then


@given(program=programs())
@settings(max_examples=200, deadline=None)
def test_its_figures_are_those_of_the_whole_program(program: tuple[Problem, Any]) -> None:
    """Before each move, what it saves and whether it fits is the same as when the whole problem is calculated anew."""
    asked, start = program
    now = Assignment(asked, start)
    for option, order in enumerate(asked.order.tolist()):
        then = moved(now.chosen, order, option)
        assert abs(now.saving(order, option) - (bill_of(asked, now.chosen) - bill_of(asked, then))) < CENT / 100
        if fits(asked, now.chosen):
            assert now.fits(order, option) == fits(asked, then)
        now.move(order, option)
        assert (now.chosen == then).all()


@given(program=programs())
@settings(max_examples=200, deadline=None)
def test_it_goes_downhill_until_no_single_move_saves_a_cent(program: tuple[Problem, Any]) -> None:
    asked, start = program
    if not fits(asked, start):
        return
    found = descended(asked, start, seconds=1000)
    assert fits(asked, found)
    assert bill_of(asked, found) <= bill_of(asked, start) + ROUNDING
    assert ((found == NOWHERE) == (start == NOWHERE)).all(), "it places no orders, and lets none go"
    now = Assignment(asked, found)
    for option, order in enumerate(asked.order.tolist()):
        if found[order] != NOWHERE:
            assert now.saving(order, option) < CENT or not now.fits(order, option)
    assert (descended(asked, start, seconds=1000) == found).all(), "the same program gives the same moves"


@given(program=programs())
@settings(max_examples=100, deadline=None)
def test_a_sequence_saves_together_what_its_moves_do(program: tuple[Problem, Any]) -> None:
    asked, start = program
    if (start == NOWHERE).any():
        return
    chosen = descended(asked, start, seconds=1000)
    sequence = list(in_sequence(asked, start, chosen))
    assert sorted(order for order, _saves in sequence) == np.flatnonzero(chosen != start).tolist()
    assert abs(sum(saves for _order, saves in sequence) - (bill_of(asked, start) - bill_of(asked, chosen))) < CENT


def test_the_move_that_saves_most_comes_first() -> None:
    """The cheap line has room for 200 Mbps. Of orders of 50, 100 and 200 at 20 a Mbps the largest takes all of it."""
    lines = [(20.0, 900.0, 0.0), (5.0, 200.0, 0.0)]
    asked = problem(lines, everywhere([50, 100, 200], lines), orders=3)
    found = descended(asked, np.array([0, 2, 4]), seconds=1000)
    assert lines_of(asked, found) == [0, 0, 1]
    assert bill_of(asked, found) == 150 * 20 + 200 * 5


def test_what_has_grown_is_found_when_all_others_are_through() -> None:
    """The order of 100 Mbps leaves the line at 10 for the one at 1. Then the order of 60 can leave the one at 12."""
    lines = [(12.0, 900.0, 0.0), (10.0, 100.0, 0.0), (1.0, 100.0, 0.0)]
    options = [(0, 1, 100.0, 1.0), (0, 2, 100.0, 1.0), (1, 0, 60.0, 1.0), (1, 1, 60.0, 1.0)]
    asked = problem(lines, options, orders=2)
    assert lines_of(asked, descended(asked, np.array([0, 2]), seconds=1000)) == [2, 1]


def test_without_time_nothing_moves() -> None:
    lines = [(20.0, 900.0, 0.0), (5.0, 900.0, 0.0)]
    asked = problem(lines, everywhere([50], lines), orders=1)
    assert descended(asked, np.array([0]), seconds=0).tolist() == [0]
