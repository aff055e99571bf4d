"""Moves by the bills of whole months, with figures on paper.

An order of 100 Mbps stands on line `here/ct`, at 30 a Mbps, where 400 Mbps flow without it. It may move to `there/ct`,
where 500 Mbps are paid for, each further one costs 50, and 450 flowed on most days of the last month. In the last week,
by which places are searched for, 300 did: so the search takes the order to be free there.
"""

import pytest
from django.utils import timezone

from idcsched.inventory.models import Line
from idcsched.inventory.services import taint_create
from idcsched.planning.made_moves import moves_made
from idcsched.planning.moves import saving
from tests.planning.test_made_moves import moved
from tests.planning.test_moves import found, idc, picture, settled, stand, the_move, told, world  # noqa: F401 - a fixture
from tests.planning.test_weeks import flow


@pytest.fixture
def lines(world: None) -> None:  # noqa: F811
    idc("here", used=None)
    idc("there", {"price_per_mbps": 50, "commit_mbps": 500}, used=None)
    flow("here", 400, 400, 400, 400)
    flow("there", 450, 450, 450, 300)


@pytest.mark.usefixtures("lines")
def test_it_works() -> None:
    """Here the bill falls from 500 × 30 to 400 × 30, there it rises from 500 × 50 to 550 × 50."""
    placement = stand()
    move = the_move()
    assert move.saves == 500
    assert [(line.idc, line.bill_before, line.bill_after) for line in move.lines] == [
        ("here", 15_000, 12_000),
        ("there", 25_000, 27_500),
    ]
    assert saving(placement, "there", None, picture(), timezone.now()) == 500, "so that the move itself is not refused"


@pytest.mark.usefixtures("lines")
def test_what_the_month_says_is_dearer_is_no_move() -> None:
    Line.objects.filter(idc__code="there").update(price_per_mbps=61)
    placement = stand()
    assert found().moves == ()
    assert saving(placement, "there", None, picture(), timezone.now()) == -50


@pytest.mark.usefixtures("lines")
def test_the_next_move_finds_what_the_first_has_left() -> None:
    """The first of two takes the 50 Mbps that are paid for there; the second would cost 100 × 50 and save 3,000."""
    stand()
    stand()
    assert told(found()) == [("here", "there", 500.0)]


@pytest.mark.usefixtures("lines")
def test_what_runs_is_taken_out_of_what_was_measured() -> None:
    """It has run for six days, in which 500 flowed here. Without it 400 would have, all month long; with it 500."""
    placement = stand()
    settled(placement)
    flow("here", *[400] * 27, *[500] * 6, days=1)
    (move,) = found().moves
    assert [(line.bill_before, line.bill_after) for line in move.lines] == [(15_000, 12_000), (25_000, 27_500)]


@pytest.mark.usefixtures("lines")
def test_where_no_month_is_known_the_search_has_the_last_word() -> None:
    """A line that is new has no month: by the formula the order costs 25 instead of 30 a Mbps there."""
    idc("new", {"price_per_mbps": 25}, used=300.0)
    taint_create(idc="there", key="k")
    stand()
    assert told(found()) == [("here", "new", 500.0)]


@pytest.mark.usefixtures("lines")
def test_an_order_goes_to_the_next_best_place_if_the_month_speaks_against_the_best() -> None:
    """At 61 the order would cost 50 × 61 there, more than it saves, though the last week says that it is free."""
    Line.objects.filter(idc__code="there").update(price_per_mbps=61)
    idc("new", {"price_per_mbps": 25}, used=300.0)
    stand()
    assert told(found()) == [("here", "new", 500.0)]


@pytest.mark.usefixtures("lines")
def test_a_move_that_was_made_is_told_by_the_month_too() -> None:
    """Moving back would let the bill there fall from 550 × 50 to 500 × 50, and rise here from 400 × 30 to 500 × 30."""
    moved(stand(), promised=500.0)
    flow("there", *[450] * 20, *[300] * 7, *[400] * 6, days=1)
    (move,) = moves_made(picture(), timezone.now())
    assert (move.promised, move.saves) == (500, 500)
