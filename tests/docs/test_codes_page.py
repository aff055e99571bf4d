"""docs/codes.md has every code, as the source has it, in both languages."""

import re

from deploy.docs.codes_page import codes_page
from tests.architecture.repository import ROOT

PAGE = ROOT / "docs" / "codes.md"
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def test_it_works() -> None:
    assert PAGE.read_text(encoding="utf-8") == codes_page(), "run `make pages`"


def test_it_says_all_in_both_languages() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    assert len(rows) > 150
    untold = [row for row in rows if not CHINESE.search(re.sub(r"\{\w+[^}]*\}", "", row)) and "{error}" not in row]
    assert not [row for row in untold if "{summary}" not in row]


def test_one_code_is_one_row() -> None:
    errors = PAGE.read_text(encoding="utf-8").partition("## Why nothing fits")[0]
    codes = re.findall(r"^\| `(\w+)` \| ([\d, ]+) \|", errors, re.MULTILINE)

    assert len({code for code, _ in codes}) == len(codes)
    assert dict(codes)["idempotency_key_reused"] == "409, 422"
    assert dict(codes)["token_missing"] == "401"
    assert all(400 <= int(status) < 600 for _, statuses in codes for status in statuses.split(", "))
