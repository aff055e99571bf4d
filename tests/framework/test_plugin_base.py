"""The base class: every method of the life cycle is there and does nothing until it is overridden."""

import inspect
from typing import Any

import numpy as np
import pytest

from idcsched.framework.decision import Decision
from idcsched.framework.plugin import POINTS, NoArgs, Plugin, Universe
from idcsched.framework.testing import decide_for, world


class Idle(Plugin):
    """Overrides nothing."""

    name = "idle"


@pytest.fixture
def decision() -> Decision:
    return decide_for(world({"a": {}})).decision


def test_it_works() -> None:
    assert Idle.points() == ()
    assert Idle().args == NoArgs()


def test_the_whole_life_cycle_is_there_from_the_first_day() -> None:
    assert POINTS == (
        "gather",
        "pre_filter",
        "filter",
        "post_filter",
        "pre_score",
        "score",
        "normalize",
        "reserve",
        "permit",
    )
    assert all(list(inspect.signature(getattr(Plugin, point)).parameters)[:2] == ["self", "ctx"] for point in POINTS)


@pytest.mark.parametrize("point", [point for point in POINTS if point not in ("score", "normalize")])
def test_a_method_that_is_not_overridden_does_nothing(decision: Decision, point: str) -> None:
    assert getattr(Idle(), point)(decision.cycle) is None


def test_scoring_and_normalising_have_no_default(decision: Decision) -> None:
    with pytest.raises(NotImplementedError):
        Idle().score(decision.cycle)
    with pytest.raises(NotImplementedError):
        Idle().normalize(decision.cycle, np.zeros(1))


def test_it_has_nothing_to_add_to_a_score(decision: Decision) -> None:
    assert Idle().note(decision.cycle, 0) is None
    assert Idle().scale_for(decision.cycle) is Plugin.scale


@pytest.mark.parametrize(
    ("spans", "rows"),
    [
        pytest.param(((2, 5),), slice(2, 5), id="one region: a slice"),
        pytest.param(((6, 8), (0, 2)), [0, 1, 6, 7], id="several: their rows, sorted"),
        pytest.param(((0, 4), (2, 3)), [0, 1, 2, 3], id="one within another: each row once"),
        pytest.param(((3, 3), (5, 5)), [], id="empty ones"),
    ],
)
def test_universe(spans: tuple[tuple[int, int], ...], rows: Any) -> None:
    found = Universe(spans).rows()
    assert (found if isinstance(found, slice) else found.tolist()) == rows


def test_filters_take_turns_until_only_the_survivors_are_left(decision: Decision) -> None:
    assert decision.scheduled
    assert decision.cycle.row_numbers.tolist() == [0]
