"""A recommendation can be committed: it becomes a placement in its own IDC and on its own lines, or is refused with
what has changed.
"""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.core import signing

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, tenant_delete
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.inventory.models import Idc, Isp, Region
from idcsched.inventory.services import idc_update, isp_update, region_update
from idcsched.language.wording import explained
from idcsched.placement import committing
from idcsched.placement.committing import placement_commit
from idcsched.placement.lifecycle import Action
from idcsched.placement.models import Placement
from idcsched.scheduling import recommendation
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recommendation import SALT
from idcsched.scheduling.recorder import recorder
from tests.placement.conftest import PORTAL

Recommend = Callable[..., Scheduled]


def commit(token: str | None, principal: Principal = PORTAL) -> tuple[Placement, bool]:
    return placement_commit(
        commit_token=token or "", action=Action.RESERVE, principal=principal, http_request_id="http-2"
    )


def test_it_works(recommend: Recommend) -> None:
    recommended = recommend(request_id="order-1", ttl_seconds=90)

    placement, new = commit(recommended.commit_token)

    assert (new, placement.state, placement.request_id, placement.ttl_seconds) == (True, "reserved", "order-1", 90)
    assert str(placement.based_on) == recommended.decision_id
    assert str(placement.decision_id) != recommended.decision_id
    assert Decision.objects.get(pk=placement.decision_id).taken["idc"] == recommended.idc.code == "a"


def test_the_same_token_again_is_the_same_placement(recommend: Recommend) -> None:
    token = recommend().commit_token
    first, _ = commit(token)
    again, new = commit(token)
    assert (again.pk, new) == (first.pk, False)
    assert Placement.objects.count() == 1


def test_another_line_may_be_roomier_by_now(recommend: Recommend, fleet: None) -> None:
    token = recommend(only=["a"]).commit_token
    idc = Idc.objects.get(code="a")
    lines = [
        {"code": "ct", "isp": "ct", "purchased_mbps": 1000, "max_level": 1.0},
        {"code": "ct2", "isp": "ct", "purchased_mbps": 9000},
    ]
    idc_update(idc=idc, changes={"lines": lines})
    placement, _ = commit(token)
    assert [line["line"] for line in placement.lines] == ["ct"]


def test_what_does_not_fit_any_more(recommend: Recommend) -> None:
    token = recommend(only=["a"]).commit_token
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "draining"})
    with pytest.raises(Conflict) as refusal:
        commit(token)
    assert refusal.value.code == "decision_outdated"
    assert refusal.value.decision.rejected[0].code == "draining"
    assert not Placement.objects.exists()


def rename_region() -> None:
    region = Region.objects.get(idcs__code="a")
    region_update(region=region, changes={"code": "renamed"})


def rename_isp() -> None:
    isp_update(isp=Isp.objects.get(code="ct"), changes={"code": "renamed"})


def rename_idc() -> None:
    idc_update(idc=Idc.objects.get(code="a"), changes={"code": "renamed"})


@pytest.mark.parametrize("rename", [rename_idc, rename_region, rename_isp])
def test_what_it_names_is_renamed(recommend: Recommend, rename: Callable[[], None]) -> None:
    """The recommended IDC, region or ISP has another name by now. The refusal points to no field, because the token
    itself is sound.
    """
    region = Idc.objects.get(code="a").region.code
    token = recommend(only=["a"], region=region, isp=["ct"]).commit_token
    rename()
    with pytest.raises(Conflict) as refusal:
        commit(token)
    assert (refusal.value.code, refusal.value.pointer) == ("decision_outdated", "")
    assert "what was recommended does not fit any more: there is no" in explained(refusal.value)
    assert not Placement.objects.exists()


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(lambda: "", id="empty"),
        pytest.param(lambda: "nonsense", id="nonsense"),
        pytest.param(lambda: signing.dumps({"decision": "x"}, salt=SALT), id="signed, but no decision"),
        pytest.param(lambda: signing.dumps({"decision": str(UUID(int=1))}, salt="other"), id="signed for another use"),
    ],
)
def test_a_token_that_nobody_gave_out(fleet: None, token: Callable[[], str]) -> None:
    with pytest.raises(Invalid) as refusal:
        commit(token())
    assert refusal.value.code == "invalid_token"


def test_it_waits_for_no_record(recommend: Recommend) -> None:
    recommended = recommend()
    recorder.settle()
    Decision.objects.all().delete()
    placement, _ = commit(recommended.commit_token)
    assert str(placement.based_on) == recommended.decision_id


def test_a_recommendation_that_says_too_much_has_no_token(
    recommend: Recommend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recommendation, "LONGEST_TOKEN", 300)
    recommended = recommend(request_id="x" * 200)
    assert (recommended.result, recommended.commit_token) == ("scheduled", None)


def test_a_tenant_that_is_gone(recommend: Recommend) -> None:
    everybody = Principal(user_id=3, username="root", role=Role.ADMIN, all_tenants=True)
    token = recommend().commit_token
    recorder.settle()
    Decision.objects.all().delete()  # it has grown old; nobody deletes a tenant that has any
    tenant_delete(tenant=Tenant.objects.get(code="live-cn"))
    with pytest.raises(Invalid) as refusal:
        commit(token, everybody)
    assert refusal.value.code == "unknown_tenant"


def test_a_token_that_is_too_old(recommend: Recommend, monkeypatch: pytest.MonkeyPatch) -> None:
    token = recommend().commit_token
    monkeypatch.setattr(committing, "COMMIT_SECONDS", -1)
    with pytest.raises(Conflict) as refusal:
        commit(token)
    assert refusal.value.code == "token_expired"


def test_another_tenants_token(recommend: Recommend) -> None:
    tenant_create(code="other")
    other = Principal(user_id=2, username="other", role=Role.PORTAL, tenant="other")
    token = recommend().commit_token
    with pytest.raises(NotFound):
        commit(token, other)
    commit(token)
    with pytest.raises(NotFound):
        commit(token, other)


def test_a_recommendation_for_no_tenant(recommend: Recommend) -> None:
    everybody = Principal(user_id=3, username="root", role=Role.ADMIN, all_tenants=True)
    token = recommend(everybody, profile="roomy").commit_token
    with pytest.raises(Invalid) as refusal:
        commit(token, everybody)
    assert refusal.value.code == "tenant_required"
