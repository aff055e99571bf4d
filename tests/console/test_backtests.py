"""The console's backtests: asked for at a profile or in the list, followed while they run, and shown in words, as a
table and as a file."""

import csv
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from io import BytesIO, StringIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook

from idcsched.accounts.services import tenant_create, user_create
from idcsched.planning.models import Backtest
from idcsched.planning.services import backtest_run
from tests.api.conftest import Api
from tests.api.test_backtests import BY_BILL, fleet, placed  # noqa: F401 - fixtures, used by name
from tests.console.conftest import Browser

pytestmark = pytest.mark.usefixtures("db")
LIST = "/console/backtests/"
HTML = {"accept": "text/html"}


def text_of(response: Any, status: int = 200) -> str:
    assert response.status_code == status
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def asked(client: Client, **fields: Any) -> Backtest:
    """Send the form on a profile's page that requests a backtest of this document over 30 days; return the backtest."""
    form = {"action": "backtest", "edit": "json", "document": json.dumps(fields.pop("document", BY_BILL)), **fields}
    answer = client.post("/console/profiles/room/", form)
    row = Backtest.objects.latest("id")
    assert (answer.status_code, answer["Location"]) == (302, f"{LIST}{row.pk}/")
    return row


def test_it_works(portal: Api, browser: Browser) -> None:
    """100 Mbps at 30 a Mbps have cost 3,000; under the draft they would have stood on the line at 10."""
    placed(portal, days_ago=20)
    client = browser("operator")
    row = asked(client)
    assert "It is queued." in text_of(client.get(f"{LIST}{row.pk}/"))
    backtest_run(backtest_id=row.pk)
    page = text_of(client.get(f"{LIST}{row.pk}/"))
    for said in (
        "The one order of the last 30 days would have added 1,000 CNY a month under the draft of room.",
        "That is 2,000 CNY less than under what is in force: 3,000.",
        "That is 2,000 CNY less than what was really done has added: 3,000.",
        "Without these orders, all lines cost 16,000 CNY a month.",
        'plugin flow : {"name": "flow", "plugin": "network_flow", "weight": 1} → –',
        "What the last 30 days would have cost under a draft of room",
        "In truth the orders were decided by room (1).",
        "From where room puts them to where the draft does: 1 order From To Orders Mbps roomy cheap 1 100",
        "From where they really stood to where the draft puts them: 1 order",
        "by region R 3,000 1,000 3,000 -2,000",
    ):
        assert said in page


def test_the_list_says_what_came_out(portal: Api, browser: Browser) -> None:
    placed(portal, days_ago=20)
    client = browser("operator")
    backtest_run(backtest_id=asked(client).pk)
    assert "would have added 1,000 CNY a month under the draft of room." in text_of(client.get(LIST))


def test_profiles_side_by_side(portal: Api, browser: Browser) -> None:
    placed(portal, days_ago=15)
    client = browser("operator")
    answer = client.post(LIST, {"profile": "room", "days": "20", "others": ["bill", "room"]})
    row = Backtest.objects.get()
    assert answer["Location"] == f"{LIST}{row.pk}/"
    assert [policy["name"] for policy in row.policies] == ["room", "bill"]
    backtest_run(backtest_id=row.pk)
    page = text_of(client.get(answer["Location"]))
    assert "The one order of the last 20 days would have added 3,000 CNY a month under room." in page
    assert "Of the profiles side by side, bill is the cheapest that places the most: 1,000." in page
    assert "added a month, CNY against room elsewhere than in truth" in page
    assert "room 3,000 – 0 0 0 0 bill 1,000 -2,000 1 0 0 0 what was really done 3,000 0 0 0 0 0" in page
    assert "by region R 3,000 1,000 3,000" in page


def test_the_same_document_is_no_draft(portal: Api, browser: Browser) -> None:
    document = json.loads(json.dumps(portal.get("/profiles/room/")))
    body = {name: document[name] for name in ("plugins",)}
    row = asked(browser("operator"), document=body)
    assert [policy["name"] for policy in row.policies] == ["room"]


def test_as_a_file(portal: Api, browser: Browser) -> None:
    placed(portal, days_ago=20)
    client = browser("operator")
    row = asked(client)
    assert client.get(f"{LIST}{row.pk}/file/", headers=HTML).status_code == 404, "there is no result yet"
    backtest_run(backtest_id=row.pk)
    client.cookies["zone"] = "Asia/Tokyo"
    answer = client.get(f"{LIST}{row.pk}/file/")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    head, *rows = csv.reader(StringIO(answer.content.decode("utf-8-sig")))
    assert head[:8] == [
        "decided by",
        "added a month, CNY",
        "against room",
        "orders",
        "elsewhere than in truth",
        "no place",
        "not decided",
        "overloaded time, percent",
    ]
    assert head[9:] == ["ISP: ct", "region: R"]
    assert [(*row[:5], row[-1]) for row in rows] == [
        ("room", "3000.0", "0.0", "1", "0", "3000.0"),
        ("the draft", "1000.0", "-2000.0", "1", "1", "1000.0"),
        ("what was really done", "3000.0", "0.0", "1", "0", "3000.0"),
    ]
    of_the_browser = timezone.localtime(row.created_at, ZoneInfo("Asia/Tokyo"))
    assert f'filename="backtest-room-{of_the_browser:%Y-%m-%d-%H%M}.csv"' in answer["Content-Disposition"]


def test_as_a_file_for_excel(portal: Api, browser: Browser) -> None:
    placed(portal, days_ago=20)
    client = browser("operator")
    row = asked(client)
    backtest_run(backtest_id=row.pk)
    answer = client.get(f"{LIST}{row.pk}/file/?format=xlsx")
    assert answer["Content-Disposition"].endswith('.xlsx"')
    _head, *rows = load_workbook(BytesIO(answer.content)).active.values
    assert [found[:3] for found in rows[:2]] == [("room", 3000, 0), ("the draft", 1000, -2000)]


def test_while_it_runs(portal: Api, browser: Browser) -> None:
    """The page asks again for its live part, and is loaded anew once there is a result."""
    placed(portal, days_ago=20)
    client = browser("operator")
    row = asked(client)
    address, polling = f"{LIST}{row.pk}/", {"HX-Request": "true"}
    Backtest.objects.update(state="running", beat_at=timezone.now(), done=3, total=8)
    waiting = client.get(address, headers=polling)
    assert "3 of 8 decisions are made." in text_of(waiting)
    assert "HX-Refresh" not in waiting.headers
    Backtest.objects.update(state="queued")
    backtest_run(backtest_id=row.pk)
    assert client.get(address, headers=polling).headers["HX-Refresh"] == "true"


def test_its_days_are_those_of_the_billing_zone(portal: Api, browser: Browser, settings: Any) -> None:
    """In the billing zone, Shanghai, it is the next day already; a reader in New York is shown the same days."""
    settings.BILLING_ZONE = "Asia/Shanghai"
    client = browser("operator")
    row = asked(client)
    Backtest.objects.update(created_at=datetime(2031, 3, 10, 17, 30, tzinfo=UTC))
    client.cookies["zone"] = "America/New_York"
    assert "from 2031-02-09 to 2031-03-10" in text_of(client.get(f"{LIST}{row.pk}/"))


def test_nobody_takes_it_up(portal: Api, browser: Browser) -> None:
    client = browser("operator")
    row = asked(client)
    Backtest.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert "none has taken it up. If that goes on, no worker is running." in text_of(client.get(f"{LIST}{row.pk}/"))


def test_days_without_an_order(browser: Browser) -> None:
    client = browser("operator")
    row = asked(client)
    backtest_run(backtest_id=row.pk)
    page = text_of(client.get(f"{LIST}{row.pk}/"))
    assert "It could not be worked out: no order of these days that was placed has a record." in page


def test_given_up(portal: Api, browser: Browser) -> None:
    client = browser("operator")
    row = asked(client)
    answer = client.post(f"{LIST}{row.pk}/")
    assert (answer.status_code, answer["Location"]) == (302, LIST)
    assert not Backtest.objects.exists()
    assert "The backtest is deleted." in text_of(client.get(LIST))
    assert client.get(f"{LIST}{row.pk}/", headers=HTML).status_code == 404


@pytest.mark.parametrize("days", ["0", "40", "", "many", "9" * 30])
def test_days_that_can_not_be(days: str, browser: Browser) -> None:
    answer = browser("operator").post(LIST, {"profile": "room", "days": days, "others": ["bill"]})
    assert "this must be between 1 and 39" in text_of(answer, 400)
    assert not Backtest.objects.exists()


def test_a_bad_draft_stays_in_the_form(browser: Browser) -> None:
    form = {"action": "backtest", "edit": "json", "document": '{"plugins": [{"name": "x", "plugin": "nobody"}]}'}
    page = text_of(browser("operator").post("/console/profiles/room/", form))
    assert "One thing is wrong with the draft:" in page
    assert not Backtest.objects.exists()


def test_no_such_profile(browser: Browser) -> None:
    answer = browser("operator").post(LIST, {"profile": "rom", "days": "20"}, headers=HTML)
    assert "There is no profile rom." in text_of(answer, 404)


def test_who_may_look_and_who_may_ask(portal: Api, browser: Browser) -> None:
    row = asked(browser("operator"))
    viewer = browser("viewer")
    assert "Work it out" not in text_of(viewer.get(LIST))
    assert "Cancel" not in text_of(viewer.get(f"{LIST}{row.pk}/"))
    for address in (LIST, f"{LIST}{row.pk}/"):
        assert viewer.post(address, headers=HTML).status_code == 403
    assert viewer.post("/console/profiles/room/", {"action": "backtest"}, headers=HTML).status_code == 403
    assert Backtest.objects.exists()


def test_those_of_another_tenant_are_not_there(portal: Api, browser: Browser) -> None:
    row = asked(browser("operator"))
    tenant_create(code="other")
    client = Client()
    client.force_login(user_create(username="theirs", role="operator", tenant="other"))
    assert "Nobody has asked yet." in text_of(client.get(LIST))
    assert client.get(f"{LIST}{row.pk}/", headers=HTML).status_code == 404


def test_it_takes_a_bounded_number_of_queries(
    portal: Api, browser: Browser, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    placed(portal, days_ago=20)
    client = browser("operator")
    for _ in range(5):
        row = asked(client)
        backtest_run(backtest_id=row.pk)
    assert text_of(client.get(LIST)).count("would have added 1,000 CNY a month") == 5
    with django_assert_max_num_queries(6):
        client.get(LIST)
    with django_assert_max_num_queries(6):
        client.get(f"{LIST}{row.pk}/")
