"""The inventory as files that an import finds unchanged."""

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from idcsched.inventory.models import STOCK_FIELDS

from .sheets import IDCS, LINES, SHEETS, Sheet

__all__ = ["MARK", "json_document", "table"]

MARK = "\ufeff"
"""Tells spreadsheets that a table is UTF-8."""
AT_ONCE = 2000


class _Line:
    """What csv.writer writes to: hands back each line."""

    def write(self, line: str) -> str:
        return line


def table(sheet: Sheet, rows: QuerySet[Any] | None = None) -> Iterator[str]:
    """One sheet as lines of CSV; all its rows, or those."""
    writer = csv.writer(_Line())
    yield MARK + writer.writerow([column.name for column in sheet.columns])
    for row in _all(sheet.rows() if rows is None else rows):
        yield writer.writerow([_cell(sheet, column.name, row) for column in sheet.columns])


def _cell(sheet: Sheet, name: str, row: Any) -> str:
    column = sheet.by_name[name]
    value = column.value(row)
    return "" if value is None else column.cell.text(value)


def json_document(sheets: Iterable[Sheet] = SHEETS) -> Iterator[str]:
    """These sheets as one JSON document, row after row; lines stand below their IDCs where these are there."""
    chosen = [sheet for sheet in sheets if sheet is not LINES or IDCS not in sheets]
    yield "{"
    for place, sheet in enumerate(chosen):
        yield f'{"," if place else ""}\n"{sheet.name}": ['
        for number, item in enumerate(_documents(sheet)):
            yield f"{',' if number else ''}\n  {json.dumps(item, ensure_ascii=False)}"
        yield "\n]"
    yield "\n}\n"


def _documents(sheet: Sheet) -> Iterator[dict[str, Any]]:
    lines = groupby(_all(LINES.rows()), key=lambda line: line.idc.code) if sheet is IDCS else iter(())
    ahead = next(lines, None)
    for row in _all(sheet.rows()):
        item = {column.name: column.shown(column.value(row)) for column in sheet.columns}
        if sheet is IDCS:
            item["stock"] = {name.removeprefix("stock_"): item.pop(name) for name in STOCK_FIELDS}
            item["lines"] = []
            if ahead is not None and ahead[0] == row.code:
                item["lines"] = [_line(line) for line in ahead[1]]
                ahead = next(lines, None)
        yield item


def _line(line: Any) -> dict[str, Any]:
    return {column.name: column.shown(column.value(line)) for column in LINES.columns if column.name != "idc"}


def _all(rows: QuerySet[Any]) -> Iterator[Any]:
    """Row by row, a few thousand in memory at a time."""
    return rows.iterator(chunk_size=AT_ONCE)
