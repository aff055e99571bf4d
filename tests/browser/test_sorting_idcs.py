"""The list of IDCs is sorted by its column heads: with the keyboard, without script, and by an address from somebody
else.
"""

from playwright.sync_api import Browser, Page, expect

from tests.browser.console_pages import grave_violations
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation

LEVELS = "() => [...document.querySelectorAll('table.idcs td:nth-child(4)')].map((cell) => parseInt(cell.textContent))"


def levels(page: Page) -> list[int]:
    """The levels in percent, from the first row to the last."""
    shown: list[int] = page.evaluate(LEVELS)
    assert len(shown) > 1
    return shown


def test_it_works(visitor: Visitor, browser: Browser, site: Installation) -> None:
    page = visitor.page
    visitor.log_in("viewer")
    visitor.goto("/console/idcs/?tier=edge")
    head = page.get_by_role("columnheader", name="level")
    head.get_by_role("link").press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    assert levels(page) == sorted(levels(page), reverse=True)
    head.get_by_role("link").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert levels(page) == sorted(levels(page))
    page.get_by_label("ISP").get_by_text("ct", exact=True).click()
    page.wait_for_url("**isp=ct**")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_label("tier")).to_have_value("edge")
    assert grave_violations(page) == []

    with visiting(browser, site) as other:
        other.log_in("operator")
        other.page.goto(page.url)
        assert levels(other.page) == levels(page)


def test_without_script(visitor: Visitor, browser: Browser) -> None:
    visitor.log_in("viewer")
    without = browser.new_context(java_script_enabled=False, storage_state=visitor.page.context.storage_state())
    page = without.new_page()
    page.goto(f"{visitor.site}/console/idcs/")
    page.get_by_role("columnheader", name="Mbps free").get_by_role("link").click()
    expect(page.get_by_role("columnheader", name="Mbps free")).to_have_attribute("aria-sort", "descending")
    cells = page.locator("table.idcs td:nth-child(5)").all_inner_texts()
    free = [int(cell.replace(",", "")) for cell in cells if cell.strip("–")]
    assert free == sorted(free, reverse=True)
    without.close()
