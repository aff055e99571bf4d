"""A run goes on until enough of it was undisturbed; what counts, what is dropped, and how its maximum is measured."""

from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import pytest

from bench.course import Course, Measured, at_the_most
from bench.timeline import Answer, Mark, State
from tests.bench.times import CALM, QUIET, STOLEN, TAKEN, UNTOLD, Shares, marks

IN_TIME = Answer(9.99, 0.005)
HELD_UP = Answer(9.0, 1.2)


def run(
    *shares: Shares | None, wanted: float = 600, longest: float = 1800, came: Sequence[Sequence[Answer]] = ()
) -> Course:
    """A course of these stretches, in which these answers came."""
    first, *ends = marks(*shares)
    course = Course(wanted=wanted, longest=longest, marks=[first])
    for number, end in enumerate(ends):
        course.mark(end, came[number] if number < len(came) else [])
    return course


def test_it_works() -> None:
    course = run(CALM, STOLEN, CALM, wanted=20)
    assert course.states == ["undisturbed", "disturbed", "undisturbed"]
    assert (course.undisturbed, course.enough, course.over) == (20, True, True)
    assert course.afresh == 20, "what was due in the disturbed stretch and not sent is not sent any more"


@pytest.mark.parametrize(
    ("shares", "so"),
    [
        pytest.param((0.009, 0.009, 0.5), "undisturbed", id="a little of both"),
        pytest.param((0.01, 0.0, 0.5), "disturbed", id="the host took more than a little"),
        pytest.param((0.0, 0.01, 0.5), "disturbed", id="other programs did"),
        pytest.param((0.0, 0.0, 0.0), "undisturbed", id="busy with ourselves is no excuse"),
        pytest.param(None, "unknown", id="the machine does not tell"),
    ],
)
def test_what_disturbs_a_stretch(shares: Shares | None, so: State) -> None:
    assert run(shares).states == [so]


@pytest.mark.parametrize(
    ("shares", "came", "states", "afresh"),
    [
        pytest.param(
            [STOLEN, CALM, CALM],
            [[], [HELD_UP], []],
            ["disturbed", "left", "undisturbed"],
            20,
            id="what a disturbed stretch left excuses the next one",
        ),
        pytest.param(
            [STOLEN, CALM],
            [[], [IN_TIME, Answer(10.0, 9.0)]],
            ["disturbed", "undisturbed"],
            10,
            id="what was due later is its own",
        ),
        pytest.param(
            [STOLEN, CALM],
            [[], [Answer(9.0, 1.09)]],
            ["disturbed", "undisturbed"],
            10,
            id="a tenth of a second is not seen",
        ),
        pytest.param(
            [CALM, CALM],
            [[], [HELD_UP]],
            ["undisturbed", "undisturbed"],
            0,
            id="a backlog of its own excuses nothing, and is not dropped",
        ),
        pytest.param(
            [STOLEN, CALM, CALM],
            [[], [HELD_UP], [Answer(19.0, 1.2)]],
            ["disturbed", "left", "undisturbed"],
            20,
            id="nor does what such a stretch leaves in turn",
        ),
        pytest.param(
            [STOLEN, STOLEN, CALM],
            [[], [HELD_UP], []],
            ["disturbed", "disturbed", "undisturbed"],
            20,
            id="each disturbed stretch starts the load afresh",
        ),
    ],
)
def test_backlogs(shares: list[Shares], came: list[list[Answer]], states: list[State], afresh: float) -> None:
    course = run(*shares, came=came)
    assert (course.states, course.afresh) == (states, afresh)


@pytest.mark.parametrize(
    ("shares", "enough", "over"),
    [
        pytest.param([CALM, TAKEN], False, False, id="one of two wanted"),
        pytest.param([CALM, TAKEN, CALM], True, True, id="two of two"),
        pytest.param([TAKEN] * 4 + [CALM], False, False, id="ten seconds are left"),
        pytest.param([TAKEN] * 5 + [CALM], False, True, id="it has lasted as long as it may"),
        pytest.param([TAKEN] * 4 + [CALM] * 2, True, True, id="in the last moment"),
        pytest.param([UNTOLD], False, False, id="nothing is known yet"),
        pytest.param([UNTOLD, UNTOLD], False, True, id="nothing will be known, however long it lasts"),
    ],
)
def test_how_long_it_goes_on(shares: list[Shares | None], enough: bool, over: bool) -> None:
    course = run(*shares, wanted=20, longest=60)
    assert (course.enough, course.over) == (enough, over)


def test_what_began_with_what_was_left_does_not_count_as_undisturbed() -> None:
    course = run(STOLEN, CALM, CALM, came=[[], [HELD_UP]])
    assert course.undisturbed == 10


def measuring(*found: tuple[float, Shares | None]) -> tuple[Callable[[], float], Callable[[], Mark]]:
    """Return a measurement that gives these figures one after the other, and the marks of what was taken meanwhile.

    Its first figure is thrown away.
    """
    figures = iter([1.0, *(figure for figure, _ in found)])
    told = chain.from_iterable(pairwise(marks(*(shares for _, shares in found))))
    return lambda: next(figures), lambda: next(told)


@pytest.mark.parametrize(
    ("found", "maximum"),
    [
        pytest.param([(800, CALM)], Measured(800, "undisturbed"), id="at once"),
        pytest.param([(300, STOLEN), (400, TAKEN), (800, QUIET)], Measured(800, "undisturbed"), id="once more"),
        pytest.param([(900, STOLEN), (800, CALM)], Measured(900, "undisturbed"), id="it can do more than it did then"),
        pytest.param(
            [(300, STOLEN), (500, STOLEN), (400, STOLEN), (800, CALM)],
            Measured(500, "disturbed"),
            id="it gives up, with the greatest",
        ),
        pytest.param([(800, UNTOLD)], Measured(800, "unknown"), id="the machine does not tell"),
    ],
)
def test_the_maximum_is_measured_undisturbed(found: list[tuple[float, Shares | None]], maximum: Measured) -> None:
    assert at_the_most(*measuring(*found), tries=3) == maximum
