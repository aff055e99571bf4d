"""Two jobs in the console: why did an order not go to foshan, and what would halving a weight change."""

from playwright.sync_api import expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor

ORDER = {
    "region": "huanan",
    "isp": "ct",
    "machines": [{"count": 2, "bandwidth_mbps": 200}],
    "client": {"region": "440000"},
}


def test_it_works(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("viewer")
    visitor.goto("/console/decisions/")
    expect(page.get_by_role("link", name="order-880")).to_have_count(0)
    chosen = visitor.schedule(**ORDER, request_id="order-880")["idc"]["code"]
    expect(page.get_by_role("link", name="order-880")).to_be_visible()  # without a reload
    assert grave_violations(page) == []

    page.get_by_role("link", name="order-880").click()
    expect(page.get_by_role("heading", name=f"Why did order-880 go to {chosen}?")).to_be_visible()
    expect(page.locator(".lead .money").first).to_contain_text("CNY a month")
    page.get_by_role("radio", name="Points").check(force=True)
    expect(page.get_by_text("Longer is better.")).to_be_visible()
    expect(page.get_by_text("Shorter is better.")).to_be_hidden()
    other = page.get_by_role("navigation", name="Why not").get_by_role("link").first
    rival = other.inner_text()
    other.click()
    expect(page.get_by_role("heading", name=rival)).to_be_visible()
    expect(page.get_by_text("In all")).to_be_visible()
    assert grave_violations(page) == []
    assert visitor.too_wide_by() <= 0

    page.get_by_role("link", name="Replay on today’s data").click()
    page.get_by_label("Profile", exact=True).select_option("bandwidth-first")
    page.get_by_role("button", name="Decide again").click()
    expect(page.get_by_role("heading", name="Again: bandwidth-first #1")).to_be_visible()
    assert grave_violations(page) == []
    assert visitor.too_wide_by() <= 0


def test_a_weight_is_tried_saved_and_put_in_force(visitor: Visitor) -> None:
    page = visitor.page
    visitor.schedule(**ORDER, request_id="order-881", profile="even")
    visitor.log_in("operator")
    visitor.goto("/console/profiles/even/")
    slider = page.get_by_role("slider", name="Weight of network_flow")
    slider.focus()
    slider.press("End")
    weight = page.locator(f"#{slider.get_attribute('data-for')}")
    expect(weight).to_have_value("100")
    page.get_by_role("button", name="Preview against its last").click()
    expect(page.get_by_text(", would have gone elsewhere")).to_be_visible()
    expect(weight).to_have_value("100")
    assert grave_violations(page) == []
    assert visitor.too_wide_by() <= 0
    page.get_by_label("Why", exact=True).first.fill("a match is coming")
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_text("Saved as revision 2, which is not in force yet.")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Put in force").click()
    expect(page.get_by_text("Revision 2 is in force.")).to_be_visible()
