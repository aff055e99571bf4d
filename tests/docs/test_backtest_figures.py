"""The figures on the page about backtests are those of the command that it names."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.long

PAGE = Path("docs/backtests.md")
SHIPPED = ("article", "even", "bandwidth-first", "default", "cost-first")


def added(*options: str) -> dict[str, str]:
    """What the orders add under each profile, as the command tells it."""
    told = StringIO()
    call_command("demo_backtest", "--optimum", "0", *options, stdout=told)
    rows = [row.split() for row in told.getvalue().split("\n\n")[1].splitlines()[1:]]
    return {row[0]: row[1] for row in rows}


def test_it_works() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| ([\d,]+) \| (\d+) % \| ([\d,]+) \|$", page, re.MULTILINE)
    assert tuple(code for code, *_ in rows) == SHIPPED
    with_shapes, without = added(), added("--without-shapes")
    assert {code: (known, unknown) for code, known, _, unknown in rows} == {
        code: (with_shapes[code], without[code]) for code in SHIPPED
    }
    article = float(with_shapes["article"].replace(",", ""))
    for code, known, share, _ in rows:
        assert int(share) == round(100 * float(known.replace(",", "")) / article), code
