"""A backtest is requested at a profile's page, and its result appears without a reload."""

from playwright.sync_api import expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor
from tests.e2e.installation import Installation

RUN = "from idcsched.planning.services import backtest_run; backtest_run(backtest_id='{key}')"


def test_it_works(visitor: Visitor, site: Installation) -> None:
    """Halve the weight of the bill, ask, wait for the answer, and go on with the draft."""
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/console/profiles/default/")
    weight = page.get_by_role("group", name="billing_cost").get_by_label("weight", exact=True)
    halved = f"{float(weight.input_value()) / 2:g}"
    weight.fill(halved)
    page.get_by_role("button", name="What would the last 30 days have cost?").click()
    expect(page.locator("#live")).to_contain_text("It is queued.")
    assert not grave_violations(page)
    site.python(RUN.format(key=page.url.rstrip("/").rpartition("/")[2]))
    expect(page.locator(".lead").first).to_contain_text("under the draft of default.")
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    assert visitor.too_wide_by() <= 0
    page.get_by_role("button", name="Edit this draft").click()
    expect(weight).to_have_value(halved)
