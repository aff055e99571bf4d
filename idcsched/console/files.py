"""Tables as files that spreadsheets open."""

from collections.abc import Iterable, Sequence

import tablib
from django.http import HttpResponse

from idcsched.imports.cells import escaped
from idcsched.imports.exporting import MARK

__all__ = ["csv_file"]

Cell = str | float


def csv_file(name: str, heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> HttpResponse:
    """Return the rows as a file to be saved; texts are escaped, so that no spreadsheet takes one for a formula."""
    table = tablib.Dataset(headers=list(heads))
    for row in rows:
        table.append([escaped(cell) if isinstance(cell, str) else cell for cell in row])
    return HttpResponse(
        MARK + str(table.export("csv")),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
