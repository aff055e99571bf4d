"""Tables as files that spreadsheets open."""

from collections.abc import Iterable, Sequence

import tablib
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from import_export.formats.base_formats import XLSX

from idcsched.imports.cells import escaped
from idcsched.imports.exporting import MARK

__all__ = ["table_file"]

Cell = str | float | None


def table_file(request: HttpRequest, name: str, heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> HttpResponse:
    """Return the rows as a file to be saved, as CSV or, with `format=xlsx` in the address, for Excel.

    Texts are escaped, so that no spreadsheet takes one for a formula.
    """
    table = tablib.Dataset(headers=list(heads))
    for row in rows:
        table.append([escaped(cell) if isinstance(cell, str) else cell for cell in row])
    ending = request.GET.get("format", "csv")
    if ending == "csv":
        answer = HttpResponse(MARK + str(table.export("csv")), content_type="text/csv; charset=utf-8")
    elif ending == "xlsx":
        answer = HttpResponse(XLSX().export_data(table), content_type=XLSX.CONTENT_TYPE)
    else:
        raise BadRequest("no such format")
    answer["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return answer
