"""A file's bytes, as entries. Whatever is wrong with it becomes a fault; nothing raises."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import PurePath

from django.utils.translation import gettext

from idcsched.framework.errors import FieldError, Template

from .documents import read_document
from .entries import Contents, Entry, Fault, faults_of, values_of
from .sheets import SHEETS, Column, Sheet, sheet_of

__all__ = ["FORM_BYTES", "MAX_BYTES", "MAX_ROWS", "read_files"]

MAX_BYTES = 20 * 1024 * 1024
FORM_BYTES = 64 * 1024
"""What a form may have beside the file that it brings."""
MAX_ROWS = 200_000
MAX_FAULTS = 100
CELL = 1024 * 1024
DELIMITERS = ",;\t"
BY_MARK = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
NAMED = re.compile(rf"({'|'.join(sheet.name for sheet in SHEETS)})(?![a-z])", re.IGNORECASE)


def read_files(files: Sequence[tuple[str, bytes]], kind: str = "") -> Contents:
    """All files (name, bytes) together; `kind` is the sheet of tables whose names don't begin with one."""
    contents = Contents()
    for name, data in files:
        if len(data) > MAX_BYTES:
            _fault(contents, name, "too_large", "the file has more than {limit} MiB", limit=MAX_BYTES >> 20)
            continue
        decoded = _decoded(data)
        if decoded is None:
            _fault(contents, name, "unknown_encoding", "the file is neither UTF-8, UTF-16 with its mark, nor GB18030")
            continue
        text, encoding = decoded
        if name.lower().endswith(".json") or text.lstrip()[:1] in {"{", "["}:
            read_document(contents, name, text, sheet_of(kind))
        else:
            _read_table(contents, name, text, encoding, _sheet(name, kind))
    if sum(len(entries) for entries in contents.entries.values()) > MAX_ROWS:
        _fault(contents, "", "too_many", "there may be at most {limit} rows", limit=MAX_ROWS)
        contents.entries.clear()
    return contents


def _fault(
    contents: Contents, file: str, code: str, detail: Template, column: str = "", row: str = "", **params: object
) -> None:
    contents.faults.append(Fault(file=file, row=row, column=column, error=FieldError("", code, detail, params or None)))


def _sheet(name: str, kind: str) -> Sheet | None:
    found = NAMED.match(PurePath(name).name)
    return sheet_of(kind) or (sheet_of(found[1].lower()) if found else None)


def _decoded(data: bytes) -> tuple[str, str] | None:
    """By its mark, else UTF-8, else what spreadsheets in China write where nobody told them otherwise."""
    marked = next((encoding for mark, encoding in BY_MARK if data.startswith(mark)), None)
    for encoding in [marked] if marked else ["utf-8", "gb18030"]:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return None


def _read_table(contents: Contents, file: str, text: str, encoding: str, sheet: Sheet | None) -> None:
    if sheet is None:
        names = ", ".join(sheet.name for sheet in SHEETS)
        _fault(contents, file, "unknown_kind", "say which kind of rows this is: one of {names}", names=names)
        return
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    contents.notes.append(
        gettext("%(file)s: %(encoding)s, separated by %(delimiter)s")
        % {"file": file, "encoding": encoding.removesuffix("-sig").upper(), "delimiter": repr(delimiter)}
    )
    rows = _rows(contents, file, text, delimiter)
    columns = _header(contents, file, sheet, next(rows, (1, []))[1])
    if columns is not None:
        _read_rows(contents, file, sheet, columns, rows)


def _rows(contents: Contents, file: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Numbered as a spreadsheet numbers them, without empty ones."""
    csv.field_size_limit(CELL)
    number = 0
    try:
        for number, cells in enumerate(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True), 1):
            if any(cell.strip() for cell in cells):
                yield number, cells
    except csv.Error as error:
        detail = "this is not a table: {reason}"
        _fault(contents, file, "malformed_csv", detail, row=str(number + 1), reason=str(error))


def _header(contents: Contents, file: str, sheet: Sheet, cells: Sequence[str]) -> list[Column] | None:
    """The columns in their order; None where they can't be told."""
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    twice = [name for name, count in Counter(names).items() if count > 1]
    for name in dict.fromkeys(names):
        if name not in sheet.by_name:
            _fault(contents, file, "unknown_column", "there is no column {name}", name, "1", name=name)
        elif name in twice:
            _fault(contents, file, "column_twice", "the column {name} is there twice", name, "1", name=name)
    for name in sheet.needed:
        if name not in names:
            _fault(contents, file, "column_missing", "the column {name} is missing", name, "1", name=name)
    return [sheet.by_name[name] for name in names] if not contents.faults else None


def _read_rows(
    contents: Contents, file: str, sheet: Sheet, columns: Sequence[Column], rows: Iterator[tuple[int, list[str]]]
) -> None:
    contents.listed.add(sheet.name)
    entries = contents.entries.setdefault(sheet.name, [])
    for number, cells in rows:
        if len(contents.faults) >= MAX_FAULTS:
            return
        if len(cells) < len(columns) or any(cell.strip() for cell in cells[len(columns) :]):
            detail = "the row has {cells} cells where the first row has {columns}"
            _fault(contents, file, "wrong_length", detail, row=str(number), cells=len(cells), columns=len(columns))
            continue
        errors: list[FieldError] = []
        values = values_of(zip(columns, cells, strict=False), errors, cells=True)
        contents.faults.extend(faults_of(file, str(number), errors))
        entries.append(Entry(file=file, row=str(number), values=values))
