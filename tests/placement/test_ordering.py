"""An order takes what it needs from the best IDC that has it, and never more than there is."""

from collections.abc import Callable

import pytest

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_update
from idcsched.framework.errors import Conflict, Forbidden, Invalid
from idcsched.inventory.models import Idc
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.placement import ordering
from idcsched.placement.models import Event, Placement
from idcsched.placement.ordering import NoFeasible
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder

Order = Callable[..., Placement]


def test_it_works(order: Order) -> None:
    made = order(request_id="order-8812", labels={"business": "live"}, ttl_seconds=60)

    placement = Placement.objects.get()
    assert placement.pk == made.pk
    assert (placement.state, placement.version, placement.idc.code) == ("reserved", 1, "a")
    assert placement.lines == [{"line": "ct", "isp": "ct", "bandwidth_mbps": 300.0}]
    assert (placement.business, placement.machine_count, placement.bandwidth_mbps) == ("live", 3, 300)
    assert (placement.expires_at - placement.created_at).total_seconds() == pytest.approx(60, abs=1)
    assert {(claim.holding.resource, claim.amount, claim.ceiling) for claim in Claim.objects.all()} == {
        ("bandwidth_mbps", 300, 900),
        ("cpu", 12, 100),
    }
    assert Headcount.objects.get().machines == 3


def test_the_decision_is_kept_with_what_was_taken(order: Order) -> None:
    placement = order()
    decision = Decision.objects.get()
    assert (decision.pk, decision.placement) == (placement.decision_id, placement.pk)
    assert decision.taken == {"idc": "a", "rank": 1, "because": None, "passed_over": []}
    assert decision.inputs is not None


def test_the_event_says_what_was_taken(order: Order) -> None:
    order()
    event = Event.objects.get()
    assert (event.version, event.move, event.state) == (1, "reserve", "reserved")
    assert [(claim["resource"], claim["amount"]) for claim in event.detail["claims"]] == [
        ("cpu", 12.0),
        ("bandwidth_mbps", 300.0),
    ]


def test_the_next_order_sees_what_the_last_one_took(order: Order) -> None:
    assert [order().idc.code for _ in range(4)] == ["a", "b", "c", "a"]


def test_until_nothing_is_left(order: Order) -> None:
    for _ in range(7):  # 900, 800 and 700 hold three, two and two of 300
        order()
    with pytest.raises(NoFeasible) as refusal:
        order()
    assert refusal.value.code == "no_feasible_idc"
    assert refusal.value.decision.summary == "0/3 IDCs fit: 3 not enough bandwidth"
    recorder.settle()
    assert Decision.objects.filter(result="unschedulable").count() == 1
    assert {holding.taken for holding in Holding.objects.filter(resource="bandwidth_mbps")} == {900, 600}


def test_who_is_too_late_gets_the_next_best(order: Order, fleet: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order fills `a` after the decision for `a`: the order gets the next best IDC."""
    stale = ordering.decide_request

    def decide_request(**asked: object) -> object:
        made = stale(**asked)
        idc = Idc.objects.get(code="a")
        Holding.objects.create(idc=idc, line=idc.lines.get(), resource="bandwidth_mbps", taken=700, ordered=700)
        return made

    monkeypatch.setattr(ordering, "decide_request", decide_request)
    placement = order()
    assert placement.idc.code == "b"
    passed_over = [{"idc": "a", "rank": 1, "because": "conflict"}]
    assert Decision.objects.get().taken == {"idc": "b", "rank": 2, "because": "conflict", "passed_over": passed_over}
    assert Claim.objects.filter(holding__idc__code="a").count() == 0


@pytest.mark.parametrize(
    ("quota", "code"),
    [
        pytest.param({"quota_machines": 5}, "quota_exceeded", id="machines"),
        pytest.param({"quota_bandwidth_mbps": 599.9}, "quota_exceeded", id="bandwidth"),
    ],
)
def test_a_quota_is_respected(order: Order, fleet: None, quota: dict[str, float], code: str) -> None:
    tenant_update(tenant=Tenant.objects.get(), changes=quota)
    order()
    with pytest.raises(Conflict) as refusal:
        order()
    assert refusal.value.code == code
    assert Placement.objects.count() == 1


def test_a_quota_may_be_used_up(order: Order, fleet: None) -> None:
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 6, "quota_bandwidth_mbps": 600})
    order()
    order()
    assert Placement.objects.count() == 2


def test_refusals(order: Order) -> None:
    nobodys = Principal(user_id=2, username="root", role=Role.ADMIN, all_tenants=True)
    with pytest.raises(Invalid, match="say for which tenant"):
        order(nobodys)
    with pytest.raises(Forbidden):
        order(tenant="another")
    with pytest.raises(Invalid):
        order(region="nowhere")
    assert order(nobodys, tenant="live-cn").tenant.code == "live-cn"
