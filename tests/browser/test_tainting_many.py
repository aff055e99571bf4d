"""An operator at night taints several IDCs of the list at once, with the keyboard."""

from playwright.sync_api import Browser, expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation


def test_it_works(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/console/idcs/")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    boxes = page.locator("input.pick:checked")
    expect(boxes).to_have_count(2)
    codes = [box.get_attribute("value") or "" for box in boxes.all()]
    page.keyboard.press("t")
    expect(page.get_by_role("heading", name="Taint 2 IDCs")).to_be_visible()
    page.get_by_label("Key", exact=True).fill("drill")
    page.get_by_role("radio", name="1 hour").check()
    page.get_by_label("Why?").fill("the yearly drill")
    page.get_by_role("button", name="What would it do?").click()
    expect(page.locator(".taint").get_by_role("status")).to_be_visible()
    assert grave_violations(page) == []
    page.get_by_role("button", name="Taint", exact=True).click()
    expect(page.get_by_text(f"{codes[0]}, {codes[1]} are tainted: drill:NoSchedule (until ")).to_be_visible()
    assert grave_violations(page) == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(f"Lifted from {codes[0]}, {codes[1]}: drill:NoSchedule.")).to_be_visible()


def test_a_phone_says_why_an_idc_takes_no_orders(browser: Browser, site: Installation) -> None:
    with visiting(browser, site, width=390, height=844) as visitor:
        visitor.log_in("operator")
        visitor.goto("/console/idcs/")
        expect(visitor.page.locator("#i-haikou-ct-cm-01").get_by_text("draining").first).to_be_visible()
        assert visitor.too_wide_by() <= 0


def test_all_of_a_region_at_once(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/console/idcs/?region=440000")
    page.get_by_label("Choose all").check()
    count = page.locator("input.pick").count()
    assert count > 1
    expect(page.locator("input.pick:checked")).to_have_count(count)
    page.get_by_role("button", name="Taint…").click()
    expect(page.get_by_role("heading", name=f"Taint {count} IDCs")).to_be_visible()
