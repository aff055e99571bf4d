"""A click changes the admin to Chinese, on every page, and another one changes it back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_pages import every_page
from tests.browser.visiting import Visitor

CHINESE = re.compile(r"[\u4e00-\u9fff]")
WORD = re.compile(r"[A-Za-z]{3,}")
SAME = {"API", "ISP", "IDC", "idcsched", "English en"}
ORDER = re.compile(r"(past-)?order-\d+")
SAID = """() => {
    const parts = "h1 > :not(:last-child):not(.material-symbols-outlined), h2, label, button, thead th, "
        + "#nav-sidebar-apps a, .panel dt, #page summary";
    const words = (part) => {
        const copy = part.cloneNode(true);
        copy.querySelectorAll(".material-symbols-outlined, strong, code").forEach((one) => one.remove());
        return copy.textContent.trim();
    };
    return [...document.querySelectorAll(parts)].filter((part) => part.checkVisibility()).map(words);
}"""
"""The fixed texts that are visible, without icons, which are words to the page, and without what is somebody's data."""


def choose(visitor: Visitor, language: str) -> None:
    visitor.page.locator("#nav-sidebar-inner").get_by_text("unfold_more").click()
    visitor.page.locator("form[action='/admin/language/'] button").filter(has_text=language).click()


def test_it_works(visitor: Visitor) -> None:
    page = visitor.page
    visitor.log_in("operator")
    visitor.goto("/admin/inventory/idc/")
    try:
        choose(visitor, "简体中文")
        expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
        expect(page).to_have_url(re.compile("/admin/inventory/idc/"))
        expect(page.get_by_role("link", name="机房", exact=True)).to_be_visible()
        expect(page.get_by_placeholder("代码、名称、区域")).to_be_visible()
    finally:
        choose(visitor, "English")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("link", name="IDCs", exact=True)).to_be_visible()


@pytest.mark.timeout(300)
@pytest.mark.long
def test_every_page_is_chinese_and_clean(visitor: Visitor) -> None:
    """Headings, labels, buttons and columns are Chinese. `visitor` fails the test for errors on the pages."""
    visitor.schedule(region="A", profile="seed-example")
    visitor.log_in("admin")
    choose(visitor, "简体中文")
    english: dict[str, set[str]] = {}
    try:
        pages = 0
        for page in every_page(visitor):
            pages += 1
            said = set(visitor.page.evaluate(SAID))
            left = {text for text in said - SAME if WORD.search(text) and not CHINESE.search(text)}
            if left := {text for text in left if not ORDER.fullmatch(text)}:
                english[page] = left
    finally:
        choose(visitor, "English")
    assert not english
    assert pages > 50
