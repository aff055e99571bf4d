"""The search suggests what is meant while words are typed, and it can be used with the keyboard alone."""

from playwright.sync_api import expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor


def test_it_works(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("viewer")
    visitor.goto("/console/decisions/")
    search, options = (
        page.get_by_role("combobox", name="Search for an IDC"),
        page.locator("#suggestions").get_by_role("option"),
    )
    page.keyboard.press("/")
    page.keyboard.type("foshan")
    expect(options.first).to_contain_text("foshan-")
    expect(search).to_have_attribute("aria-expanded", "true")
    assert not grave_violations(page)

    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(search).to_have_attribute("aria-activedescendant", "suggestion-1")

    page.keyboard.press("Escape")
    expect(search).to_have_attribute("aria-expanded", "false")
    expect(search).to_have_value("foshan")

    page.keyboard.press("ArrowDown")
    named = options.first.locator("b").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/console/idcs/{named}/")
    assert visitor.too_wide_by() <= 0


def test_words_that_mean_nothing_suggest_nothing_and_enter_searches(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("viewer")
    visitor.goto("/console/decisions/")
    page.keyboard.press("/")
    page.keyboard.type("foshan")
    expect(page.locator("#suggestions")).to_be_visible()
    page.keyboard.type("-on-the-moon")
    expect(page.locator("#suggestions")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="foshan-on-the-moon")).to_be_visible()


def test_a_click_leads_there(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("viewer")
    visitor.goto("/console/decisions/")
    page.get_by_role("combobox", name="Search for an IDC").press_sequentially("foshan")
    page.locator("#suggestions").get_by_role("option").first.click()
    page.wait_for_url("**/console/idcs/foshan-*/")
