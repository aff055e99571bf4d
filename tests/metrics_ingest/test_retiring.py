"""What has measurements can't be deleted in the admin: the page says so, and offers to retire an IDC."""

import re
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.roles import Role
from idcsched.accounts.services import token_issue, user_create
from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict
from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_delete
from metrics_ingest.models import Run, Source
from metrics_ingest.services import Sample, rollups_refresh, samples_store
from tests.servers import free_port

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(user_create(username="ada", role=Role.ADMIN))
    return client


@pytest.fixture
def measured(line: Line, now: datetime) -> Idc:
    samples_store(samples=[Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=1, at=now)], now=now)
    rollups_refresh(now=now)
    return line.idc


def said(page: Any) -> str:
    return page.content.decode()


def form(page: Any) -> tuple[str, dict[str, str]]:
    """Where the page's button leads, and what it sends."""
    found = re.search(r'<form method="post" action="([^"]+)" class="narrow">(.*?)</form>', said(page), re.DOTALL)
    assert found
    return found[1], dict(re.findall(r'name="(\w+)" value="([^"]*)"', found[2]))


@pytest.mark.parametrize("many", [False, True], ids=["one", "chosen"])
def test_it_works(admin: Client, measured: Idc, many: bool) -> None:
    if many:
        chosen = {"action": "delete_selected", "_selected_action": measured.pk}
        page = admin.post("/admin/inventory/idc/", chosen)
    else:
        page = admin.get(f"/admin/inventory/idc/{measured.pk}/delete/")
    assert "permission" not in said(page)
    assert "Retire it instead" in said(page)

    address, fields = form(page)
    asked = admin.post(address, fields)
    assert "A retired IDC takes no more orders" in said(asked)
    done = admin.post(address, {**fields, "confirmed": "1", "message": "sold"}, follow=True)
    assert "Retired: gz-01" in said(done)
    measured.refresh_from_db()
    assert measured.status == "retired"
    change = Change.objects.get(kind="idc", action="update")
    assert (change.actor, change.via, change.message) == ("ada", "admin", "sold")


def test_the_refusal_says_so_too(measured: Idc) -> None:
    with pytest.raises(Conflict) as caught:
        idc_delete(idc=measured)
    assert caught.value.code == "in_use"
    assert caught.value.detail.endswith("): retire it instead")


def test_a_line_with_measurements_stays_and_is_not_a_matter_of_permissions(admin: Client, measured: Idc) -> None:
    page = admin.get(f"/admin/inventory/line/{measured.lines.get(code='ct').pk}/delete/")
    assert "This can't be deleted" in said(page)
    assert "permission" not in said(page)
    assert "Retire it instead" not in said(page)


def test_who_may_delete_a_row_may_delete_what_is_part_of_it(admin: Client, make_source: Any, now: datetime) -> None:
    source = make_source(f"http://127.0.0.1:{free_port()}/")
    Run.objects.create(source=source, claim="0192f0c1-0000-7000-8000-000000000000", started_at=now)
    admin.post(f"/admin/metrics_ingest/source/{source.pk}/delete/", {"post": "yes"})
    assert not Source.objects.exists()

    user = user_create(username="olga", role=Role.OPERATOR)
    token_issue(user=user, name="laptop")
    admin.post(f"/admin/accounts/user/{user.pk}/delete/", {"post": "yes"})
    assert not type(user).objects.filter(username="olga").exists()


def test_an_operator_still_may_not_delete_an_idc(client: Client, measured: Idc) -> None:
    client.force_login(user_create(username="olga", role=Role.OPERATOR))
    assert client.get(f"/admin/inventory/idc/{measured.pk}/delete/").status_code == 403
    retire = {"action": "retire", "_selected_action": measured.pk, "confirmed": "1"}
    client.post("/admin/inventory/idc/", retire)
    measured.refresh_from_db()
    assert measured.status == "online"
