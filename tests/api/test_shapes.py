"""`shapes/`: who may enter and read the traffic shape of a business, and how orders are priced by it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.scheduling.models import Shape
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.shapes import shapes_learnt_store
from metrics_ingest.billing.shape_evidence import LearnedShape, Verdict
from tests.api.conftest import Api, speaking

DAY = [1.0] * 12 + [4.0] * 12
ASKED = {"region": "A", "profile": "seed-example", "machines": [{"bandwidth_mbps": 10}], "labels": {"business": "live"}}
NIGHT = datetime(2031, 5, 7, 20, 0, tzinfo=UTC)
LEARNT = LearnedShape(
    verdict=Verdict.TRUSTED, shape=tuple([0.5] * 84 + [1.0] * 84), use=0.7, days=40.8, lines=14.2, error=0.07
)
UNTRUSTED = LearnedShape(verdict=Verdict.FEW_LINES, days=40.8, lines=1.5)


@pytest.fixture
def of_tenant(seed: Api) -> Callable[[str, str], Api]:
    """A caller of a role who is bound to a tenant."""
    for code in ("cn", "us"):
        tenant_create(code=code)

    def caller(role: str, tenant: str) -> Api:
        user = user_create(username=f"{role}-{tenant}", role=role, tenant=tenant)
        return speaking(token_issue(user=user, name="test").text)

    return caller


def priced(caller: Api, **fields: Any) -> tuple[str, str]:
    answer = caller.post("/schedule/", {**ASKED, **fields}, status=200)
    return answer["shape_from"], answer.get("shape_note", "")


def test_it_works(seed: Api) -> None:
    tenant_create(code="cn")
    assert priced(seed) == ("flat", "its traffic counts as flat: no shape is known for live")
    made = seed.post("/shapes/", {"business": "live", "entered": DAY}, status=201)
    assert made.items() >= {"tenant": None, "business": "live", "entered": DAY}.items()
    assert priced(seed) == (
        "entered",
        "its traffic counts by the shape of live that an operator has entered for all tenants",
    )
    assert priced(seed, shape=DAY) == ("request", "")
    seed.call("PATCH", f"/shapes/{made['id']}/", {"entered": [1] * 168}, status=200)
    seed.call("DELETE", f"/shapes/{made['id']}/", status=204)
    assert priced(seed)[0] == "flat"


def test_it_is_said_in_the_readers_language(seed: Api) -> None:
    answer = seed.post("/schedule/", ASKED, status=200, Accept_Language="zh-CN")
    assert answer["shape_note"] == "按平稳流量计：live 的流量曲线未知"
    recorder.flush()
    kept = seed.get(f"/decisions/{answer['decision_id']}/", Accept_Language="zh-CN")
    assert kept["shape_note"] == answer["shape_note"]


def test_a_decision_keeps_the_shape_that_it_was_priced_by(seed: Api) -> None:
    made = seed.post("/shapes/", {"business": "live", "entered": DAY}, status=201)
    answer = seed.post("/schedule/", ASKED, status=200)
    recorder.flush()
    seed.call("DELETE", f"/shapes/{made['id']}/", status=204)

    replayed = seed.post(f"/decisions/{answer['decision_id']}/replay/", {"data": "then"}, status=200)
    assert replayed["identical"]
    assert replayed["again"]["shape_from"] == "entered"
    on_todays_data = seed.post(f"/decisions/{answer['decision_id']}/replay/", {"data": "now"}, status=200)
    assert on_todays_data["again"]["shape_from"] == "flat"


@pytest.mark.parametrize("tenant", [None, "cn"])
def test_a_business_has_one_shape(seed: Api, tenant: str | None) -> None:
    tenant_create(code="cn")
    document = {"business": "live", "tenant": tenant, "entered": DAY}
    seed.post("/shapes/", document, status=201)
    assert seed.refused("POST", "/shapes/", document, status=409)[0] in {"already_exists", "conflict"}
    assert Shape.objects.count() == 1


def test_who_sees_it(seed: Api, of_tenant: Callable[[str, str], Api]) -> None:
    for tenant in (None, "cn", "us"):
        seed.post("/shapes/", {"business": "live", "tenant": tenant, "entered": DAY}, status=201)
    seen = of_tenant("portal", "cn").get("/shapes/")["results"]
    assert {each["tenant"] for each in seen} == {None, "cn"}
    assert len(seed.get("/shapes/?tenant=us")["results"]) == 1


@pytest.mark.parametrize(
    ("tenant", "status"), [pytest.param("cn", 201, id="its own"), ("us", 403), pytest.param(None, 403, id="of all")]
)
def test_an_operator_of_a_tenant_enters_its_shapes_alone(
    of_tenant: Callable[[str, str], Api], tenant: str | None, status: int
) -> None:
    document = {"business": "live", "tenant": tenant, "entered": DAY}
    answer = of_tenant("operator", "cn").call("POST", "/shapes/", document, status=status)
    assert status == 201 or answer["code"] == "tenant_not_allowed"
    assert Shape.objects.count() == (status == 201)


def test_it_is_of_one_tenants_business_for_good(seed: Api) -> None:
    tenant_create(code="cn")
    made = seed.post("/shapes/", {"business": "live", "entered": DAY}, status=201)
    assert seed.refused("PATCH", f"/shapes/{made['id']}/", {"tenant": "cn"}, status=400) == (
        "read_only",
        ["/tenant"],
    )


@pytest.mark.parametrize(("method", "changes"), [("PATCH", {"code": "other"}), ("DELETE", None)])
def test_a_tenant_with_shapes_keeps_its_code(seed: Api, method: str, changes: dict[str, Any] | None) -> None:
    """The live snapshot knows shapes by the tenant's code: under another one orders would be priced as if flat."""
    tenant_create(code="cn")
    made = seed.post("/shapes/", {"business": "live", "tenant": "cn", "entered": DAY}, status=201)
    refused = seed.call(method, "/tenants/cn/", changes, status=409)
    assert refused["code"] == "in_use"
    assert "traffic shape live" in refused["detail"]
    seed.call("DELETE", f"/shapes/{made['id']}/", status=204)
    seed.call(method, "/tenants/cn/", changes)
    assert not Tenant.objects.filter(code="cn").exists()


def test_a_learnt_shape_prices_the_next_order(seed: Api) -> None:
    assert priced(seed) == ("flat", "its traffic counts as flat: no shape is known for live")
    shapes_learnt_store(learned={(None, "live"): LEARNT}, now=NIGHT)
    assert priced(seed) == (
        "learnt",
        "its traffic counts by the shape of all tenants' live, learnt from 14 lines over 41 days with an error of 7%",
    )
    (row,) = seed.get("/shapes/")["results"]
    assert (row["entered"], row["in_force"]) == (None, "learnt")
    assert row["learnt"] == {
        "hours": [0.5] * 84 + [1.0] * 84,
        "at": "2031-05-07T20:00:00Z",
        "days": 40.8,
        "lines": 14.2,
        "error": 0.07,
        "use": 0.7,
    }
    night = {"at": "2031-05-07T20:00:00Z", "verdict": "trusted", "reason": None}
    assert row["last_attempt"] == {**night, "days": 40.8, "lines": 14.2, "error": 0.07}


def test_why_a_shape_is_not_trusted(seed: Api) -> None:
    shapes_learnt_store(learned={(None, "live"): UNTRUSTED}, now=NIGHT)
    assert priced(seed)[0] == "flat"
    (row,) = seed.get("/shapes/?verdict=few_lines")["results"]
    assert (row["in_force"], row["learnt"]) == (None, None)
    reason = "orders came and went on fewer than three lines"
    assert row["last_attempt"].items() >= {"verdict": "few_lines", "reason": reason, "error": None}.items()
    assert seed.get("/shapes/?verdict=trusted")["results"] == []


def test_what_is_entered_comes_before_what_is_learnt(seed: Api) -> None:
    shapes_learnt_store(learned={(None, "live"): LEARNT}, now=NIGHT)
    entered = seed.post("/shapes/", {"business": "live", "entered": DAY}, status=201)
    assert (entered["entered"], entered["in_force"]) == (DAY, "entered")
    assert entered["learnt"] is not None
    assert priced(seed)[1] == "its traffic counts by the shape of live that an operator has entered for all tenants"
    path = f"/shapes/{entered['id']}/"
    seed.call("DELETE", path, status=204)
    assert seed.get(path)["in_force"] == "learnt"
    assert (
        priced(seed)[1]
        == "its traffic counts by the shape of all tenants' live, learnt from 14 lines over 41 days with an error of 7%"
    )
    seed.call("PATCH", path, {"entered": DAY}, status=200)
    assert seed.call("PATCH", path, {"entered": None}, status=200)["in_force"] == "learnt"
    seed.call("DELETE", path, status=204)
    seed.get(path, status=404)
    assert priced(seed)[0] == "flat"


def test_a_night_does_not_stand_between_an_operator_and_an_edit(seed: Api) -> None:
    made = seed.post("/shapes/", {"business": "live", "entered": DAY}, status=201)
    etag = seed.raw("GET", f"/shapes/{made['id']}/")["ETag"]
    shapes_learnt_store(learned={(None, "live"): LEARNT}, now=NIGHT)
    seed.call("PATCH", f"/shapes/{made['id']}/", {"entered": [1] * 24}, status=200, If_Match=etag)


def test_without_a_learnt_shape_the_entered_one_can_not_be_taken_away(seed: Api) -> None:
    made = seed.post("/shapes/", {"business": "live", "entered": DAY}, status=201)
    assert seed.refused("PATCH", f"/shapes/{made['id']}/", {"entered": None}, status=400) == ("required", ["/entered"])
    assert seed.refused("POST", "/shapes/", {"business": "vod", "entered": None}, status=400)[1] == ["/entered"]


def test_a_decision_keeps_the_learnt_shape_that_it_was_priced_by(seed: Api) -> None:
    shapes_learnt_store(learned={(None, "live"): LEARNT}, now=NIGHT)
    answer = seed.post("/schedule/", ASKED, status=200)
    recorder.flush()
    Shape.objects.all().delete()
    replayed = seed.post(f"/decisions/{answer['decision_id']}/replay/", {"data": "then"}, status=200)
    assert replayed["identical"]
    assert (
        replayed["again"]["shape_note"]
        == "its traffic counts by the shape of all tenants' live, learnt from 14 lines over 41 days with an error of 7%"
    )


def test_a_learnt_shape_may_be_deleted_by_an_operator_of_its_tenant_alone(
    of_tenant: Callable[[str, str], Api],
) -> None:
    shapes_learnt_store(
        learned={(Tenant.objects.get(code=tenant).pk, "live"): LEARNT for tenant in ("cn", "us")}, now=NIGHT
    )
    operator = of_tenant("operator", "cn")
    (own,) = operator.get("/shapes/")["results"]
    assert own["tenant"] == "cn"
    others = Shape.objects.get(tenant__code="us")
    operator.call("DELETE", f"/shapes/{others.pk}/", status=404)
    operator.call("DELETE", f"/shapes/{own['id']}/", status=204)
