"""Links into a page lead to a heading that it has. (That the pages exist is tests/architecture's.)"""

import re
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT, files

LINK = re.compile(r"\[[^\]]*\]\((?P<page>[^)#\s:]*)#(?P<anchor>[^)]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub and others make of the page's headings."""
    headings = HEADING.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_it_works() -> None:
    assert "one-idc-at-a-time" in anchors(ROOT / "docs" / "plugins.md")


@pytest.mark.parametrize("page", files("*.md"), ids=lambda page: str(page.relative_to(ROOT)))
def test_anchors_exist(page: Path) -> None:
    links = [(page.parent / found["page"] if found["page"] else page, found["anchor"]) for found in _links(page)]
    assert not [(target.name, anchor) for target, anchor in links if anchor not in anchors(target)]


def test_every_page_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "docs" / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        waiting += [page.parent / target for target in targets if "://" not in target]
    assert not {page for page in files("*.md") if page.parent.name in ("docs", "plugins")} - seen


def _links(page: Path) -> list[re.Match[str]]:
    return list(LINK.finditer(page.read_text(encoding="utf-8")))
