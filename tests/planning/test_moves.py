"""Which placements would be cheaper elsewhere, in small worlds where the right advice is known on paper.

An order of 100 Mbps stands on line `here/ct`, which costs 30 per Mbps and month unless a test says otherwise, and on
which 400 Mbps are measured. Line `there/ct` costs 10. The order is reserved: monitoring does not see its traffic yet.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django.fixtures import Settings

from idcsched.accounts.services import tenant_create
from idcsched.framework.request import Request
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create, taint_create
from idcsched.ledger.keeping import Kept as KeptRoom
from idcsched.ledger.taking import claims_fade, claims_fade_begin
from idcsched.placement.models import Placement
from idcsched.placement.moving import Destination, placement_move
from idcsched.placement.ordering import placement_order
from idcsched.placement.transitions import placement_confirm
from idcsched.planning.moves import Move, Rearrangement, rearrangement, saving
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.models import Profile
from idcsched.scheduling.services import profile_create
from metrics_ingest.models import Latest, Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import Sample, history_store, rollups_refresh, samples_store
from tests.keeping import Kept
from tests.outbound.peers import json_reply, loopback_allowed, peer
from tests.placement.conftest import PORTAL

FILTERS = [{"name": name, "plugin": name} for name in ("available", "taint", "network_flow", "resource")]
BY_ROOM = {"plugins": [*FILTERS, {"name": "flow", "plugin": "network_flow", "weight": 1}]}
ONE_EACH = {"plugins": [*BY_ROOM["plugins"], {"name": "apart", "plugin": "spread", "args": {"at_most": 1}}]}
WORLD: Kept[None] = Kept()


@pytest.fixture(autouse=True)
def world(db: None) -> None:
    WORLD.write(_world)


def _world() -> None:
    region_create(code="A")
    isp_create(code="ct")
    profile_create(code="room", body=BY_ROOM)
    profile_create(code="apart", body=ONE_EACH)
    tenant_create(code="live-cn", default_profile="room")


def idc(code: str, *lines: dict[str, Any], used: float | None = 400.0, **fields: Any) -> None:
    """An IDC with lines of 2,000 Mbps, of which 90 % may be filled, and `used` Mbps measured on each."""
    given: list[dict[str, Any]] = list(lines) or [{}]
    terms = [{"isp": "ct", "purchased_mbps": 2000, "price_per_mbps": 30, **line} for line in given]
    made = idc_create(code=code, region="A", lines=terms, **fields)
    if used is not None:
        measure(code, used, Line.objects.filter(idc=made).values_list("code", flat=True))


def measure(code: str, mbps: float, lines: Iterable[str] = ("ct",)) -> None:
    now = timezone.now()
    samples = [Sample(idc=code, line=line, metric="bandwidth_mbps", value=mbps, at=now) for line in lines]
    samples_store(samples=samples, now=now)


def stand(where: str = "here", mbps: float = 100.0, cpu: float = 1, **fields: Any) -> Placement:
    """Let an order stand in an IDC."""
    asked = {
        "region": "A",
        "action": "reserve",
        "machines": [{"bandwidth_mbps": mbps, "cpu": cpu}],
        "planned": {"idc": where},
        **fields,
    }
    made = placement_order(request=msgspec.convert(asked, Request), principal=PORTAL, http_request_id="http-1")
    assert made.idc is not None
    assert made.idc.code == where
    return made


def settled(placement: Placement) -> None:
    """Let the placement run for so long that all its traffic is a part of what is measured."""
    Placement.objects.filter(pk=placement.pk).update(state="active")
    claims_fade_begin(placement=placement.pk, since=timezone.now() - timedelta(days=6))
    claims_fade(now=timezone.now(), over_seconds=5 * 86_400)


def picture() -> LiveState:
    live.forget()
    return live.current()


def found(seconds: float = 100.0) -> Rearrangement:
    return rearrangement(picture(), now=timezone.now(), seconds=seconds)


def told(result: Rearrangement) -> list[tuple[str, str, float]]:
    return [(move.origin.idc, move.target.idc, move.saves) for move in result.moves]


def the_move() -> Move:
    (move,) = found().moves
    return move


@pytest.mark.parametrize(
    ("terms", "saves"),
    [
        pytest.param({"price_per_mbps": 10}, 2000, id="percentile: 100 × (30 − 10)"),
        pytest.param(
            {"charge_type": "fourth_peak_month", "price_per_mbps": 20}, 1000, id="fourth peak: 100 × (30 − 20)"
        ),
        pytest.param({"charge_type": "enhanced_95", "price_per_mbps": 20}, 1000, id="enhanced: 100 × (30 − 20)"),
        pytest.param(
            {"charge_type": "daily_peak", "price_per_mbps": 0.5}, 1500, id="daily peak: 100 × (30 − 30 × 0.5)"
        ),
        pytest.param({"charge_type": "daily_peak_average", "price_per_mbps": 0.5}, 1500, id="its average: the same"),
        pytest.param(
            {"charge_type": "volume", "price_per_gb": 0.1, "price_per_mbps": None},
            1380,
            id="volume: 100 Mbps that are 50 on average move 16,200 GB: 3,000 − 1,620",
        ),
        pytest.param({"charge_type": "fixed", "price_per_mbps": 50}, 3000, id="flat rate: nothing is added there"),
        pytest.param({"price_per_mbps": 25, "commit_mbps": 700}, 3000, id="commit: 700 carry 400 × 1.14 + 100"),
        pytest.param({"price_per_mbps": 29.995}, None, id="half a yuan is no reason to move"),
        pytest.param({"price_per_mbps": 30}, None, id="the same price"),
        pytest.param({"price_per_mbps": None}, None, id="nobody knows what it costs"),
    ],
)
def test_what_a_move_saves(terms: dict[str, Any], saves: float | None) -> None:
    idc("here")
    idc("there", terms)
    stand()
    result = found()
    assert told(result) == ([] if saves is None else [("here", "there", saves)])
    assert result.saves_at_most >= sum(move.saves for move in result.moves)
    assert (result.placements, result.left_out, result.status) == (1, 0, "optimal")


@pytest.mark.parametrize(
    ("terms", "saves"),
    [
        pytest.param({"charge_type": "fixed", "price_per_mbps": 50}, None, id="flat rate: it is paid anyway"),
        pytest.param({"commit_mbps": 700}, None, id="under the commit: it is paid anyway"),
        pytest.param({"commit_mbps": 300}, 2000, id="over the commit: 100 × (30 − 10)"),
        # 400 Mbps at the five levels leave 48.12, 20.44 and three times nothing of 400: 86.29 of 100 are billed.
        pytest.param({"commit_mbps": 400}, 1588.70, id="at the commit: 86.29 × 30 − 100 × 10"),
        pytest.param({"price_per_mbps": None}, None, id="nobody knows what it costs here"),
    ],
)
@pytest.mark.parametrize("seen", [pytest.param(True, id="measured"), pytest.param(False, id="not measured yet")])
def test_what_it_costs_where_it_stands(terms: dict[str, Any], saves: float | None, seen: bool) -> None:
    """The line carries 400 Mbps without the order. The advice is the same whether the order's 100 are measured already
    or not.
    """
    idc("here", terms)
    idc("there", {"price_per_mbps": 10})
    placement = stand()
    if seen:
        settled(placement)
        measure("here", 500.0)
    result = found()
    assert told(result) == ([] if saves is None else [("here", "there", saves)])
    assert result.left_out == (terms == {"price_per_mbps": None})


def test_what_it_changes_on_the_lines() -> None:
    """At the five levels, 400 Mbps are 351.9, 379.6, 400, 421.5 and 454.7, on average 401.54: that costs 12,046 in
    `here`, and the order 3,000. In `there` a commit of 500 is paid; with the order 21.5 and 54.7 lie above it, 15.25 on
    average: 152.5."""
    idc("here")
    idc("there", {"price_per_mbps": 10, "commit_mbps": 500})
    stand()
    left, used = the_move().lines
    assert (left.idc, left.line, left.carries_before_mbps, left.carries_after_mbps) == ("here", "ct", 500.0, 400.0)
    assert (used.idc, used.line, used.carries_before_mbps, used.carries_after_mbps) == ("there", "ct", 400.0, 500.0)
    assert (left.purchased_mbps, used.purchased_mbps) == (2000.0, 2000.0)
    bills = (left.bill_before, left.bill_after, used.bill_before, used.bill_after)
    assert bills == pytest.approx((15_046, 12_046, 5000, 5152.5), abs=0.5)
    assert the_move().saves == pytest.approx(3000 - 152.5, abs=0.5)


def test_a_flat_rate_costs_the_same_before_and_after() -> None:
    idc("here")
    idc("there", {"charge_type": "fixed", "price_per_mbps": 5})
    stand()
    (_left, used) = the_move().lines
    assert (used.bill_before, used.bill_after, used.carries_after_mbps) == (10_000.0, 10_000.0, 500.0)


def test_the_next_move_begins_where_the_last_one_ends() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    for mbps in (100.0, 200.0):
        stand(mbps=mbps)
    first, second = (move.lines for move in found().moves)
    assert [(line.carries_before_mbps, line.carries_after_mbps) for line in first] == [(700.0, 500.0), (400.0, 600.0)]
    assert [line.bill_after for line in first] == [line.bill_before for line in second]


def test_half_of_it_is_measured_already() -> None:
    """The order has been active for half of the five days in which its claim fades: of the 450 measured Mbps 50 are its
    own.
    """
    idc("here", {"commit_mbps": 400})
    idc("there", {"price_per_mbps": 10})
    placement = stand()
    claims_fade_begin(placement=placement.pk, since=timezone.now() - timedelta(days=2.5))
    claims_fade(now=timezone.now(), over_seconds=5 * 86_400)
    measure("here", 450.0)
    assert told(found()) == [("here", "there", 1588.70)]


def test_ordered_bandwidth_counts_the_same(settings: Settings) -> None:
    """With `BANDWIDTH_COUNT=ordered` the saving is the same: without the order the line carries 400 Mbps, which is its
    commit.
    """
    settings.BANDWIDTH_COUNT = "ordered"
    idc("here", {"commit_mbps": 400})
    idc("there", {"price_per_mbps": 10})
    settled(stand())
    measure("here", 500.0)
    assert told(found()) == [("here", "there", 1588.70)]


def test_what_is_ordered_and_not_used_saves_nothing() -> None:
    """Of 400 Mbps only 50 were ever measured on the line: its bill falls by 50 × 30."""
    idc("here")
    idc("there", {"price_per_mbps": 10})
    settled(stand(mbps=400.0))
    measure("here", 50.0)
    move = the_move()
    assert (move.saves, move.bandwidth_mbps) == (50 * 30 - 50 * 10, 400.0)


def test_what_flows_at_night_is_billed_by_volume_alone() -> None:
    """The order flows in 6 of 24 hours. Billed by volume this quarter counts; in `there`, whose busiest hours are not
    known, it counts whole.
    """
    idc("here", {"charge_type": "volume", "price_per_gb": 0.1, "price_per_mbps": None})
    idc("there", {"price_per_mbps": 5})
    stand(shape=[1.0] * 6 + [0.0] * 18)
    # by volume 100 × 6 ÷ 24 × 324 × 0.1 are 810, and 100 × 5 are 500
    assert told(found()) == [("here", "there", 310.0)]


def test_the_use_of_the_line_was_never_measured() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    Latest.objects.filter(line__idc__code="here").delete()
    result = found()
    assert (told(result), result.placements, result.left_out) == ([], 1, 1)
    assert result.status == "nothing_to_move"


@pytest.mark.parametrize(("tainted", "moves"), [("here", 1), ("there", 0)])
def test_a_hard_taint(tainted: str, moves: int) -> None:
    """An order may move out of a tainted IDC, but none is moved into one."""
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    taint_create(idc=tainted, key="maintenance")
    result = found()
    assert (len(result.moves), result.left_out) == (moves, 0)


def test_a_full_line_can_be_left_and_not_entered() -> None:
    """Lines may be filled to 1,800 of 2,000 Mbps. An order may leave `here`, which carries 1,900, but not for `there`
    as long as only 50 are free there.
    """
    idc("here")
    idc("there", {"price_per_mbps": 10}, used=1750.0)
    stand()
    measure("here", 1900.0)
    assert told(found()) == []
    measure("there", 1700.0)
    assert told(found()) == [("here", "there", 2000.0)]


def test_room_that_is_kept_for_waiting_orders_is_not_free() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    until = timezone.now() + timedelta(hours=1)
    room = KeptRoom(idc="there", line="ct", resource="bandwidth_mbps", amount=1350.0, priority=0, until=until)
    result = rearrangement(replace(picture(), kept=(room,)), now=timezone.now(), seconds=100)
    assert told(result) == []


def test_two_that_can_not_both_move() -> None:
    """`there` has room for one: the larger one saves 700 × 20, the smaller one 600 × 20."""
    idc("here")
    idc("there", {"price_per_mbps": 10}, used=1000.0)
    for mbps in (600.0, 700.0):
        stand(mbps=mbps)
    result = found()
    assert told(result) == [("here", "there", 14_000.0)]
    assert result.saves_at_most == pytest.approx(14_000, abs=5)


def test_nobody_moves_into_room_that_another_one_would_have_to_leave_first() -> None:
    """The order in `there` moves to `third`. The order in `here` would fit in `there` only after that, so no move is
    advised for it.
    """
    idc("here")
    idc("there", {"price_per_mbps": 10}, used=1000.0)
    idc("third", {"price_per_mbps": 9}, used=1600.0)
    stand(mbps=700.0)
    stand("there", mbps=200.0)
    assert told(found()) == [("there", "third", 200.0)]


def test_machines_that_may_not_share_an_idc() -> None:
    """The profile allows one machine of a tenant in an IDC: only the order that saves more is moved to `there`."""
    idc("here")
    idc("there", {"price_per_mbps": 10})
    for mbps in (100.0, 200.0):
        placed = stand(mbps=mbps)
        Placement.objects.filter(pk=placed.pk).update(request={**placed.request, "profile": "apart"})
    assert told(found()) == [("here", "there", 4000.0)]


def test_a_service_that_the_profile_asks_may_refuse(settings: Settings) -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    with loopback_allowed(settings), peer(json_reply({"rejected": {"there": "no spares"}})) as service:
        judge = {"name": "judge", "plugin": "extender", "args": {"url": service.url, "timeout_seconds": 10}}
        profile_create(code="asking", body={"plugins": [*BY_ROOM["plugins"], judge]})
        Placement.objects.update(request={**Placement.objects.get().request, "profile": "asking"})
        assert told(found()) == []
        assert service.calls


def test_the_profile_of_the_tenant_decides() -> None:
    """The order names no profile. Its tenant's profile allows one machine in an IDC, and one is in `there` already."""
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand("there")
    stand()
    assert told(found()) == [("here", "there", 2000.0)]
    state = picture()
    apart = replace(state, default_profiles={**state.default_profiles, "live-cn": "apart"})
    assert rearrangement(apart, now=timezone.now(), seconds=100).moves == ()


def test_those_of_which_nothing_can_be_said_are_left_out() -> None:
    """Left out are a placement whose profile is gone, one whose request cannot be read, and two that belong to one
    order.
    """
    idc("here")
    idc("there", {"price_per_mbps": 10})
    gone, unreadable, _well = (stand() for _ in range(3))
    for placed, change in ((gone, {"profile": "gone"}), (unreadable, {"machines": "many"})):
        Placement.objects.filter(pk=placed.pk).update(request={**placed.request, **change})
    stand("there", machines=[{"count": 2, "bandwidth_mbps": 100}], planned=None, spread={"max_per_idc": 1})
    result = found()
    assert (result.placements, result.left_out, len(result.moves)) == (5, 4, 1)


def test_what_is_being_moved_is_not_looked_at() -> None:
    """While an order is being moved neither its old nor its new placement is looked at; afterwards the new one is."""
    idc("here")
    idc("there", {"price_per_mbps": 10})
    placed = placement_confirm(placement=stand())
    to = Destination(idc="there")
    new = placement_move(placement=placed, destination=to, principal=PORTAL, http_request_id="http-2")
    assert found().placements == 0
    placement_confirm(placement=new)
    assert (found().placements, found().moves) == (1, ())


def saved(placed: Placement, where: str = "there", lines: tuple[str, ...] | None = None) -> float | None:
    return saving(placed, where, lines, picture(), timezone.now())


def test_what_one_move_saves_now() -> None:
    """The saving of one move is what the advice says, and it falls when the price of the new line rises."""
    idc("here")
    idc("there", {"price_per_mbps": 10}, {"code": "dear", "price_per_mbps": 40})
    placed = stand()
    (move,) = found().moves
    assert saved(placed) == pytest.approx(move.saves)
    assert saved(placed) == saved(placed, lines=("ct",)) == pytest.approx(2000.0)
    assert saved(placed, lines=("dear",)) == pytest.approx(-1000.0)
    Line.objects.filter(idc__code="there", code="ct").update(price_per_mbps=25)
    assert saved(placed, lines=("ct",)) == pytest.approx(500.0)


def test_what_a_move_saves_is_not_known_where_it_may_not_go() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10}, status="draining")
    idc("unpriced", {"price_per_mbps": None})
    placed = stand()
    assert saved(placed) is None
    assert saved(placed, "unpriced") is None
    assert saved(placed, "nowhere") is None
    Placement.objects.filter(pk=placed.pk).update(request={"machines": "many"})
    assert saved(Placement.objects.get(pk=placed.pk)) is None
    assert not Profile.objects.filter(code="gone").exists()


@pytest.mark.parametrize(
    ("state", "placements"),
    [("reserved", 1), ("provisioning", 1), ("active", 1), ("releasing", 0), ("released", 0), ("expired", 0)],
)
def test_what_is_about_to_leave_is_not_moved(state: str, placements: int) -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    Placement.objects.update(state=state)
    result = found()
    assert (result.placements, len(result.moves)) == (placements, placements)


def test_the_machines_need_stock_there() -> None:
    idc("here", stock_cpu=10)
    idc("there", {"price_per_mbps": 10}, stock_cpu=3)
    stand(cpu=4)
    assert told(found()) == []
    stand(cpu=3)
    assert told(found()) == [("here", "there", 2000.0)]


def test_another_line_of_the_same_idc_needs_no_stock() -> None:
    """The order itself takes all of the IDC's stock. It can still change to another line there, since its machines
    stay.
    """
    isp_create(code="cu")
    idc("here", {}, {"isp": "cu", "price_per_mbps": 10}, stock_cpu=4)
    stand(cpu=4, planned={"idc": "here", "lines": ["ct"]})
    move = the_move()
    assert (move.origin.lines, move.target.idc, move.target.lines) == (("ct",), "here", ("cu",))
    assert (move.saves, move.machines) == (2000.0, 0)


def test_an_order_on_a_line_of_each_isp() -> None:
    """100 Mbps on both lines cost 6,000 here and 4,000 there."""
    isp_create(code="cu")
    idc("here", {}, {"isp": "cu"})
    idc("there", {"price_per_mbps": 10}, {"isp": "cu"})
    stand(isp=["ct", "cu"], isp_match="all")
    move = the_move()
    assert (move.origin.lines, move.target.lines, move.saves) == (("ct", "cu"), ("ct", "cu"), 2000.0)


def test_what_flows_away_from_the_peak_costs_little_where_it_stands() -> None:
    """The line of `here` is busy in the evening, that of `there` at night. An order that flows at night costs nothing
    where it is.
    """
    idc("here")
    idc("there", {"price_per_mbps": 10})
    for code, hours in (("here", range(20, 22)), ("there", range(2, 4))):
        busy(code, hours)
    stand(shape=[1.0] * 6 + [0.0] * 18)
    assert told(found()) == []
    stand(shape=[0.0] * 18 + [1.0] * 6)
    assert told(found()) == [("here", "there", 3000.0)], "in the evening it is the other way round"


def busy(code: str, hours: Iterable[int]) -> None:
    """Let the line be busiest in these hours of each of the last days; its percentile stays 400."""
    line, now, zone = Line.objects.select_related("idc").get(idc__code=code), timezone.now(), settings.BILLING_ZONE
    start = slot_floor(now) - (8 * 288 - 1) * SLOT
    times = [(start + slot * SLOT).astimezone(ZoneInfo(zone)) for slot in range(8 * 288)]
    values = np.array([400.0 if at.hour in hours else 300.0 for at in times], dtype=np.float32)
    metric = Metric.objects.get(code="bandwidth_mbps")
    history_store(metric=metric, idc=line.idc, line=line, start=start, values=values)
    rollups_refresh(now=now)
    measure(code, 400.0)


def test_each_saves_what_is_left_to_save_after_those_above_it() -> None:
    """A commit with 100 Mbps to spare: who comes first is free there, who comes next pays 25 instead of 30."""
    idc("here")
    idc("there", {"price_per_mbps": 25, "commit_mbps": 100}, used=0.0)
    for _ in range(2):
        stand()
    result = found()
    assert told(result) == [("here", "there", 3000.0), ("here", "there", 500.0)]
    assert result.saves_at_most == pytest.approx(3500, abs=1)


def test_the_same_inputs_give_the_same_moves() -> None:
    """Three orders, three places, two of them alike."""
    idc("here")
    for code in ("there", "elsewhere"):
        idc(code, {"price_per_mbps": 20, "commit_mbps": 450})
    for mbps in (100, 200, 50):
        stand(mbps=mbps)
    known, now = picture(), timezone.now()
    first, again = (rearrangement(known, now=now, seconds=100) for _ in range(2))
    assert len(first.moves) == 3
    assert again == first


def test_without_time_nothing_is_said_and_nothing_is_claimed() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    result = found(seconds=0.0)
    assert (result.moves, result.status) == ((), "nothing_found")
    assert result.saves_at_most == 3000.0, "the bill can't fall below nothing"


def test_no_placements() -> None:
    idc("here", {"price_per_mbps": None})
    result = found()
    assert (result.placements, result.status, result.saves_at_most) == (0, "nothing_to_move", 0.0)
