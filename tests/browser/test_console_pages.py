"""Every page of the console: nothing grave that axe finds, not wider than its window, no error, no foreign request."""

import re
from typing import Any

from playwright.sync_api import Browser, expect

from tests.browser.console_pages import console_pages, grave_violations
from tests.browser.serving import moves_made, sources_made
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation, post

MARKUP = re.compile(r"<[a-z/][^>]*>|\b[a-z-]+=\"[^\"]*\"|&[a-z]+;|\{[{%]")
"""What is never to be read on a page: tags, attributes, entities, and what a template left."""


def test_it_works(browser: Browser, site: Installation) -> None:
    """An administrator, who sees the most, visits every page on a phone, in light and in dark."""
    with visiting(browser, site, width=390, height=844) as visitor:
        sources_made(site)
        moves_made(site)
        visitor.log_in("admin")
        wrong: dict[str, Any] = {}
        for name, address in console_pages(visitor, site).items():
            visitor.goto(address)
            expect(visitor.page.locator("h1")).to_have_count(1)
            if markup := MARKUP.search(visitor.page.locator("body").inner_text()):
                wrong[f"{name} shows markup"] = markup[0]
            if (by := visitor.too_wide_by()) > 0:
                wrong[f"{name} is too wide"] = by
            for theme in ("light", "dark"):
                visitor.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]  # one of two words
                if violations := grave_violations(visitor.page):
                    wrong[f"{name}, {theme}"] = violations
        assert not wrong


def test_an_order_is_found_followed_and_released(visitor: Visitor) -> None:
    """The operator finds the order with the keyboard; the portal's confirmation appears without a reload."""
    page = visitor.page
    machines = [{"count": 1, "bandwidth_mbps": 20}]
    placed = visitor.schedule(region="440000", request_id="order-found", machines=machines, action="reserve")
    visitor.log_in("operator")
    visitor.goto("/console/placements/")
    page.keyboard.press("/")
    page.keyboard.type("order-found")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="order-found")).to_be_visible()
    expect(page.locator(".head .mark")).to_have_text("reserved")
    page.evaluate("window.same = true")
    post(f"{visitor.site}/api/v1/placements/{placed['id']}/confirm/", {}, visitor.credentials["portal"]["token"])
    expect(page.locator(".head .mark")).to_have_text("active")
    assert page.evaluate("window.same"), "it arrived without a reload"

    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name="Release").click()
    expect(page.locator(".head .mark")).to_have_text("active")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_role("status").filter(has_text="It is released")).to_be_visible()
    expect(page.locator(".head .mark")).to_have_text("released")
    assert "can't be undone" in asked[0]


def test_a_source_is_tested_and_its_runs_arrive(visitor: Visitor, site: Installation) -> None:
    page = visitor.page
    sources_made(site)
    visitor.log_in("operator")
    visitor.goto("/console/sources/")
    page.get_by_role("link", name="demo-lines").click()
    page.get_by_role("button", name="Test").click()
    expect(page.locator("#trial")).to_contain_text("What it says now")
    runs = page.get_by_role("region", name="Latest runs").locator("tbody tr")
    before = runs.count()
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("status").filter(has_text="It is")).to_be_visible()
    site.python(
        "from django.utils import timezone; from metrics_ingest.models import Source;"
        "from metrics_ingest.sources.collecting import source_collect as run;"
        "run(source_id=Source.objects.get(code='demo-lines').pk, clock=timezone.now, by_hand=True)"
    )
    expect(runs).to_have_count(before + 1)
