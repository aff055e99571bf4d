"""Pictures of the main pages for `make screenshots`: wide and narrow, light and dark, in both languages.

Errors of the pages, and pages that are wider than the window, are listed at the end and make the exit status 1.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Literal

from tests.architecture.repository import ROOT
from tests.browser.console_pages import console_pages
from tests.browser.serving import moves_made, serving, sources_made
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation, wait_for
from tests.servers import Unavailable, chromium, debian, free_port

FOLDER = ROOT / "var" / "screenshots"
WIDTHS = (1280, 390)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES: Mapping[str, str] = {"en": "en-US", "zh": "zh-CN"}
FONT = "fonts-wqy-microhei"
IDC = "gz-ct-cu-cm-01"
NOWHERE = "/console/idcs/no-such-idc/"
FIRST_ROW = "#result_list tbody tr a"
ORDER = {"region": "440000", "request_id": "order-8812", "machines": [{"count": 4, "bandwidth_mbps": 100}]}


def main() -> int:
    """Take them all; returns the exit status."""
    _have_chinese_letters()
    FOLDER.mkdir(parents=True, exist_ok=True)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder, chromium.running() as browser:
        demo = Installation(Path(folder), PORT=str(free_port()), THROTTLE="off")
        with serving(demo) as site:
            sources_made(site)
            moves_made(site)
            for width, theme, language in product(WIDTHS, THEMES, LANGUAGES):
                with visiting(browser, site, width=width, theme=theme, language=LANGUAGES[language]) as visitor:
                    wrong += [*_taken(visitor, site, f"{width}-{theme}-{language}", width), *visitor.complaints]
                    visitor.complaints.clear()
    print(f"{len(list(FOLDER.glob('*.png')))} pictures are in {FOLDER.relative_to(ROOT)}")
    for complaint in wrong:
        print(complaint)
    return 1 if wrong else 0


def _taken(visitor: Visitor, site: Installation, suffix: str, width: int) -> Iterator[str]:
    """A picture of each page; says which are too wide."""
    for name in _pages(visitor, site):
        visitor.page.wait_for_timeout(300)  # what slides in has slid in
        visitor.page.screenshot(path=FOLDER / f"{name}-{suffix}.png", full_page=name.endswith("-full"))
        if (by := visitor.too_wide_by()) > 0:
            yield f"{name} is {by} pixels wider than {width}"


def _pages(visitor: Visitor, site: Installation) -> Iterator[str]:
    """Open one page after the other; yield the name of each."""
    page = visitor.page
    visitor.goto("/admin/login/")
    yield "login"
    visitor.schedule(**ORDER)
    visitor.schedule(**ORDER, action="reserve")
    visitor.log_in("admin")
    yield "front"
    yield from _inventory(visitor)
    yield from _behind_the_scenes(visitor)
    visitor.goto("/admin/scheduling/profile/?q=default")
    page.locator(FIRST_ROW).first.click()
    yield "profile-full"
    page.locator("button[formaction]").click()
    yield "profile-preview"
    wait_for(lambda: _found_order(visitor), "the decision's record")
    page.locator(FIRST_ROW).first.click()
    yield "decision-full"
    for name, address in (("changes", "/admin/audit/change/"), ("latest", "/admin/metrics_ingest/latest/")):
        visitor.goto(address)
        yield name
    page.locator("a").filter(has_text="filter_list").click()
    yield "filters"
    for name, address in console_pages(visitor, site).items():
        visitor.goto(address)
        yield f"console-{name}-full"
    visitor.goto(NOWHERE)
    yield "console-not-found"
    visitor.complaints[:] = [complaint for complaint in visitor.complaints if NOWHERE not in complaint]
    visitor.goto("/api/v1/docs/")
    page.wait_for_load_state("networkidle")
    yield "api-docs"


def _behind_the_scenes(visitor: Visitor) -> Iterator[str]:
    """Open the pages of placements, sources, tenants, tokens and users, and the form for imports; yield the name of
    each.
    """
    page = visitor.page
    for name in (
        "placement/placement",
        "metrics_ingest/source",
        "accounts/tenant",
        "accounts/apitoken",
        "accounts/user",
    ):
        visitor.goto(f"/admin/{name}/")
        yield f"{name.split('/')[1]}-list"
        page.locator(FIRST_ROW).first.click()
        yield f"{name.split('/')[1]}-full"
    visitor.goto("/admin/transfer/import/add/")
    yield "import-form"


def _inventory(visitor: Visitor) -> Iterator[str]:
    page = visitor.page
    for name in ("idc", "taint", "affinity"):
        visitor.goto(f"/admin/inventory/{name}/")
        yield f"{name}-list"
    visitor.goto("/admin/inventory/idc/")
    for box in page.locator("input.action-select").all()[:3]:
        box.check()
    yield "idc-list-chosen"
    page.locator("select[name=action]").select_option("taint")
    page.locator("#changelist-actions button[type=submit]").click()
    yield "taint-chosen"
    visitor.goto(f"/admin/inventory/idc/?q={IDC}")
    page.locator(FIRST_ROW).first.click()
    yield "idc-full"
    page.goto(str(page.locator("a[href*='/history/']").first.evaluate("one => one.href")))
    yield "idc-history"
    visitor.goto(f"/admin/inventory/taint/add/?idc={IDC}")
    yield "taint-form"


def _found_order(visitor: Visitor) -> bool:
    visitor.goto(f"/admin/scheduling/decision/?q={ORDER['request_id']}")
    return visitor.page.locator(FIRST_ROW).count() > 0


def _have_chinese_letters() -> None:
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, text=True, check=False).stdout
    if not fonts.strip():
        try:
            debian.install(FONT)
        except Unavailable as error:
            print(f"Chinese will be shown as boxes: {error}")


if __name__ == "__main__":
    sys.exit(main())
