"""`changes/`: the history, as far as each may see it, with the reasons that people gave."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from idcsched.audit.models import Change
from tests.api.conftest import Api

TAINT = {"idc": "a", "key": "cable", "effect": "NoSchedule"}


def test_it_works(seed: Api, api: Callable[..., Api]) -> None:
    operator = api("operator")
    made = operator.call("POST", "/taints/", TAINT, status=201, X_Change_Message="cable cut", X_Request_ID="r-1")
    found = operator.get("/changes/?kind=taint&http_request_id=r-1")
    assert found["next"] is None
    (change,) = found["results"]
    assert (change["actor"], change["via"], change["action"]) == ("operator", "api", "create")
    assert (change["message"], change["http_request_id"], change["before"]) == ("cable cut", "r-1", None)
    assert change["after"]["key"] == "cable"
    assert operator.get(f"/changes/{change['id']}/") == change
    operator.call("DELETE", f"/taints/{made['id']}/", status=204)
    assert operator.get("/changes/?kind=taint&action=delete")["results"][0]["after"] is None


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param("光缆断了".encode().decode("latin-1"), "光缆断了", id="UTF-8"),
        pytest.param(quote("光缆断了, 100%"), "光缆断了, 100%", id="percent-encoded"),
        pytest.param("50 % off", "50 % off", id="a lonely per cent sign"),
        pytest.param("  ", "", id="blanks"),
    ],
)
def test_a_reason_is_kept(seed: Api, sent: str, kept: str) -> None:
    seed.call("POST", "/taints/", TAINT, status=201, X_Change_Message=sent)
    assert Change.objects.filter(kind="taint").latest("id").message == kept


@pytest.mark.parametrize(
    "sent", [pytest.param("x" * 501, id="too long"), "%FF", "\xff", "%00", pytest.param("%ED%A0%80", id="surrogate")]
)
def test_a_reason_is_refused(seed: Api, sent: str) -> None:
    before = Change.objects.count()
    problem = seed.call("POST", "/taints/", TAINT, status=400, X_Change_Message=sent)
    assert problem["code"] == "invalid_message"
    assert Change.objects.count() == before


def test_the_filters(seed: Api) -> None:
    seed.call("POST", "/taints/", TAINT, status=201, X_Change_Message="night shift")
    newest = seed.get("/changes/?limit=1")["results"][0]
    assert seed.get("/changes/?q=night")["results"] == [newest]
    assert seed.get(f"/changes/?key={newest['key']}&kind=taint&kind=idc&via=api")["results"] == [newest]
    assert seed.get("/changes/?actor=nobody")["results"] == []
    assert seed.get("/changes/?at__gte=2199-01-01T00:00:00Z")["results"] == []
    assert newest in seed.get("/changes/?at__gte=2001-01-01T00:00:00Z")["results"]
    assert seed.call("GET", "/changes/?colour=red", status=400)["code"] == "unknown_parameter"


def test_the_pages_stay_put(seed: Api) -> None:
    both, first = (seed.get(f"/changes/?limit={limit}") for limit in (10, 5))
    seed.post("/taints/", TAINT, status=201)
    second = seed.get(first["next"].partition("/api/v1")[2])
    assert [*first["results"], *second["results"]] == both["results"]


def test_accounts_are_for_administrators(seed: Api, api: Callable[..., Api]) -> None:
    seed.post("/tenants/", {"code": "new"}, status=201)
    seed.post("/users/", {"username": "new"}, status=201)
    seed.post("/tokens/", {"user": "new", "name": "new"}, status=201)
    seed.post("/region_scopes/", {"user": "new", "region": "B"}, status=201)
    kinds = {"tenant", "user", "token", "region_scope"}
    assert {change["kind"] for change in seed.get("/changes/?limit=1000")["results"]} >= kinds
    shown = {change["kind"] for change in api("operator").get("/changes/?limit=1000")["results"]}
    assert shown
    assert not shown & kinds


def test_those_of_one_tenant_see_what_they_changed_themselves(seed: Api, portal: Api) -> None:
    assert portal.get("/changes/")["results"] == []
    Change.objects.filter(kind="idc", key="a").update(actor="portal")
    assert {change["actor"] for change in portal.get("/changes/")["results"]} == {"portal"}


def test_nobody_writes_it(seed: Api) -> None:
    newest = seed.get("/changes/?limit=1")["results"][0]["id"]
    for method in ("PUT", "PATCH", "DELETE"):
        assert seed.call(method, f"/changes/{newest}/", {}, status=405)
    assert seed.call("POST", "/changes/", {}, status=405)
