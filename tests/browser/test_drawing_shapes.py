"""The shape of an order's traffic is read and changed with the keyboard, bar by bar."""

from playwright.sync_api import expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor


def test_it_works(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/console/try/?region=440000&isp=ct&count=4&bandwidth_mbps=100&shape_of=drawn")
    bars = page.get_by_role("group", name="Traffic by hour").get_by_role("slider")
    expect(bars).to_have_count(24)
    typed = page.get_by_label("24 numbers")
    typed.press("Shift+Tab")
    first, last = bars.nth(0), bars.nth(23)
    expect(first).to_be_focused()

    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-valuetext", "95 %")
    page.keyboard.press("ArrowLeft")
    expect(last).to_be_focused()
    expect(last).to_have_accessible_name("23:00")
    page.keyboard.press("PageUp")
    expect(last).to_have_attribute("aria-valuenow", "20")
    expect(typed).to_have_value(", ".join(["95", *["0"] * 22, "20"]))
    expect(page.locator("#answer")).to_contain_text("CNY a month")
    expect(last).to_be_focused()

    typed.fill(", ".join(["50"] * 24))
    expect(last).to_have_attribute("aria-valuetext", "50 %")
    assert grave_violations(page) == []
