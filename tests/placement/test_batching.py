"""Many requests at once: each sees what the ones before it took; a gang is placed whole or not at all."""

from collections.abc import Callable
from typing import Any

import pytest

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, tenant_update
from idcsched.feed.services import feed_append
from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.framework.request import Request
from idcsched.inventory.models import Idc
from idcsched.ledger.models import Claim, Holding
from idcsched.placement import batching
from idcsched.placement.batching import Batch, batch_answer, gang_place
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Placement
from idcsched.placement.ordering import NoFeasible
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import replay
from tests.placement.conftest import PORTAL, ROOMS, asked

Serve = Callable[..., Batch]


def served(*requests: Request | IdcschedError, by: Serve = batch_answer, principal: Principal = PORTAL) -> Batch:
    return by(requests=list(requests), principal=principal, http_request_id="http-1")


def told(batch: Batch) -> list[str]:
    """The IDC of each outcome, with `?` before it for a recommendation; else the code of the refusal."""
    return [_told(outcome) for outcome in batch.outcomes]


def _told(outcome: Any) -> str:
    if isinstance(outcome, Placement):
        return outcome.idc.code if outcome.idc else outcome.state
    if isinstance(outcome, Scheduled):
        return f"?{outcome.idc.code}" if outcome.idc else "?"
    return str(outcome.code)


RECOMMEND = {"action": None}


@pytest.mark.usefixtures("fleet")
def test_it_works() -> None:
    """900, 800 and 700 Mbps hold three, two and two orders of 300: recommended or reserved, each sees the others."""
    orders = [asked(**(RECOMMEND if number % 2 else {})) for number in range(8)]
    batch = served(*orders)
    assert told(batch) == ["a", "?b", "c", "?a", "b", "?c", "a", "?"]
    assert batch.result == "some"
    assert sorted(Placement.objects.values_list("idc__code", flat=True)) == ["a", "a", "b", "c"]
    assert Placement.objects.filter(group_id__isnull=True).count() == 4
    assert ledger_differences() == []


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    ("count", "result"), [pytest.param(7, "all", id="all fit"), pytest.param(8, "some", id="the last does not")]
)
def test_how_many_were_served(count: int, result: str) -> None:
    assert served(*[asked() for _ in range(count)]).result == result


@pytest.mark.usefixtures("fleet")
def test_nobody_is_served() -> None:
    batch = served(asked(machines=[{"bandwidth_mbps": 5000}]), asked(region="nowhere"))
    assert (told(batch), batch.result) == (["no_feasible_idc", "unknown_region"], "none")


@pytest.mark.usefixtures("fleet")
def test_what_is_wrong_with_one_is_its_own() -> None:
    batch = served(asked(), Invalid("wrong_type", "no"), asked(tenant="another"), asked(profile="none"), asked())
    assert told(batch) == ["a", "wrong_type", "tenant_not_allowed", "unknown_profile", "b"]
    assert batch.result == "some"


@pytest.mark.usefixtures("fleet")
def test_what_is_supposed_takes_nothing() -> None:
    what_if = {"idcs": [{"code": "a", "status": "online"}]}
    batch = served(asked(**RECOMMEND, hypothetical=what_if), asked(**RECOMMEND))
    assert told(batch) == ["?a", "?a"]


@pytest.mark.usefixtures("fleet")
def test_spread_and_waiting_in_a_batch() -> None:
    spread = asked(machines=[{"count": 6, "bandwidth_mbps": 100}], spread={"max_per_idc": 2})
    big = asked(machines=[{"bandwidth_mbps": 850}], wait_seconds=60)
    batch = served(spread, big, asked())
    assert told(batch) == ["a", "waiting", "a"]
    assert batch.result == "all"
    assert Placement.objects.count() == 5


@pytest.mark.usefixtures("fleet")
def test_decisions_can_be_made_again() -> None:
    """A decision's record includes what the orders before it in the batch took, so that its replay is identical."""
    served(*[asked(**RECOMMEND) for _ in range(4)])
    recorder.settle()
    decisions = Decision.objects.order_by("id")
    assert [decision.idc for decision in decisions] == ["a", "b", "c", "a"]
    assert all(replay(decision=decision).identical for decision in decisions)


@pytest.mark.usefixtures("fleet")
def test_a_gang() -> None:
    batch = served(asked(request_id="one"), asked(request_id="two"), asked(**RECOMMEND), by=gang_place)
    assert (told(batch), batch.result) == (["a", "b", "?c"], "all")
    groups = {placement.group_id for placement in Placement.objects.all()}
    assert len(groups) == 1
    assert groups != {None}
    recorder.settle()
    assert Decision.objects.count() == 3
    assert ledger_differences() == []


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        pytest.param({"machines": [{"bandwidth_mbps": 5000}]}, "no_feasible_idc", id="one does not fit"),
        pytest.param({"region": "nowhere"}, "unknown_region", id="one is wrong"),
        pytest.param({"wait_seconds": 60}, "gang_cannot_wait", id="one would wait"),
        pytest.param({"machines": [{"bandwidth_mbps": 5000}], **RECOMMEND}, "?", id="one is recommended nothing"),
    ],
)
def test_a_gang_that_cannot_be_placed(wrong: dict[str, Any], code: str) -> None:
    batch = served(asked(), asked(**wrong), asked(**RECOMMEND), by=gang_place)
    assert told(batch)[:2] == ["?a", code]
    assert batch.result == "none"
    assert not Placement.objects.exists()
    assert not Claim.objects.exists()


@pytest.mark.usefixtures("fleet")
def test_a_gang_respects_a_quota_as_a_whole() -> None:
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 5})
    batch = served(asked(), asked(), by=gang_place)
    assert (told(batch), batch.result) == (["quota_exceeded", "quota_exceeded"], "none")
    assert not Placement.objects.exists()


@pytest.mark.usefixtures("fleet")
def test_a_gang_may_be_of_several_tenants() -> None:
    tenant_create(code="other", default_profile="roomy", quota_machines=3)
    root = Principal(user_id=2, username="root", role=Role.ADMIN, all_tenants=True)
    pair = [asked(tenant=tenant) for tenant in ("live-cn", "other")]
    assert told(served(*pair, by=gang_place, principal=root)) == ["a", "b"]
    assert told(served(*pair, by=gang_place, principal=root)) == ["quota_exceeded"] * 2
    assert sorted(Placement.objects.values_list("tenant__code", flat=True)) == ["live-cn", "other"]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param(1, ["b", "c"], id="once: it is decided anew"),
        pytest.param(len(ROOMS), ["conflict", "conflict"], id="again and again: it is refused"),
    ],
)
def test_somebody_is_quicker(fleet: None, monkeypatch: pytest.MonkeyPatch, times: int, expected: list[str]) -> None:
    """Another order fills the IDC before the first order is taken. If that happens once, a new picture shows it, and
    the order is decided anew.
    """
    monkeypatch.setattr(batching, "DECISIONS", len(ROOMS))
    take, quicker = batching.take_together, []

    def take_together(takes: Any) -> Any:
        if len(quicker) < times:
            wanted = takes[0].candidate.idc
            quicker.append(wanted)
            line, full = Idc.objects.get(code=wanted).lines.get(), {"taken": 900, "ordered": 900}
            Holding.objects.update_or_create(idc=line.idc, line=line, resource="bandwidth_mbps", defaults=full)
            feed_append(topic="ledger", key=wanted)
        return take(takes)

    monkeypatch.setattr(batching, "take_together", take_together)
    batch = served(asked(), asked(), by=gang_place)
    assert (told(batch), len(quicker)) == (expected, times)
    assert Placement.objects.count() == (2 if times == 1 else 0)
    assert all(isinstance(outcome, Placement | NoFeasible | Conflict) for outcome in batch.outcomes)
