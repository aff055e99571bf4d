"""What fits nowhere waits, and gets its place when something changes that helps: the urgent first, then the old."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, tenant_update
from idcsched.feed.models import FeedEntry
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.ledger.models import Holding
from idcsched.placement.documents import placement_documents
from idcsched.placement.models import Event, Placement
from idcsched.placement.transitions import placement_release, placements_expire
from idcsched.placement.waiting import due, waiting_try

Order = Callable[..., Placement]
ALL_OF_A = [{"bandwidth_mbps": 900}]
WAITING = {"only": ["a"], "region": None, "machines": ALL_OF_A, "wait_seconds": 3600}


@pytest.fixture
def full(order: Order) -> Placement:
    """An order that fills `a`."""
    return order(**{**WAITING, "wait_seconds": 0})


def states(placement: Placement) -> list[str]:
    return list(Event.objects.filter(placement=placement).order_by("version").values_list("state", flat=True))


def forget_feed() -> None:
    """Let all entries of the feed be an hour old."""
    FeedEntry.objects.update(at=timezone.now() - timedelta(hours=1))


def test_it_works(order: Order, full: Placement) -> None:
    waiting = order(**WAITING, request_id="patient", ttl_seconds=60)
    assert (waiting.state, waiting.idc, waiting.cures) == ("waiting", None, ["ledger", "lines", "metrics"])
    assert waiting_try(now=timezone.now()) == 0

    placement_release(placement=full)
    assert waiting_try(now=timezone.now()) == 1

    waiting.refresh_from_db()
    assert (waiting.state, waiting.idc.code, waiting.version) == ("reserved", "a", 2)
    assert waiting.expires_at - timezone.now() < timedelta(seconds=61), "the time to live starts now"
    assert states(waiting) == ["waiting", "reserved"]
    assert Holding.objects.get(resource="bandwidth_mbps").taken == 900


def test_what_waits_holds_nothing(order: Order, full: Placement) -> None:
    order(**WAITING)
    assert Holding.objects.get(resource="bandwidth_mbps").taken == 900


def test_a_request_that_fits_does_not_wait(order: Order) -> None:
    assert order(**WAITING).state == "reserved"


def test_time_is_up(order: Order, full: Placement) -> None:
    waiting = order(**WAITING)
    assert placements_expire(now=timezone.now() + timedelta(seconds=3601)) == 2
    assert states(waiting) == ["waiting", "expired"]
    assert Holding.objects.get(resource="bandwidth_mbps").taken == 0


def test_whose_time_runs_out_while_others_are_tried_gets_nothing(order: Order, full: Placement) -> None:
    waiting, begun = order(**WAITING), timezone.now()
    placement_release(placement=full)
    Placement.objects.filter(pk=waiting.pk).update(expires_at=timezone.now())
    assert waiting_try(now=begun) == 0
    assert states(waiting) == ["waiting"]


def test_one_may_give_up(order: Order, full: Placement) -> None:
    waiting = order(**WAITING)
    placement_release(placement=waiting)
    assert states(waiting) == ["waiting", "released"]
    assert Holding.objects.get(resource="bandwidth_mbps").taken == 900


@pytest.mark.parametrize(
    ("topic", "worth_it"),
    [
        pytest.param("ledger", True, id="something was given back"),
        pytest.param("metrics", True, id="a line was measured"),
        pytest.param("taints", False, id="a taint was lifted, which keeps nobody out"),
    ],
)
def test_only_what_may_help_makes_one_try_again(order: Order, full: Placement, topic: str, *, worth_it: bool) -> None:
    waiting = order(**WAITING)
    waiting_try(now=timezone.now())
    forget_feed()
    now = timezone.now()
    assert due(now=now) == []
    FeedEntry.objects.create(topic=topic, key="a")
    assert due(now=now) == ([waiting.pk] if worth_it else [])


def test_by_and_by_it_is_tried_anyway(order: Order, full: Placement) -> None:
    """Without any news an order is tried less and less often, but at least once a minute."""
    waiting, now, gaps = order(**WAITING), timezone.now(), []
    for _ in range(6):
        waiting_try(now=now)
        forget_feed()
        waiting.refresh_from_db()
        gaps.append((waiting.next_try_at - now).total_seconds())
        now = waiting.next_try_at
    assert gaps == [10, 20, 40, 60, 60, 60]


def test_the_urgent_then_the_old_and_tenants_take_turns(order: Order, full: Placement) -> None:
    tenant_create(code="other", default_profile="roomy")
    other = Principal(user_id=2, username="other", role=Role.PORTAL, tenant="other")

    def waits(name: str, principal: Any = None, **fields: Any) -> None:
        order(*([principal] if principal else []), **WAITING, request_id=name, **fields)

    waits("first")
    waits("second")
    waits("third")
    waits("of another", other)
    waits("urgent", priority=5)
    waits("no hurry", priority=-5)

    names = dict(Placement.objects.values_list("pk", "request_id"))
    assert [names[each] for each in due(now=timezone.now())] == [
        "urgent", "first", "of another", "second", "third", "no hurry",
    ]  # fmt: skip


def test_who_does_not_fit_stands_in_nobodys_way(order: Order, full: Placement) -> None:
    big = order(**{**WAITING, "machines": [{"bandwidth_mbps": 5000}]}, priority=9)
    small = order(**{**WAITING, "machines": [{"bandwidth_mbps": 10}]})
    placement_release(placement=full)
    assert waiting_try(now=timezone.now()) == 1
    big.refresh_from_db()
    small.refresh_from_db()
    assert (big.state, small.state) == ("waiting", "reserved")


@pytest.mark.parametrize(("quota", "kept", "why"), [(1800, 900, ""), (1799, 0, "quota_exceeded")])
def test_no_room_is_kept_for_an_order_over_its_quota(
    order: Order, full: Placement, quota: float, kept: float, why: str
) -> None:
    """The quota is lowered while the order waits. Room is kept for it only if it is within the new quota."""
    waiting, now = order(**WAITING), timezone.now()
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_bandwidth_mbps": quota})
    Placement.objects.filter(pk=waiting.pk).update(created_at=now - timedelta(minutes=2))
    assert waiting_try(now=now) == 0
    waiting.refresh_from_db()
    assert (waiting.state, waiting.held_back) == ("waiting", why)
    assert Holding.objects.get(resource="bandwidth_mbps").kept == kept


def test_a_region_that_is_gone_meanwhile(order: Order, full: Placement) -> None:
    """The region of a waiting order is deleted: the order goes on waiting, and says why it is held back."""
    waiting = order(**{**WAITING, "region": "A", "profile": "roomy"})
    Placement.objects.filter(pk=waiting.pk).update(request={**waiting.request, "region": "gone"})
    placement_release(placement=full)
    assert waiting_try(now=timezone.now()) == 0
    waiting.refresh_from_db()
    assert (waiting.state, waiting.held_back) == ("waiting", "unknown_region")


def test_each_try_says_where_the_least_is_lacking(order: Order) -> None:
    """A waiting order's document names the IDC where the least is lacking, as of the last try."""
    half, rest = ({**WAITING, "machines": [{"bandwidth_mbps": 450}], "wait_seconds": 0} for _ in range(2))
    order(**half)
    other_half = order(**rest)
    waiting = order(**{**WAITING, "only": ["a", "b"], "machines": [{"bandwidth_mbps": 5000}], "isp": "ct"})
    at_first = placement_documents([waiting])[0].waits
    assert at_first is not None
    assert at_first.lacks is not None
    assert (at_first.lacks.idc, at_first.lacks.code) == ("b", "not_enough_bandwidth")
    short_by = at_first.lacks.detail["short_by"]
    assert at_first.lacks.detail["need"] == 5000 == at_first.lacks.detail["free"] + short_by

    Placement.objects.filter(pk=waiting.pk).update(request={**waiting.request, "only": ["a"]})
    placement_release(placement=other_half)
    assert waiting_try(now=timezone.now()) == 0
    waiting.refresh_from_db()
    now = placement_documents([waiting])[0].waits
    assert now is not None
    assert now.lacks is not None
    assert (now.lacks.idc, now.lacks.detail["free"]) == ("a", 450)
    assert (now.cures, now.tried_at, now.next_try_at) == (waiting.cures, waiting.tried_at, waiting.next_try_at)
    placement_release(placement=waiting)
    waiting.refresh_from_db()
    assert placement_documents([waiting])[0].waits is None


def test_where_no_single_reason_keeps_it_out_nothing_is_nearest(order: Order, fleet: None) -> None:
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "offline"})
    assert order(**{**WAITING, "machines": [{"bandwidth_mbps": 5000}]}).lacks is None
    assert order(**WAITING, explain="none").lacks is None


def test_other_changes_help_as_well(order: Order, fleet: None) -> None:
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "offline"})
    waiting = order(**WAITING)
    assert waiting.cures == ["status"]
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "online"})
    assert waiting_try(now=timezone.now()) == 1
