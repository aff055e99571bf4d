"""An operator's afternoon: find an IDC, taint it for two hours, see orders go elsewhere, lift it, read the history."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from playwright.sync_api import expect

from tests.browser.visiting import Visitor
from tests.e2e.installation import wait_for

ASKED = {"region": "440000", "isp": "ct", "machines": [{"count": 1, "bandwidth_mbps": 50}]}


def chosen(visitor: Visitor, request_id: str) -> str:
    return str(visitor.schedule(**ASKED, request_id=request_id)["idc"]["code"])


def test_it_works(visitor: Visitor) -> None:
    idc = chosen(visitor, "before")
    visitor.log_in("operator")
    _find_and_taint(visitor, idc)

    wait_for(lambda: chosen(visitor, "during") != idc, "orders to go elsewhere", seconds=60)
    answer = visitor.schedule(**ASKED, request_id="why", explain="full")
    (why,) = [one for one in answer["rejected"] if one["idc"] == idc]
    assert (why["plugin"], why["reason"]) == ("taint", "untolerated taint maintenance=power:NoSchedule")
    _read_why(visitor, idc)

    _lift(visitor, idc)
    wait_for(lambda: chosen(visitor, "after") == idc, "orders to come back", seconds=60)
    _read_history(visitor, idc)


def _find_and_taint(visitor: Visitor, idc: str) -> None:
    page = visitor.page
    page.locator("#nav-sidebar-inner").get_by_text("IDCs", exact=True).click()
    page.locator("#searchbar").fill(idc)
    page.locator("#searchbar").press("Enter")
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option(label="Taint…")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("heading", name="IDCs to be tainted: 1")).to_be_visible()
    for field, text in (("key", "maintenance"), ("value", "power"), ("reason", "new UPS"), ("message", "ticket 4711")):
        page.locator(f"#id_{field}").fill(text)
    page.locator("#id_lasts").select_option(label="2 hours")
    page.get_by_role("button", name="Taint", exact=True).click()
    expect(page.get_by_text("Tainted IDCs: 1")).to_be_visible()
    expect(page.locator("#result_list").get_by_text("maintenance=power:NoSchedule")).to_be_visible()


def _lift(visitor: Visitor, idc: str) -> None:
    page = visitor.page
    visitor.goto(f"/admin/inventory/taint/?q={idc}")
    row = page.locator("#result_list tbody tr").filter(has_text="maintenance=power")
    expect(row.get_by_text("in force")).to_be_visible()
    _assert_lasts_two_hours(row.inner_text())
    row.locator("input.action-select").check()
    page.locator("select[name=action]").select_option(label="Lift…")
    page.get_by_role("button", name="Run").click()
    page.locator("#id_message").fill("power is back")
    page.get_by_role("button", name="Lift", exact=True).click()
    expect(page.get_by_text("Lifted taints: 1")).to_be_visible()


def _read_history(visitor: Visitor, idc: str) -> None:
    visitor.goto(f"/admin/inventory/idc/?q={idc}")
    visitor.page.locator("#result_list tbody tr a").first.click()
    visitor.page.locator("a[href*='/history/']").click()
    changes = visitor.page.locator("article.panel")
    for place, words in enumerate((("deleted", "power is back"), ("created", "ticket 4711", "new UPS"))):
        for word in ("operator", f"{idc}/maintenance=power:NoSchedule", *words):
            expect(changes.nth(place)).to_contain_text(re.compile(re.escape(word), re.IGNORECASE))


def _read_why(visitor: Visitor, idc: str) -> None:
    """The order is found by its number, and its page says why the IDC was avoided."""
    visitor.goto("/admin/scheduling/decision/")

    def found() -> bool:
        visitor.goto("/admin/scheduling/decision/?q=why")
        return visitor.page.locator("#result_list tbody tr").count() == 1

    wait_for(found, "the decision's record", seconds=60)
    visitor.page.locator("#result_list tbody tr a").first.click()
    rejected = visitor.page.locator(".entry").filter(has_text=idc)
    expect(rejected).to_contain_text("untolerated taint maintenance=power:NoSchedule")


def _assert_lasts_two_hours(row: str) -> None:
    starts, ends = (datetime.fromisoformat(found) for found in re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d", row))
    assert ends - starts == timedelta(hours=2)
    now = datetime.now(ZoneInfo("Asia/Shanghai")).replace(tzinfo=None)
    assert timedelta(0) <= now - starts < timedelta(minutes=20)


def test_many_from_anywhere_in_two_clicks(visitor: Visitor) -> None:
    """The form is one click away, and the second click does it; IDCs are found by typing."""
    page = visitor.page
    visitor.log_in("operator")
    page.get_by_role("link", name="Taint IDCs…").click()
    for code in ("bj-bgp-01", "bj-cbn-01"):
        page.locator(".select2-search__field").fill(code)
        page.locator(".select2-results__option").filter(has_text=code).click()
    page.locator("#id_key").fill("drill")
    page.locator("#id_lasts").select_option(label="1 hour")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Tainted IDCs: 2")).to_be_visible()
    page.locator("#action-toggle, thead input[type=checkbox]").first.check()
    visitor.goto("/admin/inventory/taint/?q=drill")
    for box in page.locator("input.action-select").all():
        box.check()
    page.locator("select[name=action]").select_option(label="Lift…")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Lift", exact=True).click()
    expect(page.get_by_text("Lifted taints: 2")).to_be_visible()


def test_a_mistake_is_said_at_its_field(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/admin/inventory/taint/add/?idc=bj-bgp-01")
    page.locator("#id_key").fill("drill")
    page.locator("#id_starts_at_0").fill("2031-01-02")
    page.locator("#id_starts_at_1").fill("00:00:00")
    page.locator("#id_ends_at_0").fill("2031-01-01")
    page.locator("#id_ends_at_1").fill("00:00:00")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The end must be after the start.")).to_be_visible()
    expect(page.locator("#id_key")).to_have_value("drill")
