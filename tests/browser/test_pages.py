"""Every page of the admin, and the API's: no violation of the content policy, no request elsewhere, no error."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation

MISBEHAVIOUR = """() => {
    document.body.append(Object.assign(document.createElement("script"), {text: "1"}));
    document.body.append(Object.assign(document.createElement("style"), {textContent: "p { color: red }"}));
    document.body.append(Object.assign(document.createElement("img"), {src: "http://127.0.0.9:9/x.png"}));
}"""
FIRST = "#result_list tbody tr a"


def lists(visitor: Visitor) -> list[str]:
    """The addresses of all lists of the admin that the sidebar leads to."""
    visitor.goto("/admin/")
    links = visitor.page.locator("#nav-sidebar-apps a").evaluate_all("all => all.map(one => one.pathname)")
    found = sorted({link for link in map(str, links) if link.startswith("/admin/") and not link.endswith("/add/")})
    assert len(found) > 15, found
    return found


def every_page(visitor: Visitor) -> Iterator[str]:
    """Opens one page after the other: each list, its first row's page, that one's history, and the form for a new."""
    for address in lists(visitor):
        visitor.goto(address)
        yield address
        if visitor.page.locator(FIRST).count():
            visitor.goto(str(visitor.page.locator(FIRST).first.get_attribute("href")))
            yield f"{address}…"
            history = visitor.page.locator("a[href*='/history/']")
            if history.count():
                visitor.goto(str(history.first.get_attribute("href")))
                yield f"{address}…/history/"
        visitor.goto(address)
        add = visitor.page.locator(f"a[href^='{address}add/']")
        if add.count():
            visitor.goto(f"{address}add/")
            yield f"{address}add/"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_it_works(browser: Browser, site: Installation) -> None:
    """An administrator, who sees the most, visits every page on a phone in the dark theme: none is wider than the
    window.
    """
    with visiting(browser, site, width=390, height=844, theme="dark") as visitor:
        visitor.log_in("admin")
        too_wide = {page: visitor.too_wide_by() for page in every_page(visitor)}
        assert not {page: by for page, by in too_wide.items() if by > 0}
        assert len(too_wide) > 50, too_wide
        expect(visitor.page.locator("html")).to_have_class(re.compile("dark"))


def test_what_strangers_see_is_clean_too(visitor: Visitor) -> None:
    visitor.goto("/admin/login/")
    visitor.page.wait_for_load_state("networkidle")
    assert visitor.text()


def test_the_api_s_pages_are_dark_where_the_browser_is_and_can_be_filtered(
    browser: Browser, site: Installation
) -> None:
    with visiting(browser, site, theme="dark") as visitor:
        visitor.goto("/api/v1/docs/")
        tags = visitor.page.locator(".opblock-tag")
        expect(tags.first).to_have_text(re.compile("^schedule"))
        assert (
            visitor.page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(28, 32, 34)"
        )
        visitor.page.locator(".operation-filter-input").fill("taints")
        expect(tags).to_have_count(1)
        expect(visitor.page.locator(".opblock-summary-description").first).to_have_text("List taints")


@pytest.mark.long
def test_the_api_s_pages_show_every_endpoint(visitor: Visitor) -> None:
    visitor.goto("/api/v1/docs/")
    expect(visitor.page.locator("#operations-schedule-schedule")).to_be_visible()
    while not visitor.page.locator("#operations-status-status_read").count():  # what is not in sight is not drawn
        visitor.page.mouse.wheel(0, 500)
        visitor.page.wait_for_timeout(50)


def test_every_field_of_a_user_can_be_seen(visitor: Visitor) -> None:
    visitor.log_in("admin")
    visitor.goto("/admin/accounts/user/add/")
    border = "field => getComputedStyle(field).borderTopWidth"
    widths = {name: visitor.page.locator(f"#id_{name}").evaluate(border) for name in ("username", "password")}
    assert widths == {"username": "1px", "password": "1px"}


def test_lists_cut_no_text_on_a_phone(browser: Browser, site: Installation) -> None:
    cut = "cells => cells.filter(cell => cell.scrollHeight > cell.clientHeight + 1).map(cell => cell.innerText)"
    with visiting(browser, site, width=390) as visitor:
        visitor.log_in("operator")
        for path in ("scheduling/profile", "inventory/idc", "inventory/taint"):
            visitor.goto(f"/admin/{path}/")
            cells = visitor.page.locator("#result_list td, #result_list th")
            assert cells.count() > 3
            assert cells.evaluate_all(cut) == []


def test_times_are_of_a_named_zone_and_not_warned_of_where_the_browser_has_another(
    browser: Browser, site: Installation
) -> None:
    with visiting(browser, site, zone="Europe/Berlin") as visitor:
        visitor.log_in("operator")
        visitor.goto("/admin/inventory/taint/add/")
        warnings = visitor.page.locator(".timezonewarning")
        assert warnings.count() > 0
        assert not any(warning.is_visible() for warning in warnings.all())
        assert visitor.text().count("Time of Asia/Shanghai.") == 2


def test_the_theme_is_the_system_s_until_one_is_chosen(browser: Browser, site: Installation) -> None:
    with visiting(browser, site, theme="dark") as visitor:
        visitor.log_in("viewer")
        html = visitor.page.locator("html")
        is_dark = re.compile(r"\bdark\b")
        expect(html).to_have_class(is_dark)
        visitor.page.locator("#nav-sidebar-inner").get_by_text("unfold_more").click()
        visitor.page.get_by_text("Light", exact=True).click()
        expect(html).not_to_have_class(is_dark)
        visitor.goto("/admin/inventory/idc/")
        expect(html).not_to_have_class(is_dark)


def test_a_visitor_notices_what_is_wrong(browser: Browser, site: Installation) -> None:
    """A visitor notices an inline script, a style element, another server and a missing page: so the other tests can
    fail.
    """

    def misbehave() -> None:
        with visiting(browser, site) as visitor:
            visitor.goto("/admin/login/")
            visitor.page.evaluate(MISBEHAVIOUR)
            visitor.goto("/health/nowhere/")

    with pytest.raises(AssertionError) as noticed:
        misbehave()
    for complaint in ("script-src", "style-src", "img-src", "404"):
        assert complaint in str(noticed.value), complaint
