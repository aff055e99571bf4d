"""Every row of docs/faults.md and docs/security.md names tests, and these exist."""

import re

import pytest

from tests.architecture.repository import ROOT
from tests.docs.pages import page

PAGES = {name: page(name) for name in ("faults.md", "security.md")}
TEST = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<test>test_\w+)")
HEAD = re.compile(r"^\|.*\n(?=\|---)", re.MULTILINE)
ROWS = [(name, row) for name, text in PAGES.items() for row in HEAD.sub("", text).splitlines() if row.startswith("| ")]


def test_it_works() -> None:
    assert {name for name, _ in ROWS} == set(PAGES)


@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=lambda row: row.split("|")[1].strip())
def test_every_row_is_tested(row: str) -> None:
    assert TEST.search(row)


@pytest.mark.parametrize(("file", "test"), sorted({found for text in PAGES.values() for found in TEST.findall(text)}))
def test_the_tests_exist(file: str, test: str) -> None:
    assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
