"""The table of docs/access.md says who may read and write which accounts; and no tenant has an administrator of its
own.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.services import token_issue, user_create, user_update
from idcsched.inventory.services import region_create, region_scope_create
from tests.api.conftest import Api, speaking
from tests.architecture.repository import ROOT

PASSWORD = "correct horse battery"
TITLES = [
    "reads users",
    "makes, changes and removes users",
    "makes and changes tokens",
    "rotates and revokes their own tokens",
    "rotates and revokes others' tokens",
]


def table() -> dict[str, list[str]]:
    """Return the table's cells, yes or no, by the kind of caller and in the order of the titles."""
    lines = (ROOT / "docs" / "access.md").read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| who | reads users"))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first:] if line.startswith("|")]
    assert rows[0][1:] == TITLES
    return {row[0]: row[1:] for row in rows[2:] if re.fullmatch("yes|no", row[1])}


@pytest.fixture
def caller(tenant: Tenant) -> Callable[[str], tuple[Api, User]]:
    def make(who: str) -> tuple[Api, User]:
        role = who.partition(" ")[0]
        home = tenant if role in {"viewer", "portal"} else None
        user = user_create(username="caller", role=role, tenant=home)
        if who == "operator of a region":
            region_scope_create(user=user, region=region_create(code="R"))
        return speaking(token_issue(user=user, name="t", read_only="read-only" in who).text), user

    return make


def outcomes(statuses: list[int]) -> str:
    """Return yes if all requests were let in, and no if none was; a mixture fails."""
    refused = [status in {403, 404} for status in statuses]
    assert all(refused) or not any(refused), statuses
    assert max(statuses) < 500, statuses
    return "no" if refused[0] else "yes"


def tried(api: Api, user: User) -> list[str]:
    """Try what each column is about on users of every role, and return yes or no for each column."""

    def status(method: str, path: str, body: Any = None) -> int:
        return api.raw(method, path, None if body is None else json.dumps(body)).status_code

    others = [user_create(username=f"other-{role}", role=role) for role in ("viewer", "portal", "operator", "admin")]
    tokens = [token_issue(user=other, name="o").token.pk for other in others]
    own = [token_issue(user=user, name="own").token.pk for _ in range(2)]
    reading = [status("GET", "/users/"), *(status("GET", f"/users/{other.username}/") for other in others)]
    making = [status("POST", "/users/", {"username": f"new-{other.role}", "role": other.role}) for other in others]
    changes: list[dict[str, Any]] = [
        {"password": PASSWORD},
        {"role": "viewer"},
        {"tenant": "live-cn"},
        {"tenant": None},
    ]
    changing = [status("PATCH", f"/users/{other.username}/", change) for other in others for change in changes]
    issuing = [status("POST", "/tokens/", {"user": other.username, "name": "n"}) for other in others]
    renaming = [status("PATCH", f"/tokens/{token}/", {"name": "n"}) for token in tokens]
    ending_own = [status("POST", f"/tokens/{own[0]}/rotate/", {}), status("POST", f"/tokens/{own[1]}/revoke/")]
    ending = [status("POST", f"/tokens/{token}/{way}/", None) for token in tokens for way in ("rotate", "revoke")]
    removing = [status("DELETE", f"/users/{other.username}/") for other in others]
    found = [reading, making + changing + removing, issuing + renaming, ending_own, ending]
    return [outcomes(statuses) for statuses in found]


@pytest.mark.parametrize("who", table())
def test_it_works(caller: Callable[[str], tuple[Api, User]], who: str) -> None:
    assert dict(zip(TITLES, tried(*caller(who)), strict=True)) == dict(zip(TITLES, table()[who], strict=True))


def test_no_administrator_of_a_tenant(admin: Api, tenant: Tenant) -> None:
    refusal = ("tenant_not_allowed", ["/tenant"])
    both = {"username": "ann", "role": "admin", "tenant": "live-cn"}
    assert admin.refused("POST", "/users/", both, status=400) == refusal
    admin.post("/users/", {**both, "role": "operator"}, status=201)
    assert admin.refused("PATCH", "/users/ann/", {"role": "admin"}, status=400) == refusal
    assert admin.refused("PATCH", "/users/admin/", {"tenant": "live-cn"}, status=400) == refusal
    admin.call("PATCH", "/users/ann/", {"role": "admin", "tenant": None}, status=200)
    assert not User.objects.filter(role="admin", tenant__isnull=False).exists()


def test_nor_in_the_admin(admin: Api, tenant: Tenant) -> None:
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username="admin"))
    sent = {"username": "ann", "role": "admin", "tenant": tenant.pk}
    page = client.post("/admin/accounts/user/add/", sent)
    assert "an administrator belongs to no tenant" in page.content.decode()
    assert not User.objects.filter(username="ann").exists()


def test_those_that_there_are_stay_and_are_named(
    admin: Api, tenant: Tenant, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = user_create(username="ann", role="operator", tenant=tenant)
    User.objects.filter(pk=bound.pk).update(role="admin", is_superuser=True)
    call_command("check", databases=["default"])
    assert "the administrator ann belongs to the tenant live-cn" in capsys.readouterr().err
    bound.refresh_from_db()
    assert user_update(user=bound, changes={"email": "ann@example.com"}).tenant == tenant
    assert not ApiToken.objects.filter(user=bound).exists()
    user_update(user=bound, changes={"tenant": None})
    call_command("check", databases=["default"])
    assert "ann" not in capsys.readouterr().err
