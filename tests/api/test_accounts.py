"""Tenants, users and region scopes over the API, and who is asking."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.audit.models import Change
from idcsched.inventory.models import Idc
from idcsched.ledger.models import Headcount
from tests.api.conftest import Api, speaking

TENANT = {
    "code": "shop",
    "name": "The shop",
    "default_profile": "default",
    "callback_hosts": ["hooks.example.com"],
    "quota_bandwidth_mbps": 500.0,
    "quota_machines": 20,
}
USER = {"username": "ann", "role": "operator", "email": "ann@example.com", "password": "correct horse battery"}


def test_it_works(admin: Api) -> None:
    """A tenant and a user of it: made, read, changed, removed."""
    assert admin.post("/tenants/", TENANT, status=201) == TENANT
    assert admin.get("/tenants/shop/") == TENANT
    assert admin.call("PATCH", "/tenants/shop/", {"quota_machines": None}, status=200)["quota_machines"] is None
    made = admin.post("/users/", {**USER, "tenant": "shop"}, status=201)
    assert (made["username"], made["tenant"], made["is_active"]) == ("ann", "shop", True)
    assert "password" not in made
    assert User.objects.get(username="ann").check_password(USER["password"])
    assert admin.refused("DELETE", "/tenants/shop/", status=409) == ("in_use", [])
    admin.call("DELETE", "/users/ann/", status=204)
    admin.call("DELETE", "/tenants/shop/", status=204)
    assert admin.get("/tenants/?code=shop")["count"] == 0


def test_tokens_that_have_ended_do_not_keep_a_tenant(admin: Api, client: Client) -> None:
    """A tenant with a token in force cannot be deleted.

    One whose tokens are revoked or expired can, and they go with it; the admin's page says the same.
    """
    admin.post("/tenants/", TENANT, status=201)
    token = {"user": "admin", "tenant": "shop"}
    revoked = admin.post("/tokens/", {**token, "name": "revoked"}, status=201)
    expired = admin.post("/tokens/", {**token, "name": "expired"}, status=201)
    unused = admin.post("/tokens/", {"user": "admin", "name": "another"}, status=201)
    admin.post(f"/tokens/{revoked['id']}/revoke/", None, status=200)
    problem = admin.call("DELETE", "/tenants/shop/", status=409)
    assert (problem["code"], "expired" in problem["detail"]) == ("in_use", True)
    assert "revoked" not in problem["detail"]

    long_ago = timezone.now() - timedelta(days=9)
    ApiToken.objects.filter(pk=expired["id"]).update(created_at=long_ago, expires_at=long_ago + timedelta(days=1))
    client.force_login(User.objects.get(username="admin"))
    page = f"/admin/accounts/tenant/{Tenant.objects.get(code='shop').pk}/delete/"
    assert 'name="post"' in client.get(page).content.decode()
    admin.call("DELETE", "/tenants/shop/", status=204)
    assert set(ApiToken.objects.values_list("pk", flat=True)) >= {unused["id"]}
    assert not ApiToken.objects.filter(pk__in=[revoked["id"], expired["id"]]).exists()


def test_a_count_of_no_machines_does_not_keep_a_tenant(admin: Api) -> None:
    admin.post("/tenants/", TENANT, status=201)
    admin.post("/regions/", {"code": "A"}, status=201)
    admin.post("/idcs/", {"code": "a", "region": "A"}, status=201)
    tenant, idc = Tenant.objects.get(code="shop"), Idc.objects.get(code="a")
    Headcount.objects.create(tenant=tenant, idc=idc, business="web", machines=1)
    Headcount.objects.create(tenant=tenant, idc=idc, business="gone", machines=0)
    problem = admin.call("DELETE", "/tenants/shop/", status=409)
    assert ("web" in problem["detail"], "gone" in problem["detail"]) == (True, False)

    Headcount.objects.update(machines=0)
    admin.call("DELETE", "/tenants/shop/", status=204)


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        pytest.param({"default_profile": "nope"}, "unknown", "/default_profile", id="a profile that does not exist"),
        pytest.param({"default_profile": "-x"}, "invalid_code", "/default_profile", id="no code"),
        pytest.param({"callback_hosts": ["https://x"]}, "invalid_host", "/callback_hosts", id="a URL is no host"),
        pytest.param({"callback_hosts": [5]}, "invalid_host", "/callback_hosts", id="a number is no host"),
        pytest.param({"quota_machines": -1}, "out_of_range", "/quota_machines", id="a quota below nothing"),
        pytest.param({"quota_machines": "5"}, "wrong_type", "/quota_machines", id="a text is no number"),
        pytest.param({"colour": 1}, "unknown_field", "/colour", id="a field that is none"),
    ],
)
def test_a_tenant_is_refused(admin: Api, change: dict[str, object], code: str, pointer: str) -> None:
    document = {**TENANT, **change}
    assert admin.refused("POST", "/tenants/", document, status=400) == (code, [pointer])
    assert not Tenant.objects.filter(code="shop").exists()


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        pytest.param({"role": "king"}, "invalid_choice", "/role", id="a role that is none"),
        pytest.param({"tenant": "nope"}, "unknown", "/tenant", id="a tenant that does not exist"),
        pytest.param({"language": "xx"}, "invalid_choice", "/language", id="a language that is none"),
        pytest.param({"password": "password"}, "password_too_common", "/password", id="everybody's password"),
        pytest.param({"is_superuser": True}, "unknown_field", "/is_superuser", id="Django's own flags"),
    ],
)
def test_a_user_is_refused(admin: Api, change: dict[str, object], code: str, pointer: str) -> None:
    assert admin.refused("POST", "/users/", {**USER, **change}, status=400) == (code, [pointer])
    assert not User.objects.filter(username="ann").exists()


def test_the_last_administrator_stays(admin: Api) -> None:
    assert admin.refused("PATCH", "/users/admin/", {"role": "viewer"}, status=409) == ("last_admin", [])
    assert admin.refused("DELETE", "/users/admin/", status=409) == ("last_admin", [])


def test_a_region_scope_shuts_an_operator_out_of_the_rest(seed: Api, api: Callable[..., Api]) -> None:
    operator = api("operator")
    made = seed.post("/region_scopes/", {"user": "operator", "region": "B"}, status=201)
    taint = {"idc": "a", "key": "k", "effect": "NoSchedule"}
    assert operator.get("/me/")["regions"] == ["B"]
    assert operator.refused("POST", "/taints/", taint, status=403) == ("region_not_allowed", [])
    seed.call("DELETE", f"/region_scopes/{made['id']}/", status=204)
    operator.post("/taints/", taint, status=201)


def test_who_is_asking(portal: Api, api: Callable[..., Api]) -> None:
    found = portal.get("/me/")
    assert (found["username"], found["role"], found["tenant"]) == ("portal", "portal", "live-cn")
    assert (found["all_tenants"], found["read_only"], found["regions"]) == (False, False, None)
    assert found["may"] == ["read", "own_tokens", "schedule"]
    assert found["token"]["name"] == "test"
    assert api("admin", read_only=True).get("/me/")["may"] == ["read", "read_all_tenants", "read_accounts"]


@pytest.mark.parametrize("role", ["viewer", "portal", "operator"])
def test_who_reads_all_tenants_is_told_so(tenant: Tenant, role: str) -> None:
    tenant_create(code="other")
    of_one = user_create(username="one", role=role, tenant=tenant)
    of_all = user_create(username="all", role=role)
    for user, token, tenants in (
        (of_one, None, 1),
        (of_all, None, 2),
        (of_all, tenant, 2 if role == "operator" else 1),
    ):
        api = speaking(token_issue(user=user, name="t", tenant=token).text)
        found, told = api.get("/tenants/")["count"], api.get("/me/")
        assert (found, told["all_tenants"], "read_all_tenants" in told["may"]) == (tenants, tenants == 2, tenants == 2)


def test_everybody_of_a_tenant_sees_their_own_alone(portal: Api, admin: Api) -> None:
    admin.post("/tenants/", TENANT, status=201)
    assert [tenant["code"] for tenant in portal.get("/tenants/")["results"]] == ["live-cn"]
    assert portal.refused("GET", "/tenants/shop/", status=404) == ("not_found", [])
    assert admin.get("/tenants/")["count"] == 2


def test_a_password_stands_nowhere(admin: Api) -> None:
    admin.post("/users/", USER, status=201)
    admin.call("PATCH", "/users/ann/", {"password": "another horse battery"}, status=200)
    assert "horse" not in str([(change.before, change.after) for change in Change.objects.all()])
    assert Change.objects.filter(kind="user", key="ann", after={"password": "changed"}).exists()


@pytest.mark.no_cover
def test_a_list_takes_few_queries(
    seed: Api, django_assert_max_num_queries: Callable[..., Any], subtests: pytest.Subtests
) -> None:
    for number in range(20):
        seed.post("/tenants/", {"code": f"t{number}"}, status=201)
        seed.post("/users/", {"username": f"u{number}", "tenant": f"t{number}"}, status=201)
        seed.post("/region_scopes/", {"user": f"u{number}", "region": "B"}, status=201)
        seed.post("/tokens/", {"user": f"u{number}", "name": "t"}, status=201)
    for path in ("/tenants/", "/users/", "/region_scopes/", "/tokens/", "/changes/"):
        with subtests.test(path), django_assert_max_num_queries(4):
            assert len(seed.get(path)["results"]) >= 20
