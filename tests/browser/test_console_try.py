"""An order that is tried in the console: every change of the form is answered without a reload."""

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor


def test_a_changed_weight_reranks_and_becomes_a_draft(visitor: Visitor) -> None:
    visitor.log_in("operator")
    visitor.goto("/console/try/")
    page, answer = visitor.page, visitor.page.locator("#answer")
    page.evaluate("window.loaded = 'once'")
    page.get_by_label("region", exact=True).select_option("huanan")
    page.get_by_label("machines", exact=True).first.fill("3")
    page.get_by_label("Mbps each").first.fill("300")
    page.get_by_label("ct", exact=True).check()
    ranked = answer.locator(".trial > li strong:first-child a, .trial > li .line > strong")
    expect(answer.get_by_role("heading", name="Ranking")).to_be_visible()
    first = ranked.first.inner_text()

    page.get_by_label("client: region").fill("440000")
    page.get_by_label("weight of distance").fill("100")
    page.get_by_label("weight of bill").fill("0")
    expect(answer.get_by_text("90 → 0")).to_be_visible()
    expect(ranked.first).not_to_have_text(first)
    assert page.evaluate("window.loaded") == "once", "nothing was reloaded"
    query = parse_qs(urlsplit(page.url).query, keep_blank_values=True)
    assert query == {
        "region": ["huanan"],
        "isp": ["ct"],
        "client": ["440000"],
        "count": ["3"],
        "bandwidth_mbps": ["300"],
        "weights_of": ["default"],
        "weight.billing_cost": ["0"],
        "weight.locality": ["100"],
    }

    asked = json.loads(page.locator("#curl").inner_text().partition("-d '")[2][:-1])
    again = visitor.schedule(**asked)
    assert f"1. {again['candidates'][0]['idc']}" in ranked.first.inner_text(), "the API says the same"

    page.get_by_label("Mbps each").first.fill("much")
    expect(page.locator("#id_bandwidth_mbps_0_error")).to_have_text("Enter a number.")
    page.get_by_label("Mbps each").first.fill("300")
    expect(page.locator("#id_bandwidth_mbps_0_error")).to_have_text("")

    page.get_by_label("profile", exact=True).select_option("cost-first")
    expect(page.locator("[id='id_weight.billing_cost']")).to_have_value("100")
    page.get_by_label("weight of bill").fill("60")
    expect(answer.get_by_text("100 → 60")).to_be_visible()
    assert grave_violations(page) == []

    page.get_by_role("button", name="Save as a draft").click()
    expect(page.locator(".banner.success")).to_contain_text("of profile cost-first is saved. It is not in force.")
    assert visitor.too_wide_by() == 0
