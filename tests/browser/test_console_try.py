"""An order that is tried in the console: every change of the form is answered without a reload."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor

SETTLED = """() => {
    window.settled = new Promise((done) => document.addEventListener("htmx:afterSettle", ({ detail }) => {
        if (detail.pathInfo.requestPath.startsWith("/console/try/")) {
            done(true);
        }
    }));
}"""
"""Sets the promise `settled` in the page, which is fulfilled once the next answer is shown."""


def test_a_changed_weight_reranks_and_becomes_a_draft(visitor: Visitor) -> None:
    visitor.log_in("operator")
    visitor.goto("/console/try/")
    page, answer = visitor.page, visitor.page.locator("#answer")
    page.evaluate("window.loaded = 'once'")
    page.get_by_label("region", exact=True).select_option("huanan")
    page.get_by_label("machines", exact=True).first.fill("3")
    expect(answer.get_by_role("heading", name="Ranking")).to_be_visible()  # without bandwidth there are points alone
    page.get_by_label("Mbps each").first.fill("300")
    page.get_by_label("ct", exact=True).check()
    ranked = answer.locator(".lens-money .rank .who a")
    expect(answer.get_by_role("heading", name="What it costs to place it there")).to_be_visible()
    first = ranked.first.inner_text()

    page.get_by_label("client: region").fill("440000")
    expect(page.locator("[data-name=locality] [data-worth]")).to_contain_text("300 km nearer are worth")
    page.get_by_label("Distance", exact=True).fill("100")
    page.get_by_label("Bill", exact=True).fill("0.1")
    expect(page.locator("#rest").get_by_text("90 → 0.1")).to_be_visible()
    expect(ranked.first).not_to_have_text(first)
    assert page.evaluate("window.loaded") == "once", "nothing was reloaded"
    assert parse_qs(urlsplit(page.url).query, keep_blank_values=True) == {
        "region": ["huanan"],
        "isp": ["ct"],
        "client": ["440000"],
        "count": ["3"],
        "bandwidth_mbps": ["300"],
        "weights_of": ["default"],
        "weight.billing_cost": ["0.1"],
        "weight.locality": ["100"],
    }

    curl = page.locator("#curl").text_content() or ""
    again = visitor.schedule(**json.loads(curl.partition("-d '")[2].rstrip()[:-1]))
    assert ranked.first.inner_text() == again["candidates"][0]["idc"], "the API says the same"

    page.get_by_label("Mbps each").first.fill("much")
    expect(page.locator("#id_bandwidth_mbps_0_error")).to_have_text("Enter a number.")
    page.get_by_label("Mbps each").first.fill("300")
    expect(page.locator("#id_bandwidth_mbps_0_error")).to_have_text("")

    page.get_by_label("profile", exact=True).select_option("cost-first")
    expect(page.locator("[id='id_weight.billing_cost']")).to_have_value("100")
    page.get_by_label("Bill", exact=True).fill("60")
    expect(page.locator("#rest").get_by_text("100 → 60")).to_be_visible()
    assert grave_violations(page) == []

    page.get_by_role("button", name="Save as a draft").click()
    expect(page.locator(".banner.success")).to_contain_text("of profile cost-first is saved. It is not in force.")
    assert visitor.too_wide_by() == 0


def amounts(totals: Locator) -> list[float]:
    return [float(text.split()[0].rstrip("chosen").replace(",", "")) for text in totals.all_inner_texts()]


def test_a_slider_ranks_at_once_what_the_server_then_says(visitor: Visitor) -> None:
    visitor.log_in("operator")
    page = visitor.page
    visitor.goto("/console/try/?region=huanan&isp=ct&count=3&bandwidth_mbps=300&client=440000")
    totals = page.locator(".lens-money .rank .total")
    flip = page.locator("[data-name=network_flow] [data-flip]")
    expect(flip).to_contain_text("wins from")
    first = page.locator(".lens-money .rank.win .who a")
    before = first.inner_text()
    page.route("**/console/try/**", lambda route: None)  # the server's answer is held back
    page.get_by_label("weight of room left").press("End")
    expect(first).not_to_have_text(before)
    expect(page.locator("#answer")).to_have_class("stack waiting")
    at_once = amounts(totals)
    page.unroute("**/console/try/**")
    page.get_by_label("weight of room left").press("ArrowLeft")
    page.get_by_label("weight of room left").press("End")
    expect(page.locator("#answer")).to_have_class("stack")
    assert amounts(totals) == pytest.approx(at_once, rel=0.01), "what is known may be some seconds newer"


def test_an_answer_to_what_was_filled_in_before_is_not_taken_for_the_last(visitor: Visitor) -> None:
    """The answer to an earlier form is shown as waiting, beside the newest weight, until the answer to the last one is
    there.
    """
    visitor.log_in("operator")
    page = visitor.page
    visitor.goto("/console/try/?region=huanan&isp=ct&count=3&bandwidth_mbps=300&client=440000")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/console/try/**", hold)
    slider = page.get_by_label("weight of room left")
    with page.expect_request("**/console/try/**"):
        slider.press("ArrowRight")
    slider.press("End")
    weight = page.locator("[id='id_weight.network_flow']")
    newest = weight.input_value()
    page.evaluate(SETTLED)
    held[0].continue_()
    page.evaluate("window.settled")
    expect(page.locator("#answer")).to_have_class("stack waiting")
    assert weight.input_value() == newest
    while len(held) == 1:
        page.wait_for_timeout(50)
    held[1].continue_()
    expect(page.locator("#answer")).to_have_class("stack")
