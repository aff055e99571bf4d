"""The figures on the pages about backtests and profiles are those of the command that the former names."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

PAGE = Path("docs/backtests.md")
PROFILES = Path("docs/profiles.md")
COMPARED = ("article", "even", "bandwidth-first", "default", "cost-first", "fitted")


def added(*options: str) -> dict[str, str]:
    """What the orders add under each profile, as the command tells it."""
    told = StringIO()
    call_command("demo_backtest", "--optimum", "0", "--fit", "40", *options, stdout=told)
    rows = [row.split() for row in told.getvalue().split("\n\n")[1].splitlines()[1:]]
    return {row[0]: row[1] for row in rows}


def shown() -> list[tuple[str, str, str, str]]:
    """The rows of the table: profile, what is added where shapes are known, its share, and where they are not."""
    page = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^\| `([a-z-]+)` \| ([\d,]+) \| (\d+) % \| ([\d,]+) \|$", page, re.MULTILINE)


@pytest.mark.long
def test_it_works() -> None:
    rows = shown()
    assert tuple(code for code, *_ in rows) == COMPARED
    with_shapes, without = added(), added("--without-shapes")
    assert {code: (known, unknown) for code, known, _, unknown in rows} == {
        code: (with_shapes[code], without[code]) for code in COMPARED
    }
    article = float(with_shapes["article"].replace(",", ""))
    for code, known, share, _ in rows:
        assert int(share) == round(100 * float(known.replace(",", "")) / article), code


def test_the_page_about_profiles_says_the_same() -> None:
    """The sections about `default` and `cost-first` name what these profiles add, with and without known shapes."""
    sections = dict(
        re.findall(r"^### ([a-z-]+)\n(.+?)(?=^##)", PROFILES.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
    for code, known, _, unknown in shown():
        if code in ("default", "cost-first"):
            assert {known, unknown} <= set(re.findall(r"[\d,]*\d", sections[code])), code
