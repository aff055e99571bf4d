"""Reads CSV, Excel workbooks and JSON documents as rows of the inventory; all errors in them become faults."""

import codecs
import csv
import re
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from pathlib import PurePath
from typing import Any
from zipfile import ZipFile

import openpyxl
from django.utils.translation import gettext
from openpyxl.cell.read_only import EMPTY_CELL

from idcsched.audit.bulk import ENOUGH
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.models import STOCK_FIELDS

from .cells import KEEP, blank
from .resources import IDCS, KINDS, LINES, Kind, heading, kind_named

__all__ = ["FORM_BYTES", "MAX_BYTES", "MAX_ROWS", "Contents", "Entry", "Fault", "read_files"]

MAX_BYTES = 20 * 1024 * 1024
FORM_BYTES = 64 * 1024
"""The most bytes that a form may have besides its file."""
MAX_ROWS = 200_000
MAX_UNPACKED = 100 * 1024 * 1024
MAX_TAGS = 4_000_000
"""The most XML tags of a workbook's part between two rows; enough for five shared texts in each of 200,000 rows."""
MAX_ROW_TAGS = 100_000
"""The most XML tags of a row; the widest row that a spreadsheet can have, 16,384 cells, has about so many."""
CELL = 1024 * 1024
WIDEST = 64
"""How many columns of a workbook's sheet are read."""
MOST_NUMBERED = 2**20
"""How many rows a spreadsheet can have, empty ones included."""
DELIMITERS = ",;\t"
BY_MARK = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0", b"\0<")
"""The first bytes of XML that is not UTF-8; spreadsheets don't write such XML."""
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
NAMED = re.compile(rf"({'|'.join(kind.name for kind in KINDS)})(?![a-z])", re.IGNORECASE)
MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z0-9:]+)")
ROW_NUMBER = re.compile(rb"<(?:\w+:)?row\s[^>]{0,200}?\br=[\"'](\d{1,20})")
STOCK = {name.removeprefix("stock_"): name for name in STOCK_FIELDS}
READ_ONLY = frozenset({"id", "created_at"})
"""The fields of the API's answers that an import ignores, so that answers can be imported as they are."""

warnings.filterwarnings("ignore", module="openpyxl")  # about styles and drawings, which are not read


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a file. `row` is the row's number in a table, its pointer in a document; both may be ""."""

    file: str = ""
    row: str = ""
    column: str = ""
    error: FieldError

    @property
    def where(self) -> str:
        """File, row and column, as far as they are known."""
        return ", ".join(filter(None, (self.file, self.row, self.column)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a file: the values of its readable columns, as the services take them."""

    file: str
    row: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The rows and faults of all files of an import."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    """The rows, by kind."""
    faults: list[Fault] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)
    """The kinds of which all rows are listed, in a table or a list of their own."""
    nested: set[str] = field(default_factory=set)
    """The codes of the IDCs whose lines are listed below them."""
    lost: set[str] = field(default_factory=set)
    """The kinds with rows that could not be read."""
    notes: list[str] = field(default_factory=list)
    """A text on how each file was read: its format, sheet, encoding, delimiter."""

    def add(self, kind: Kind, file: str, row: str, given: Mapping[str, Any], *, strict: bool) -> Mapping[str, Any]:
        """Add a row with its given values by column; `strict` reads a document's values, not cells."""
        if sum(map(len, self.entries.values())) >= MAX_ROWS:
            raise Invalid("too_many", _("there may be at most {limit} rows"), limit=MAX_ROWS)
        values: dict[str, Any] = {}
        unread: set[str] = set()
        for name, value in given.items():
            try:
                if isinstance(value, Invalid):
                    raise value
                cleaned = kind.fields[name].clean(given, strict=strict)
            except Invalid as error:
                self.refuse(file, error, row, name)
                unread.add(name)
                continue
            if cleaned is not KEEP:
                values[name] = cleaned
        if unread & set(kind.key):
            self.lost.add(kind.name)
        else:
            self.entries.setdefault(kind.name, []).append(Entry(file=file, row=row, values=values))
        return values

    def refuse(self, file: str, error: Invalid, row: str = "", column: str = "") -> None:
        self.faults.extend(
            Fault(file=file, row=row, column=column or fault.pointer.lstrip("/").split("/", 1)[0], error=fault)
            for fault in error.errors
        )

    def lose(self, file: str, error: Invalid, row: str, kind: Kind, column: str = "") -> None:
        """Refuse one or more rows of the kind as unreadable."""
        self.refuse(file, error, row, column)
        self.lost.add(kind.name)


def read_files(files: Sequence[tuple[str, bytes]], kind: str = "") -> Contents:
    """Read all files (name, bytes) together; `kind` is that of tables whose names don't begin with one."""
    contents = Contents()
    for name, data in files:
        try:
            _read(contents, name, data, kind)
        except Invalid as error:
            contents.refuse(name, error)
            contents.entries.clear()  # rows of the others may refer to rows of this file
    return contents


def _read(contents: Contents, file: str, data: bytes, kind: str) -> None:
    match = NAMED.match(PurePath(file).name)
    named = kind_named(kind) or (kind_named(match[1].lower()) if match else None)
    if len(data) > MAX_BYTES:
        raise Invalid("too_large", _("the file has more than {limit} MiB"), limit=MAX_BYTES >> 20)
    if data.startswith(OLE):
        raise Invalid(
            "unknown_format", _("this is an old Excel file, or one with a password: save it as .xlsx without")
        )
    if data.startswith(ZIP):
        with closing(_sheets(data)) as sheets:
            for name, title, rows in sheets:
                contents.notes.append(gettext("%(file)s: Excel, sheet %(sheet)s") % {"file": file, "sheet": title})
                with closing(rows):
                    _read_table(contents, file, kind_named(name) or named, rows, title if name else "")
        return
    text, encoding = _decoded(data)
    if file.lower().endswith(".json") or text.lstrip()[:1] in {"{", "["}:
        _read_document(contents, file, text, kind_named(kind))
        return
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    contents.notes.append(
        gettext("%(file)s: %(encoding)s, separated by %(delimiter)s")
        % {"file": file, "encoding": encoding.removesuffix("-sig").upper(), "delimiter": repr(delimiter)}
    )
    csv.field_size_limit(CELL)
    lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    _read_table(contents, file, named, lines)


def _decoded(data: bytes) -> tuple[str, str]:
    """Decode by the byte order mark, else as UTF-8, else as GB18030, the default of spreadsheets in China."""
    marked = next((encoding for mark, encoding in BY_MARK if data.startswith(mark)), None)
    for encoding in [marked] if marked else ["utf-8", "gb18030"]:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise Invalid("unknown_encoding", _("the file is neither UTF-8, UTF-16 with its mark, nor GB18030"))


def _sheets(data: bytes) -> Generator[tuple[str, str, Generator[Sequence[Any], None, None]], None, None]:
    """Yield kind, title and rows of each sheet whose title begins with a kind; if none does, of the first."""
    with _openpyxl_errors(), ZipFile(BytesIO(data)) as archive:
        _check_size(archive)
        sheets = openpyxl.load_workbook(BytesIO(data), read_only=True).worksheets
        named = [(match[1].lower(), sheet) for sheet in sheets if (match := NAMED.match(sheet.title))]
        for kind, sheet in named or [("", sheets[0])]:
            _check_sheet(archive.read(sheet._worksheet_path))  # noqa: SLF001  # the path is not public
            yield kind, sheet.title, _sheet_rows(sheet)


@contextmanager
def _openpyxl_errors() -> Iterator[None]:
    """Refuse a workbook that openpyxl cannot read; on broken ones openpyxl raises exceptions of all kinds."""
    try:
        yield
    except Invalid:
        raise
    except Exception as error:
        raise Invalid("malformed_xlsx", _("this is not an Excel file that can be read")) from error


def _check_size(archive: ZipFile) -> None:
    """Refuse workbooks that would not fit into memory once unpacked and parsed, and those with XML entities."""
    parts = archive.infolist()
    if sum(part.file_size for part in parts) > MAX_UNPACKED:
        limit = MAX_UNPACKED >> 20
        raise Invalid("too_large", _("the file has more than {limit} MiB once it is unpacked"), limit=limit)
    for part in parts:
        xml = archive.read(part)
        if b"<!DOCTYPE" in xml or xml.startswith(WIDE):
            raise Invalid("malformed_xlsx", _("this is not an Excel file that can be read"))
        rows = xml.split(b"<row")
        if len(rows) > 2 * MAX_ROWS or max(row.count(b"<") for row in rows) > MAX_TAGS:
            raise Invalid("too_many", _("there may be at most {limit} rows"), limit=MAX_ROWS)


def _check_sheet(xml: bytes) -> None:
    """Refuse too many or too wide rows, and merged cells, all but one of which would read as empty."""
    numbers = (int(number) for number in ROW_NUMBER.findall(xml))
    if max(numbers, default=0) > MOST_NUMBERED or max(row.count(b"<") for row in xml.split(b"<row")) > MAX_ROW_TAGS:
        raise Invalid("too_many", _("there may be at most {limit} rows"), limit=MAX_ROWS)
    if merged := MERGED.findall(xml):
        cells = ", ".join(place.decode() for place in merged[:5])
        raise Invalid("merged_cells", _("cells are merged: {cells}; split them and fill each"), cells=cells)


def _sheet_rows(sheet: Any) -> Generator[Sequence[Any], None, None]:
    sheet.reset_dimensions()  # the dimensions in the file may be wrong
    with _openpyxl_errors():
        for number, cells in enumerate(sheet.iter_rows(max_col=WIDEST)):
            if number >= MOST_NUMBERED:
                raise Invalid("too_many", _("there may be at most {limit} rows"), limit=MAX_ROWS)
            yield [] if all(cell is EMPTY_CELL for cell in cells) else [_sheet_cell(cell) for cell in cells]


def _sheet_cell(cell: Any) -> Any:
    if cell.data_type == "f":
        return Invalid("formula", _("this is a formula: paste its value"))
    if cell.data_type == "e":
        return Invalid("wrong_type", _("{text} is an error of a formula: paste a value"), text=cell.value)
    return cell.value


def _read_table(
    contents: Contents, file: str, kind: Kind | None, rows: Iterable[Sequence[Any]], sheet: str = ""
) -> None:
    """Read the rows of a table, numbered as spreadsheets number them; empty ones are skipped."""
    if kind is None:
        names = ", ".join(kind.name for kind in KINDS)
        raise Invalid("unknown_kind", _("say which kind of rows this is: one of {names}"), names=names)
    contents.listed.add(kind.name)
    contents.entries.setdefault(kind.name, [])
    columns: list[str] | None = None
    number = 0
    try:
        for number, cells in enumerate(rows, 1):
            row = f"{sheet} {number}".lstrip()
            if all(blank(cell) for cell in cells):
                continue
            if columns is None:
                columns = _columns(contents, file, kind, row, cells)
            else:
                _read_row(contents, file, kind, row, columns, cells)
            if len(contents.faults) >= ENOUGH or not set(kind.needed) <= set(columns):
                return
    except csv.Error as error:
        refusal = Invalid("malformed_csv", _("this is not a table: {reason}"), reason=str(error))
        contents.lose(file, refusal, f"{number + 1}", kind)
    if columns is None:
        _columns(contents, file, kind, "1", [])


def _read_row(
    contents: Contents, file: str, kind: Kind, row: str, columns: Sequence[str], cells: Sequence[Any]
) -> None:
    if len(cells) < len(columns) or not all(blank(cell) for cell in cells[len(columns) :]):
        detail = _("the row has {cells} cells where the first row has {columns}")
        contents.lose(file, Invalid("wrong_length", detail, cells=len(cells), columns=len(columns)), row, kind)
        return
    given = {name: cell for name, cell in zip(columns, cells, strict=False) if name}
    contents.add(kind, file, row, given, strict=False)


def _columns(contents: Contents, file: str, kind: Kind, row: str, cells: Sequence[Any]) -> list[str]:
    """Return the column of each heading, "" for a refused heading."""
    titles = ["" if blank(cell) else str(cell).strip() for cell in cells]
    while titles and not titles[-1]:
        titles.pop()
    columns: list[str] = []
    for title in titles:
        name = kind.headings().get(heading(title), "")
        if not name:
            refusal = Invalid("unknown_column", _("there is no column {name}"), name=title[:40])
            contents.refuse(file, refusal, row, title[:40])
        elif name in columns:
            contents.refuse(file, Invalid("column_twice", _("the column {name} is there twice"), name=name), row, name)
            name = ""
        columns.append(name)
    for name in kind.needed:
        if name not in columns:
            contents.lose(
                file, Invalid("column_missing", _("the column {name} is missing"), name=name), row, kind, name
            )
    return columns


def _read_document(contents: Contents, file: str, text: str, kind: Kind | None) -> None:
    """Read `{"regions": […], "idcs": [{…, "lines": […]}], …}`, or a list of one kind."""
    document: Any = decode_json(text.lstrip("\ufeff"), Any)
    if kind is not None and isinstance(document, list):
        document = {kind.name: list(document)}
    if not isinstance(document, dict):
        detail = _("the document must be an object with lists such as {names}, or a list of a kind that is named")
        raise Invalid("wrong_type", detail, names="regions, idcs")
    for name in document:
        if kind_named(name) is None:
            error = Invalid("unknown_field", _("there is no kind of rows {name}"), name=name)
            contents.refuse(file, error, f"/{name}")
    for listed in KINDS:
        if listed.name in document:
            contents.listed.add(listed.name)
            _read_list(contents, file, listed, f"/{listed.name}", document[listed.name])


def _read_list(contents: Contents, file: str, kind: Kind, pointer: str, items: Any, **given: str) -> None:
    contents.entries.setdefault(kind.name, [])
    if not isinstance(items, list):
        contents.lose(file, Invalid("wrong_type", _("this must be a list")), pointer, kind)
        return
    for index, item in enumerate(items):
        row = f"{pointer}/{index}"
        if isinstance(item, dict):
            _read_object(contents, file, kind, row, {**item, **given})
        else:
            contents.lose(file, Invalid("wrong_type", _("this must be an object")), row, kind)


def _read_object(contents: Contents, file: str, kind: Kind, row: str, item: dict[str, Any]) -> None:
    """Read one object; the lines nested in an IDC become rows of their own."""
    lines = None
    if kind is IDCS:
        lines = item.pop("lines", None)
        item |= _stock(contents, file, row, item.pop("stock", None))
    for name in item.keys() - kind.fields.keys() - READ_ONLY:
        contents.refuse(file, Invalid("unknown_field", _("there is no field {name}"), name=name), row, name)
    for name in kind.needed:
        if item.get(name) is None:
            contents.refuse(file, Invalid("required", _("this is required")), row, name)
    given = {name: value for name, value in item.items() if name in kind.fields}
    values = contents.add(kind, file, row, given, strict=True)
    if lines is not None and values.get("code"):
        contents.nested.add(values["code"])
        _read_list(contents, file, LINES, f"{row}/lines", lines, idc=values["code"])


def _stock(contents: Contents, file: str, row: str, stock: Any) -> dict[str, Any]:
    if stock is not None and not isinstance(stock, dict):
        contents.refuse(file, Invalid("wrong_type", _("this must be an object")), row, "stock")
        return {}
    for name in stock or ():
        if name not in STOCK:
            contents.refuse(file, Invalid("unknown_field", _("there is no field {name}"), name=name), row, "stock")
    return {STOCK[name]: amount for name, amount in (stock or {}).items() if name in STOCK}
