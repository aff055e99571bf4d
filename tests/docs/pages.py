"""The pages under `docs/`, taken apart: what they claim in tables and blocks is what tests compute anew."""

import re
from collections.abc import Sequence

from tests.architecture.repository import ROOT

__all__ = ["Table", "agrees", "blocks", "numbers", "page", "section", "tables"]

Table = list[dict[str, str]]
"""A row is its cells by their column's heading, without code marks."""

BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^(\|.*\n)\|[-|]+\n((?:\|.*\n)*)", re.MULTILINE)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, down to the next of any level."""
    _, found, rest = text.partition(f"# {heading}\n")
    assert found, f"there is no heading {heading}"
    return re.split(r"^#+ \S", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of one language."""
    return [found["text"] for found in BLOCK.finditer(text) if found["language"] == language]


def tables(text: str) -> list[Table]:
    return [_table(head, rows) for head, rows in TABLE.findall(text)]


def _table(head: str, rows: str) -> Table:
    return [dict(zip(_cells(head), _cells(row), strict=True)) for row in rows.splitlines()]


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("`", "") for cell in row.strip().strip("|").split("|")]


def numbers(cell: str) -> list[float]:
    return [float(number) for number in cell.split(",")]


def agrees(cell: str, computed: Sequence[float]) -> bool:
    """Whether the numbers in a cell are these, to as many decimals as the cell shows."""
    shown = [number.strip() for number in cell.split(",")]
    return len(shown) == len(computed) and all(
        f"{value + 0.0:.{len(text.partition('.')[2])}f}" == text for text, value in zip(shown, computed, strict=True)
    )
