"""The page on which one IDC is tainted, or several at once, with what that would do and what others did meanwhile."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.forms import ChoiceField
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create
from idcsched.audit.context import origin_set
from idcsched.audit.models import Change
from idcsched.console import taint as page_of_taints
from idcsched.framework.request import HypotheticalTaint
from idcsched.inventory.admin.taint_forms import SelectionTaintForm
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.services import (
    idc_create,
    isp_create,
    region_create,
    region_scope_create,
    taint_create,
    taints_delete,
)
from idcsched.planning.taint_consequence import taint_consequence, taints_consequence
from tests.console.conftest import Browser
from tests.console.test_consequence import Recommend, orders  # noqa: F401 - a fixture
from tests.placement.conftest import fleet, order, recommend  # noqa: F401 - fixtures, used by name

pytestmark = pytest.mark.usefixtures("db")
MANY, ONE, LIST = "/console/taint/", "/console/idcs/gz-1/taint/", "/console/idcs/"
UNDO = "/console/taint/undo/"
FORM = {"key": "switch", "effect": "NoSchedule", "reason": "OPS-1"}
BOTH = {**FORM, "idc": ["gz-1", "bj-1"]}


@pytest.fixture
def idcs() -> dict[str, Idc]:
    region_create(code="gz", name="广州 Guangzhou")
    region_create(code="bj")
    line = {"isp": "ct", "purchased_mbps": 1000}
    isp_create(code="ct")
    rows = [idc_create(code=code, region=code[:2], lines=[line]) for code in ("gz-1", "bj-1", "gz-2")]
    return {row.code: row for row in rows}


def sent(answer: Any, status: int = 200) -> str:
    assert answer.status_code == status
    return unescape(" ".join(answer.content.decode().split()))


def seen(page: str) -> str:
    return page.partition('name="seen" value="')[2].partition('"')[0]


def checked(page: str, name: str) -> list[str]:
    """Return the values of the radio buttons that are checked."""
    buttons = re.findall(rf'<input type="radio" name="{name}" value="([^"]*)"([^>]*)>', page)
    return [value for value, rest in buttons if "checked" in rest]


def undoable(page: str) -> dict[str, str]:
    """Return what the button sends that lifts the taints just set."""
    found = re.search(r'<button name="taints" value="([0-9,]+)">Undo</button>', page)
    return {"taints": found[1]} if found else {}


def bound(browser: Browser, region: str = "gz") -> Client:
    client = browser("operator")
    region_scope_create(user=User.objects.get(username="operator"), region=region)
    return client


def test_it_works(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    page = sent(client.get(f"{MANY}?idc=gz-1&idc=bj-1"))
    assert "Taint 2 IDCs" in page
    assert re.findall(r'name="idc" value="([^"]*)" checked', page) == ["gz-1", "bj-1"]
    answer = client.post(MANY, {**BOTH, "seen": seen(page), "message": "as agreed"}, follow=True)
    assert "gz-1, bj-1 are tainted: switch:NoSchedule." in sent(answer)
    assert set(Taint.objects.values_list("idc__code", "reason")) == {("gz-1", "OPS-1"), ("bj-1", "OPS-1")}
    changes = Change.objects.filter(kind="taint")
    assert {(change.actor, change.via, change.message) for change in changes} == {("operator", "console", "as agreed")}
    assert len({change.request_id for change in changes}) == 1, "together in the history"


def test_one_idc_has_an_address_of_its_own(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    page = sent(client.get(ONE))
    assert "Taint gz-1" in page
    assert 'type="checkbox" name="idc"' not in page
    answer = client.post(ONE, {**FORM, "seen": seen(page)})
    assert answer.headers["Location"] == "/console/idcs/gz-1/"
    assert "gz-1 is tainted: switch:NoSchedule." in sent(client.get("/console/idcs/gz-1/"))
    assert client.get("/console/idcs/nope/taint/").status_code == 404


def test_it_tells_the_taints_that_an_idc_has_already(browser: Browser, idcs: dict[str, Idc]) -> None:
    """Those in force and those to come, with their windows; what is over is not told."""
    now, hour = timezone.now(), timedelta(hours=1)
    client = browser("operator")
    client.cookies["zone"] = "Asia%2FTokyo"
    assert "already" not in sent(client.get(ONE))
    starts = datetime(now.year + 1, 5, 1, 1, tzinfo=UTC)
    taint_create(idc=idcs["gz-1"], key="power", reason="OPS-2")
    taint_create(idc=idcs["gz-1"], key="fan", starts_at=starts, ends_at=starts + hour)
    taint_create(idc=idcs["gz-1"], key="gone", starts_at=now - 2 * hour, ends_at=now - hour)
    taint_create(idc=idcs["bj-1"], key="other")
    for address, expected, absent in ((ONE, "It has already:", "other"), (f"{MANY}?idc=gz-1", "gz-1 <code>", "other")):
        told = sent(client.get(address)).partition('id="present"')[2].partition("</p>")[0]
        assert expected in told
        assert "<code>power:NoSchedule</code> OPS-2" in told
        assert "<code>fan:NoSchedule</code> (05-01 10:00 – 11:00)" in told
        assert not {word for word in ("gone", absent) if word in told}


def test_it_ends_by_itself_after_the_hours_chosen(browser: Browser, idcs: dict[str, Idc]) -> None:
    browser("operator").post(ONE, {**FORM, "lasts": "4"})
    taint = Taint.objects.get()
    assert taint.ends_at
    assert timedelta(hours=3) < taint.ends_at - timezone.now() <= timedelta(hours=4)


@pytest.mark.parametrize("day", ["Sunday", "Monday"])
def test_it_is_planned_for_a_night_at_one_choice(browser: Browser, idcs: dict[str, Idc], day: str) -> None:
    """The choice of a night shows its date, and the message afterwards shows the hours."""
    client = browser("operator")
    client.cookies["zone"] = "Asia%2FTokyo"
    offered = sent(client.get(ONE))
    page = sent(client.post(ONE, {**FORM, "lasts": day.lower()}, follow=True))
    taint = Taint.objects.get()
    assert taint.starts_at
    assert (
        f"in the night to {day}, 01:00 to 05:00 ({taint.starts_at.astimezone(ZoneInfo('Asia/Tokyo')):%m-%d})" in offered
    )
    assert " 05:00)." in page.partition('role="status">')[2].partition("<form")[0]
    assert taint.ends_at
    assert f"{taint.ends_at.astimezone(ZoneInfo('Asia/Tokyo')):%A %H:%M}" == f"{day} 05:00"
    assert taint.starts_at
    assert taint.ends_at - taint.starts_at <= timedelta(hours=4)


def test_it_holds_until_a_night_is_over_at_one_choice(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    client.cookies["zone"] = "Asia%2FTokyo"
    asked = sent(client.post(ONE, {**FORM, "lasts": "until_sunday", "ask": ""}))
    client.post(ONE, {**FORM, "lasts": "until_sunday"})
    taint = Taint.objects.get()
    assert taint.starts_at is None
    assert taint.ends_at
    assert f"{taint.ends_at.astimezone(ZoneInfo('Asia/Tokyo')):%A %H:%M}" == "Sunday 05:00"
    assert f"In force until {taint.ends_at.astimezone(ZoneInfo('Asia/Tokyo')):%m-%d} 05:00 (Asia/Tokyo)." in asked


def test_a_night_that_has_begun_has_the_date_of_the_reader_s_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 02:32 in Shanghai it is still the day before in UTC."""
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 27, 18, 32, tzinfo=UTC))
    with timezone.override("Asia/Shanghai"):
        lasts = SelectionTaintForm().fields["lasts"]
    assert isinstance(lasts, ChoiceField)
    assert "tonight, 01:00 to 05:00 (11-28)" in dict(lasts.choices).values()


def test_the_preview_says_when_the_taint_is_in_force(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    assert "In force from now on, until it is lifted." in sent(client.post(ONE, {**FORM, "ask": ""}))
    times = {"starts_at": "2099-01-02T03:04", "ends_at": "2099-01-02T05:00"}
    client.cookies["zone"] = "Asia%2FTokyo"
    planned = sent(client.post(ONE, {**FORM, **times, "ask": ""}))
    assert "In force 01-02 03:04 – 05:00 (Asia/Tokyo)." in planned


def test_while_the_form_is_wrong_the_preview_says_so(browser: Browser, idcs: dict[str, Idc]) -> None:
    """The error stands at the choice at once: the page takes over the part with that id."""
    client = browser("operator")
    wrong = {**FORM, "lasts": "sunday", "ends_at": "2099-01-02T05:00", "ask": ""}
    page = sent(client.post(ONE, wrong, headers={"HX-Request": "true"}))
    assert "as soon as what is wrong in the form is put right" in page
    assert 'id="lasts-error">Choose a night, or give start and end, not both.<' in page
    assert 'hx-select-oob="#lasts-error,' in page
    without_key = sent(client.post(ONE, {**wrong, "key": ""}, headers={"HX-Request": "true"}))
    assert "as soon as its key is filled in" in without_key


def test_its_times_are_the_reader_s(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    client.cookies["zone"] = "Asia%2FTokyo"
    client.post(ONE, {**FORM, "ends_at": "2099-11-29T06:00"})
    assert f"{Taint.objects.get().ends_at:%H:%M}" == "21:00"


def test_the_address_fills_the_form_in(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    client.cookies["zone"] = "Asia%2FTokyo"
    query = "key=switch&value=a&effect=NoExecute&starts=2099-01-02T03:04&ends=2099-01-02T00:00:00Z"
    page = sent(client.get(f"{ONE}?{query}"))
    for field in ('name="key" value="switch"', 'name="value" value="a"', 'value="2099-01-02T03:04"'):
        assert field in page
    assert 'value="2099-01-02T09:00"' in page, "in the reader's zone"
    assert checked(page, "effect") == ["NoExecute"]
    assert "<span>no new machines, and those there are due to leave (NoExecute)</span>" in page
    nonsense = sent(client.get(f"{ONE}?effect=Explode&starts=soon&ends=%3Cb%3E"))
    assert checked(nonsense, "effect") == ["NoSchedule"]
    assert checked(nonsense, "lasts") == [""]
    assert "<b>" not in nonsense.partition("<main")[2].partition('<section class="panel taint"')[2]


def test_names_without_an_idc_are_said(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    page = sent(client.get(f"{MANY}?idc=gz-1&idc=nope&idc=gz-1"))
    assert "There is no IDC nope." in page
    assert "Taint 1 IDC<" in page
    assert "No IDC is chosen." in sent(client.get(MANY))
    assert "Choose an IDC." in sent(client.post(MANY, FORM), 422)


def test_more_than_an_address_holds_are_left_out_and_said(
    browser: Browser, idcs: dict[str, Idc], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_of_taints, "MOST", 1)
    page = sent(browser("operator").get(f"{MANY}?idc=gz-1&idc=bj-1"))
    assert "At most 1 IDCs are tainted at once" in page
    assert 'value="bj-1"' not in page


def test_what_is_wrong_is_said_with_the_idc(browser: Browser, idcs: dict[str, Idc]) -> None:
    """One of the IDCs has the taint already: the page names it, and none of them is tainted."""
    taint_create(idc=idcs["bj-1"], key="switch")
    page = sent(browser("operator").post(MANY, BOTH), 422)
    assert "bj-1: The IDC has this taint already." in page
    assert 'value="OPS-1"' in page, "what was typed is kept"
    assert list(Taint.objects.values_list("idc__code", flat=True)) == ["bj-1"]
    assert sent(browser("operator").post(MANY, {**BOTH, "key": ""}), 422).count('class="field invalid"') == 1
    backwards = {**FORM, "starts_at": "2099-01-02T00:00", "ends_at": "2099-01-01T00:00"}
    assert "The end must be after the start" in sent(browser("operator").post(ONE, backwards), 422)


def test_what_others_did_meanwhile_comes_back_into_the_form(browser: Browser, idcs: dict[str, Idc]) -> None:
    old = taint_create(idc=idcs["gz-1"], key="power")
    client = browser("operator")
    client.cookies["zone"] = "UTC"
    shown = seen(sent(client.get(f"{MANY}?idc=gz-1&idc=bj-1")))
    with origin_set(actor="bob", via="api"):
        taints_delete(taints=old)
        taint_create(idc=idcs["gz-2"], key="elsewhere")
    at = f"{Change.objects.filter(actor='bob').earliest('id').at:%H:%M}"
    page = sent(client.post(MANY, {**BOTH, "seen": shown}), 409)
    assert f"bob lifted the taint power:NoSchedule from gz-1 at {at}. Nothing is done yet. Taint anyway?" in page
    assert "elsewhere" not in page.partition('role="alert"')[2].partition("</p>")[0]
    assert '<option value="elsewhere">' in page, "its key is suggested"
    assert 'value="OPS-1"' in page
    assert not Taint.objects.filter(key="switch").exists()
    assert client.post(MANY, {**BOTH, "seen": seen(page)}).status_code == 302
    assert Taint.objects.filter(key="switch").count() == 2


def test_asking_does_not_hide_what_others_did(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator")
    shown = seen(sent(client.get(ONE)))
    taint_create(idc=idcs["gz-1"], key="power")
    asked = sent(client.post(ONE, {**FORM, "seen": shown, "ask": ""}))
    assert client.post(ONE, {**FORM, "seen": seen(asked)}).status_code == 409


def test_who_it_was_is_not_for_a_tenant_s_callers(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("operator", tenant=tenant_create(code="own"))
    shown = seen(sent(client.get(ONE)))
    with origin_set(actor="bob", via="api"):
        taint_create(idc=idcs["gz-1"], key="power")
    page = sent(client.post(ONE, {**FORM, "seen": shown}), 409)
    assert "Somebody tainted gz-1 at" in page
    assert "bob" not in page


def test_the_taint_that_is_to_come_is_not_said_to_be_there(browser: Browser, idcs: dict[str, Idc]) -> None:
    coming = timezone.localtime() + timedelta(days=5)
    form = {**BOTH, "starts_at": f"{coming:%Y-%m-%dT%H:%M}"}
    answer = browser("operator").post(MANY, form, follow=True)
    assert f"gz-1, bj-1 will be tainted: switch:NoSchedule (from {coming:%m-%d %H:%M} on)." in sent(answer)
    tile = sent(browser("operator").get("/console/")).partition('id="i-gz-1"')[2].partition("</a>")[0]
    assert "taint planned" in tile


def test_it_is_undone_with_one_click(browser: Browser, idcs: dict[str, Idc]) -> None:
    """Just what was set is lifted, and only the next page offers it."""
    taint_create(idc=idcs["gz-1"], key="power")
    client = browser("operator")
    undo = undoable(sent(client.post(MANY, BOTH, follow=True)))
    assert undoable(sent(client.get(LIST))) == {}
    answer = client.post(UNDO, undo, follow=True)
    assert "Lifted from gz-1, bj-1: switch:NoSchedule." in sent(answer)
    assert [str(taint) for taint in Taint.objects.all()] == ["power:NoSchedule"]
    assert "It was lifted already." in sent(client.post(UNDO, undo, follow=True))

    undo = undoable(sent(client.post(ONE, FORM, follow=True)))
    answer = client.post(UNDO, undo, follow=True)
    assert answer.redirect_chain[-1][0] == "/console/idcs/gz-1/"
    assert "Lifted: switch:NoSchedule." in sent(answer)


@pytest.mark.parametrize("named", [{}, {"taints": "x,,-1,٣," + "9" * 40}])
def test_nonsense_undoes_nothing(browser: Browser, idcs: dict[str, Idc], named: dict[str, str]) -> None:
    taint_create(idc=idcs["gz-1"], key="power")
    assert "It was lifted already." in sent(browser("operator").post(UNDO, named, follow=True))
    assert Taint.objects.exists()


def test_nobody_undoes_what_is_not_theirs_to_taint(browser: Browser, idcs: dict[str, Idc]) -> None:
    taint = taint_create(idc=idcs["bj-1"], key="power")[0]
    assert browser("viewer").post(UNDO, {"taints": taint.pk}).status_code == 403
    bound(browser).post(UNDO, {"taints": taint.pk})
    assert Taint.objects.exists()


def test_a_bound_operator_taints_in_its_regions_alone(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = bound(browser)
    page = sent(client.get(f"{MANY}?idc=gz-1&idc=bj-1"))
    assert "You may taint in Guangzhou only. Left out: bj-1." in page
    assert 'name="idc" value="bj-1"' not in page
    assert "You may not taint bj-1." in sent(client.post(MANY, BOTH), 403)
    assert not Taint.objects.exists()
    assert "None of the chosen IDCs is yours to taint." in sent(client.get("/console/idcs/bj-1/taint/"))
    assert client.post("/console/idcs/bj-1/taint/", FORM).status_code == 403
    assert client.post(MANY, {**FORM, "idc": "gz-1"}).status_code == 302


def test_whoever_may_not_taint_is_refused_and_finds_no_way_there(browser: Browser, idcs: dict[str, Idc]) -> None:
    client = browser("viewer")
    for address in (MANY, ONE):
        assert client.get(address).status_code == 403
        assert client.post(address, BOTH).status_code == 403
    assert 'name="idc"' not in sent(client.get(LIST))
    assert not Taint.objects.exists()


def test_idcs_are_chosen_in_the_list(browser: Browser, idcs: dict[str, Idc]) -> None:
    page = sent(browser("operator").get(LIST))
    assert '<form action="/console/taint/">' in page
    assert set(re.findall(r'type="checkbox" name="idc" value="([^"]*)"', page)) == {"gz-1", "bj-1", "gz-2"}
    assert "You may taint in" not in page
    assert 'name="idc"' not in sent(browser("operator").get("/console/?view=table")), "live parts have no fields"


def test_a_bound_operator_chooses_in_its_regions_alone(browser: Browser, idcs: dict[str, Idc]) -> None:
    page = sent(bound(browser).get(LIST))
    assert set(re.findall(r'type="checkbox" name="idc" value="([^"]*)"', page)) == {"gz-1", "gz-2"}
    assert "You may taint in Guangzhou only." in page


def test_it_says_before_what_it_would_do_to_several_together(browser: Browser, orders: None) -> None:  # noqa: F811
    """Of the five orders four went to `a` and one to `b`; one tolerates the taint, one may stand in `a` alone."""
    page = sent(browser("operator").post(MANY, {**FORM, "idc": ["a", "b"], "ask": ""}))
    assert "Of the last 5 orders that went to these 2 IDCs, 3 would have gone elsewhere and 1 would have found" in page
    assert 'value="OPS-1"' in page
    assert not Taint.objects.exists()


def test_while_it_is_filled_in_nothing_is_a_mistake(browser: Browser, orders: None) -> None:  # noqa: F811
    """htmx shows the consequence as soon as there is a key; before, the page says so without an error."""
    client, asked = browser("operator"), {"ask": "", "effect": "NoSchedule"}
    page = sent(client.post("/console/idcs/a/taint/", {**asked, "key": ""}, headers={"HX-Request": "true"}))
    assert "Here stands what the taint would do to orders, as soon as its key is filled in." in page
    page = sent(client.post("/console/idcs/a/taint/", {**asked, "key": "switch"}, headers={"HX-Request": "true"}))
    assert "Of the last 4 orders that went to a, 2 would have gone elsewhere" in page
    assert "as soon as its key" not in page


def test_several_taints_are_one_question(orders: None) -> None:  # noqa: F811
    anybody = Principal(user_id=1, username="ops", role=Role.OPERATOR, all_tenants=True)
    taints = [HypotheticalTaint(idc=code, key="switch", effect="NoSchedule") for code in ("a", "b")]
    found = taints_consequence(taints, anybody)
    assert (found.idc, found.considered, found.chosen) == ("a, b", 5, 5)
    assert {goal.idc for goal in found.moved} == {"c"}, "what left `a` may not go to `b`"
    assert taints_consequence(taints[:1], anybody) == taint_consequence(taints[0], anybody)
    assert taints_consequence(taints, anybody, last=2).considered == 2


def test_it_takes_a_bounded_number_of_queries(
    browser: Browser, idcs: dict[str, Idc], django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(30):
        idc_create(code=f"gz-x-{number}", region="gz")
    client = bound(browser)
    query = "&".join(f"idc=gz-x-{number}" for number in range(30))
    for address in (f"{MANY}?{query}", LIST):
        sent(client.get(address))
        with django_assert_max_num_queries(9):
            sent(client.get(address))
    form = {**FORM, "idc": [f"gz-x-{number}" for number in range(30)]}
    with django_assert_max_num_queries(25):
        assert client.post(MANY, form).status_code == 302
