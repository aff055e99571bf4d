"""What moves save that were made on advice, in small worlds where the saving can be worked out by hand.

An order of 100 Mbps moves from `here`, at 30 a Mbps, to `there`, at 10: that promises 2,000 a month.
"""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from idcsched.inventory.models import Line
from idcsched.inventory.services import taint_create
from idcsched.ledger.models import Claim
from idcsched.placement.models import Event, Placement
from idcsched.placement.moving import Destination, placement_move
from idcsched.placement.transitions import placement_confirm, placement_release
from idcsched.planning.advice import advice
from idcsched.planning.made_moves import moves_made
from idcsched.planning.moves import Place
from tests.placement.conftest import PORTAL
from tests.planning.test_moves import idc, measure, picture, settled, stand, world  # noqa: F401 - a fixture

DAYS = timedelta(days=6)
"""By then all traffic of an order is a part of what is measured."""


@pytest.fixture
def lines() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})


def moved(placement: Placement, where: str = "there", promised: float | None = 2000.0) -> Placement:
    """Let an order move and run there for so long that its traffic is measured."""
    running = placement if placement.state == "active" else placement_confirm(placement=placement)
    there = Destination(idc=where)
    new = placement_move(
        placement=running, destination=there, principal=PORTAL, http_request_id="http-2", promised=promised
    )
    new = placement_confirm(placement=new)
    Claim.objects.filter(placement=new.pk).update(fading_since=None)  # it begins anew, six days ago
    settled(new)
    Placement.objects.filter(pk=new.pk).update(changed_at=timezone.now() - DAYS)
    measure("there", 500.0)
    return Placement.objects.get(pk=new.pk)


def made() -> list[tuple[float, float]]:
    """For each move that was made, what it promised and what it saves now."""
    return [(move.promised, move.saves) for move in moves_made(picture(), timezone.now())]


@pytest.mark.usefixtures("lines")
def test_it_works() -> None:
    new = moved(stand())
    assert Event.objects.get(placement=new, move="reserve").detail["promised"] == 2000.0
    assert made() == [(2000.0, 2000.0)]
    (move,) = moves_made(picture(), timezone.now())
    assert (move.placement, move.tenant, move.confirmed_at) == (new.pk, "live-cn", new.changed_at)
    assert (move.origin, move.target) == (Place(idc="here", lines=("ct",)), Place(idc="there", lines=("ct",)))


@pytest.mark.usefixtures("lines")
def test_a_price_has_risen_since() -> None:
    """At a new price of 25 the move saves 100 × (30 − 25), and at 35 it costs as much."""
    moved(stand())
    Line.objects.filter(idc__code="there").update(price_per_mbps=25)
    assert made() == [(2000.0, 500.0)]
    Line.objects.filter(idc__code="there").update(price_per_mbps=35)
    assert made() == [(2000.0, -500.0)]


@pytest.mark.usefixtures("lines")
def test_less_flows_than_was_ordered() -> None:
    """Of 100 Mbps only 40 were ever measured there: 40 × (30 − 10)."""
    moved(stand())
    measure("there", 40.0)
    assert made() == [(2000.0, 800.0)]


@pytest.mark.usefixtures("lines")
def test_two_orders_share_what_flows() -> None:
    """Both ordered 100 Mbps, and 100 flow on their line: 50 × (30 − 10) each."""
    for _ in range(2):
        moved(stand())
    measure("there", 100.0)
    assert made() == [(2000.0, 1000.0)] * 2


@pytest.mark.usefixtures("lines")
def test_a_new_order_might_not_go_back() -> None:
    """The old IDC is tainted and full, so no order may go there. What the order would cost there is still known."""
    moved(stand())
    taint_create(idc="here", key="maintenance")
    measure("here", 1900.0)
    assert made() == [(2000.0, 2000.0)]


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize("lost", ["no promise", "just confirmed", "released", "no price", "the line is gone"])
def test_what_is_not_learnt_from(lost: str) -> None:
    new = moved(stand(), promised=None if lost == "no promise" else 2000.0)
    if lost == "just confirmed":
        Placement.objects.filter(pk=new.pk).update(changed_at=timezone.now() - timedelta(days=4))
    elif lost == "released":
        placement_release(placement=new)
    elif lost == "no price":
        Line.objects.filter(idc__code="here").update(price_per_mbps=None)
    elif lost == "the line is gone":
        Placement.objects.filter(state="released").update(lines=[{"line": "gone", "isp": "ct", "bandwidth_mbps": 100}])
    assert made() == []


@pytest.mark.usefixtures("lines")
def test_how_long_until_it_is_measured_is_a_setting(settings: Settings) -> None:
    moved(stand())
    settings.BANDWIDTH_FADE = timedelta(days=7)
    assert made() == []


def test_who_moves_on_is_held_against_the_last_place() -> None:
    """The order moves from 30 to 10, then to 4. Only the second move is shown, compared with the IDC it left: it saves
    600.
    """
    idc("here")
    idc("there", {"price_per_mbps": 10})
    idc("third", {"price_per_mbps": 4})
    moved(moved(stand()), "third", promised=600.0)
    assert made() == [(600.0, 600.0)]


@pytest.mark.usefixtures("lines")
def test_the_advice_says_what_is_to_be_expected() -> None:
    """One move has kept a quarter of its promise: (10 × 0.85 + 0.25) ÷ 11 of the next one's are expected."""
    stand(mbps=200.0)
    before = advice(picture(), now=timezone.now(), seconds=100)
    assert (before.expected_factor, before.moves_learnt_from) == (0.85, 0)
    assert [(move.saves, move.expected) for move in before.moves] == [(4000.0, 3400.0)]
    moved(stand())
    Line.objects.filter(idc__code="there").update(price_per_mbps=25)
    after = advice(picture(), now=timezone.now(), seconds=100)
    assert (after.expected_factor, after.moves_learnt_from) == (0.7955, 1)
    assert [(move.saves, move.expected) for move in after.moves] == [(1000.0, 795.5)]
