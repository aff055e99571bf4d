"""Export of the inventory to files, which can be imported again without any change."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import tablib
from django.db.models import Prefetch
from import_export.formats.base_formats import XLSX

from idcsched.inventory.models import STOCK_FIELDS

from .cells import as_json
from .resources import IDCS, KINDS, LINES, Kind

__all__ = ["MARK", "json_document", "table", "template", "workbook"]

MARK = "\ufeff"
"""The byte order mark, by which spreadsheets recognise UTF-8."""
AT_ONCE = 2000


def table(kind: Kind) -> str:
    """Return all rows of a kind as CSV."""
    return MARK + str(kind.export().export("csv"))


def workbook(kinds: Iterable[Kind] = KINDS) -> bytes:
    """Return all rows as an Excel workbook, with a sheet for each kind."""
    sheets = [kind.export(force_native_type=True) for kind in kinds]
    return bytes(XLSX().export_data(tablib.Databook(sheets)))


def template(kind: Kind) -> bytes:
    """Return an Excel workbook with the kind's headings and an example row."""
    cells = [field.widget.render(kind.example.get(name), force_native_type=True) for name, field in kind.fields.items()]
    return bytes(XLSX().export_data(tablib.Dataset(cells, headers=kind.get_export_headers(), title=kind.name)))


def json_document(kinds: Iterable[Kind] = KINDS) -> Iterator[str]:
    """Yield one JSON document, row by row; lines are nested in their IDCs where both kinds are exported."""
    chosen = [kind for kind in kinds if kind is not LINES or IDCS not in kinds]
    yield "{"
    for place, kind in enumerate(chosen):
        yield f'{"," if place else ""}\n"{kind.name}": ['
        for number, item in enumerate(_objects(kind)):
            yield f"{',' if number else ''}\n  {json.dumps(item, ensure_ascii=False)}"
        yield "\n]"
    yield "\n}\n"


def _objects(kind: Kind) -> Iterator[dict[str, Any]]:
    rows = kind.get_queryset()
    if kind is IDCS:
        rows = rows.prefetch_related(Prefetch("lines", LINES.get_queryset()))
    for row in rows.iterator(chunk_size=AT_ONCE):
        item = _object(kind, row)
        if kind is IDCS:
            item["stock"] = {name.removeprefix("stock_"): item.pop(name) for name in STOCK_FIELDS}
            item["lines"] = [_object(LINES, line, without="idc") for line in row.lines.all()]
        yield item


def _object(kind: Kind, row: Any, without: str = "") -> dict[str, Any]:
    return {name: as_json(field.get_value(row)) for name, field in kind.fields.items() if name != without}
