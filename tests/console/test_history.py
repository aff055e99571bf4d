"""The console's history: who changed what, from what to what, when and why."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.context import origin_set
from idcsched.audit.models import Change, Via
from idcsched.inventory.models import Idc
from idcsched.inventory.services import affinity_create, idc_create, idc_update, region_create, taint_create
from idcsched.scheduling.services import profile_create

pytestmark = pytest.mark.usefixtures("db")
PAGE = "/console/changes/"


@pytest.fixture
def idc() -> Idc:
    """An IDC whose name was changed by wang, who gave a reason, and that was tainted by li."""
    with origin_set(actor="import", via=Via.COMMAND, message="the first fleet"):
        region_create(code="gd")
        idc = idc_create(code="gz-1", region="gd", name="Old")
    with origin_set(actor="wang", via=Via.ADMIN, message="OPS-7"):
        idc_update(idc=idc, changes={"name": "New"})
    with origin_set(actor="li", via=Via.CONSOLE):
        taint_create(idc=idc, key="power")
    return idc


def shown(client: Client, query: str = "", role: str = "viewer", **fields: Any) -> str:
    client.force_login(user_create(username=f"the-{role}", role=role, **fields))
    response = client.get(f"{PAGE}{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def rows(page: str) -> list[str]:
    """Return the rows of the history."""
    return page.partition('class="feed flush"')[2].partition("</section>")[0].split('<li id="c-')[1:]


def test_it_works(client: Client, idc: Idc) -> None:
    tainted, renamed, made, *_before = rows(shown(client))
    assert "<b>li</b> tainted <code>gz-1</code>" in tainted
    assert "<b>wang</b> changed" in renamed
    assert "<q>OPS-7</q>" in renamed
    assert '<td class="one-line">Name</td><td>Old</td><td>New</td>' in renamed
    assert 'href="/console/idcs/gz-1/">Open' in renamed
    assert "<b>import</b> made 1 × region, 1 × IDC" in made or "<b>import</b> made 1 × IDC, 1 × region" in made
    assert "2 changes" in made


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("?actor=wang", ["OPS-7"]),
        ("?kind=taint", ["tainted"]),
        ("?q=OPS", ["OPS-7"]),
        ("?until=2001-01-01T00:00", []),
        ("?kind=nonsense&actor=wang", ["OPS-7"]),
    ],
)
def test_it_is_narrowed(client: Client, idc: Idc, query: str, left: list[str]) -> None:
    found = rows(shown(client, query))
    assert len(found) == len(left)
    assert all(text in row for text, row in zip(left, found, strict=True))


def test_an_empty_list_says_why(client: Client) -> None:
    assert "No change matches." in shown(client, "?actor=nobody")
    Change.objects.all().delete()
    assert "Nobody has changed anything yet" in shown(client, role="operator")


def test_a_long_history_has_pages(client: Client) -> None:
    for number in range(130):
        with origin_set(actor="wang", via=Via.API, request_id=f"request-{number}"):
            tenant_create(code=f"t-{number}")
    page = shown(client, "?actor=wang", role="admin")
    assert len(rows(page)) == 100
    older = page.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    page = " ".join(client.get(f"{PAGE}{older}").content.decode().split())
    assert len(rows(page)) == 30
    assert "Newest" in page
    assert "Older" not in page


def test_each_thing_that_has_a_page_leads_there(client: Client, idc: Idc) -> None:
    with origin_set(actor="wang", via=Via.API):
        prefer = affinity_create(idc=idc, kind="prefer", weight=5)
        idc_update(idc=idc, changes={"code": "gz-2"})
        tenant_create(code="own")
    tenant, renamed, affinity, *_others = rows(shown(client, "?actor=wang", role="admin"))
    assert 'href="/console/idcs/gz-2/">Open' in renamed
    assert f'href="/admin/inventory/affinity/{prefer.pk}/change/">Open' in affinity
    assert 'href="/admin/accounts/tenant/?q=own">Open' in tenant
    for row in (tenant, renamed, affinity):
        assert client.get(row.partition('link small" href="')[2].partition('"')[0]).status_code == 200


def test_of_a_large_command_the_first_changes_are_shown_one_by_one(client: Client) -> None:
    with origin_set(actor="import", via=Via.COMMAND, message="the tenants"):
        for number in range(30):
            tenant_create(code=f"t-{number}")
    (row,) = rows(shown(client, "?actor=import", role="admin"))
    assert "30 changes" in row
    assert row.count("<b>import</b> made tenant") == 20
    assert "and 10 more" in row


def test_a_tenants_user_sees_what_it_did_itself(client: Client, idc: Idc) -> None:
    tenant = tenant_create(code="own")
    with origin_set(actor="the-viewer", via=Via.API):
        profile_create(code="mine", body={"plugins": [{"name": "available", "plugin": "available"}]})
    (row,) = rows(shown(client, tenant=tenant))
    assert "<code>mine</code>" in row
    assert 'href="/console/profiles/mine/">Open' in row


def test_changes_of_accounts_are_for_administrators(client: Client) -> None:
    with origin_set(actor="root", via=Via.ADMIN):
        user_create(username="somebody", role="viewer")
    assert "somebody" not in shown(client, "?actor=root")
    assert "somebody" in shown(client, "?actor=root", role="admin")


def test_it_takes_a_bounded_number_of_queries(
    client: Client, idc: Idc, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    shown(client)
    for number in range(20):
        idc_update(idc=idc, changes={"name": f"name {number}"})
    with django_assert_max_num_queries(4):
        client.get(PAGE)


@pytest.mark.parametrize("query", ["?before=x", f"?before={'9' * 30}", "?since=yesterday"])
def test_what_makes_no_sense_is_ignored_or_refused_at_its_field(client: Client, idc: Idc, query: str) -> None:
    assert rows(shown(client, query))


def test_the_overview_leads_there(client: Client) -> None:
    client.force_login(user_create(username="reader", role="viewer"))
    assert f'href="{PAGE}">all changes' in client.get("/console/").content.decode()
