"""An operator on duty: sees a taint arrive on the overview, lifts it on the IDC's page, and sets another there."""

import re

from playwright.sync_api import Browser, Dialog, Page, Request, expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation, post

IDC = "foshan-ct-01"
HIDDEN = "hidden => Object.defineProperty(document, 'hidden', {value: hidden, configurable: true})"


def test_it_works(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    tile = page.locator(f"#i-{IDC}")
    expect(tile).to_contain_text("foshan")
    page.evaluate("window.same = true")
    taint = {"idc": IDC, "key": "power", "effect": "NoSchedule", "reason": "the UPS beeps"}
    post(f"{visitor.site}/api/v1/taints/", taint, visitor.credentials["operator"]["token"])
    expect(tile).to_contain_text("tainted")
    assert page.evaluate("window.same"), "it arrived without a reload"
    assert grave_violations(page) == []

    page.get_by_label("Only those that are").select_option("tainted")
    page.wait_for_url("**mark=tainted**")
    expect(page.locator("#i-dalian-cu-01")).to_have_count(0)
    tile.click()
    _lift_and_taint(page)


def _lift_and_taint(page: Page) -> None:
    def agree(question: Dialog) -> None:
        question.accept()

    page.once("dialog", agree)
    expect(page.get_by_text("the UPS beeps")).to_be_visible()
    page.get_by_role("button", name="Lift").click()
    expect(page.get_by_text("Lifted: power:NoSchedule.")).to_be_visible()
    page.get_by_role("link", name="Taint…").click()
    form = page.locator(".taint")
    expect(form.get_by_text("as soon as its key is filled in")).to_be_visible()
    form.get_by_label("Key").fill("switch")
    expect(form.get_by_role("status"), "it is said while the key is typed").to_contain_text("could go to")
    form.get_by_role("radio", name="4 hours").check()
    form.get_by_label("Why?").fill("the switch is replaced")
    expect(form.get_by_role("status"), "it is said before anything is clicked").to_contain_text("could go to")
    form.get_by_role("button", name="What would it do?").click()
    expect(form.get_by_role("status")).to_contain_text("could go to")
    expect(page.get_by_text(f"{IDC} is tainted")).to_have_count(0)
    expect(form.get_by_label("Why?")).to_have_value("the switch is replaced")
    assert grave_violations(page) == []
    form.get_by_role("button", name="Taint", exact=True).click()
    expect(page.get_by_text(f"{IDC} is tainted: switch:NoSchedule (until ")).to_be_visible()
    expect(page.locator("#live").get_by_text("the switch is replaced")).to_be_visible()
    page.get_by_role("link", name="7 days").click()
    expect(page.locator(".plot canvas")).to_be_visible()
    expect(page.locator(".plot .u-legend")).to_contain_text(re.compile(r"purchased\s*:?\s*\d+,\d{3} Mbps"))
    assert grave_violations(page) == []
    page.once("dialog", agree)
    page.get_by_role("button", name="Lift").click()
    expect(page.get_by_text("Lifted: switch:NoSchedule.")).to_be_visible()


def test_a_viewer_on_a_telephone_reads_and_changes_nothing(browser: Browser, site: Installation) -> None:
    with visiting(browser, site, width=390, theme="dark") as visitor:
        visitor.log_in("viewer")
        for address in ("/console/", f"/console/idcs/{IDC}/"):
            visitor.goto(address)
            assert visitor.too_wide_by() <= 0
            assert grave_violations(visitor.page) == []
        expect(visitor.page.get_by_text("Taint this IDC…")).to_have_count(0)


def test_a_hidden_tab_asks_for_nothing_until_it_is_seen_again(visitor: Visitor) -> None:
    """With a clock that is put forward; a browser without windows hides no tab, so the page is told that it does."""

    def is_poll(request: Request) -> bool:
        return "hx-request" in request.headers

    page, polls = visitor.page, list[Request]()
    visitor.log_in("viewer")
    page.clock.install()
    visitor.goto("/console/")
    page.evaluate(HIDDEN, True)
    page.on("request", lambda request: polls.append(request) if is_poll(request) else None)
    page.clock.run_for(10_000)
    assert polls == []
    page.evaluate(HIDDEN, False)
    with page.expect_request(is_poll):
        page.clock.run_for(3_000)
