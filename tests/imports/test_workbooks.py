"""Excel workbooks: read as people fill them, refused where they cannot be read, whatever is in them."""

import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest

from idcsched.imports import reading
from idcsched.imports.exporting import workbook
from idcsched.imports.resources import KINDS
from idcsched.inventory.models import Affinity, Idc, Line, Region, Taint

from .filing import faults, imported
from .test_exporting import rich

__all__ = ["rich"]

pytestmark = pytest.mark.usefixtures("db")

SHEET = "xl/worksheets/sheet1.xml"
MORNING = datetime(2030, 5, 1, 8)  # noqa: DTZ001  # spreadsheets know no zones
HEAD = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'


def book(*rows: Sequence[Any], title: str = "Sheet1", merge: str = "") -> bytes:
    written = openpyxl.Workbook()
    sheet = written.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    if merge:
        sheet.merge_cells(merge)
    return saved(written)


def saved(written: openpyxl.Workbook) -> bytes:
    file = BytesIO()
    written.save(file)
    return file.getvalue()


def with_part(data: bytes, name: str, content: str | bytes) -> bytes:
    """The workbook with one part replaced."""
    file = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(file, "w", ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return file.getvalue()


def text_cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_it_works(idc):
    data = book(
        ["Code", "name", "Stock CPU", "latitude", "longitude", None],
        ["gz-ct-01", 571, 9600, "23.1", 113.25, None],
        [None] * 6,
    )
    assert not imported({"x.xlsx": data}, kind="idcs").faults
    found = Idc.objects.get()
    assert (found.name, found.stock_cpu, found.latitude, found.longitude) == ("571", 9600, 23.1, 113.25)


def test_dates_and_numbers_are_read_as_the_sheet_holds_them(idc):
    taints = book(["idc", "key", "ends_at", "starts_at"], ["gz-ct-01", "k", MORNING, "2030/4/1"])
    lines = book(["idc", "isp", "max_level"], ["gz-ct-01", "ct", 0.75])
    assert not imported({"taints.xlsx": taints, "lines.xlsx": lines}).faults
    assert Taint.objects.get().ends_at == MORNING.replace(tzinfo=UTC)
    assert Line.objects.get().max_level == 0.75


def test_sheets_that_are_called_like_kinds_are_one_import(south):
    written = openpyxl.Workbook()
    for title, rows in {
        "lines 2030": [["idc", "isp", "purchased_mbps"], ["a", "ct", 5]],
        "ISPs": [["code"], ["ct"]],
        "idcs": [["code", "region"], ["a", "south"]],
        "notes": [["whatever"]],
    }.items():
        sheet = written.create_sheet(title)
        for row in rows:
            sheet.append(row)
    outcome = imported({"all.xlsx": saved(written)})
    assert not outcome.faults
    assert Line.objects.get().purchased_mbps == 5
    assert [change.row for change in outcome.changes] == ["ISPs 2", "idcs 2", "lines 2030 2"]


def test_what_is_exported_is_imported_unchanged(rich):
    data = workbook()
    assert openpyxl.load_workbook(BytesIO(data)).sheetnames == [kind.name for kind in KINDS]
    outcome = imported({"inventory.xlsx": data}, missing="delete")
    assert not outcome.faults
    assert [str(change) for change in outcome.changes] == []
    for model in (Affinity, Taint, Line, Idc):
        model.objects.all().delete()
    assert not imported({"inventory.xlsx": data}).faults
    assert Idc.objects.count() > 10


def test_no_cell_of_an_export_is_a_formula(rich):
    cells = [cell for sheet in openpyxl.load_workbook(BytesIO(workbook())) for row in sheet for cell in row]
    assert "f" not in {cell.data_type for cell in cells}
    assert not [cell for cell in cells if str(cell.value).lstrip()[:1] in tuple("=+@")]


def test_characters_that_a_workbook_can_not_hold_are_replaced(idc):
    Idc.objects.update(name="a\x0bb")
    assert openpyxl.load_workbook(BytesIO(workbook()))["idcs"]["B2"].value == "a�b"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(book(), ("1", "code", "column_missing"), id="an empty sheet"),
        pytest.param(book(["code", "Code"], ["a", "b"]), ("1", "code", "column_twice"), id="a heading twice"),
        pytest.param(book(["code", "name"], ["a", "=1+1"]), ("2", "name", "formula"), id="a formula"),
        pytest.param(book(["code", "name"], ["a", "#REF!"]), ("2", "name", "wrong_type"), id="an error"),
        pytest.param(book(["code", "name"], ["a", True]), ("2", "name", "wrong_type"), id="a truth"),
        pytest.param(book(["code", "name"], ["a", MORNING]), ("2", "name", "wrong_type"), id="a date"),
        pytest.param(book(["code"], ["a", "b"]), ("2", "", "wrong_length"), id="a cell beside the table"),
        pytest.param(book(["code"], ["a"], [None], merge="A2:A3"), ("", "", "merged_cells"), id="merged cells"),
        pytest.param(book(["code"], ["a"])[:-500], ("", "", "malformed_xlsx"), id="cut off"),
        pytest.param(b"PK\x03\x04 but no more", ("", "", "malformed_xlsx"), id="no archive"),
        pytest.param(with_part(book(["code"]), SHEET, "<"), ("", "", "malformed_xlsx"), id="no XML"),
        pytest.param(with_part(book(["code"]), "xl/workbook.xml", "<a/>"), ("", "", "malformed_xlsx"), id="no book"),
        pytest.param(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ("", "", "unknown_format"), id="with a password, or .xls"),
    ],
)
def test_a_workbook_is_refused(idc, data, expected):
    assert faults(imported({"idcs.xlsx": data}))[0] == expected


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("sheet", "code"),
    [
        pytest.param(f"{HEAD}<!--{' ' * 110_000_000}--></worksheet>", "too_large", id="a zip bomb"),
        pytest.param(f"{HEAD}<sheetData>{'<row/>' * 400_001}</sheetData></worksheet>", "too_many", id="rows"),
        pytest.param(f"{HEAD}<sheetData><row>{'<c/>' * 100_001}</row></sheetData></worksheet>", "too_many", id="cells"),
        pytest.param(f"{HEAD}<sheetData>{'<x/>' * 4_000_001}</sheetData></worksheet>", "too_many", id="tags"),
        pytest.param(
            f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>{HEAD}<sheetData><row r="1">{text_cell("A1", "&l9;")}</row>'
            "</sheetData></worksheet>",
            "malformed_xlsx",
            id="a billion laughs",
        ),
        pytest.param(
            f'{HEAD}<sheetData><row r="1">{text_cell("A1", "code")}</row><row r="2000000000">'
            f"{text_cell('A2000000000', 'a')}</row></sheetData></worksheet>",
            "too_many",
            id="a row far below",
        ),
        pytest.param(
            f'{HEAD}<dimension ref="A1:XFD1048576"/><sheetData><row r="1">{text_cell("A1", "code")}'
            f"{text_cell('XFD1', 'far')}</row></sheetData></worksheet>",
            None,
            id="a size that is a lie",
        ),
    ],
)
def test_a_hostile_workbook_costs_little(south, sheet, code):
    data = with_part(book(["code"]), SHEET, sheet)
    assert len(data) < 1024 * 1024
    tracemalloc.start()
    try:
        outcome = imported({"regions.xlsx": data})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [fault.error.code for fault in outcome.faults] == ([code] if code else [])
    assert peak < 200 * 1024 * 1024


def test_rows_are_counted_before_they_are_kept(monkeypatch, south):
    monkeypatch.setattr(reading, "MAX_ROWS", 3)
    assert faults(imported({"regions.xlsx": book(["code"], *(["a"] for _ in range(9)))})) == [("", "", "too_many")]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_thirty_thousand_rows(guangzhou):
    written = openpyxl.Workbook(write_only=True)
    sheet = written.create_sheet("idcs")
    sheet.append(["code", "name", "region", "stock_cpu", "labels"])
    for number in range(30_000):
        sheet.append([f"i-{number}", f"机房 {number}", "440100", number, "owner=own"])
    outcome = imported({"idcs.xlsx": saved(written)}, dry_run=True)
    assert not outcome.faults
    assert outcome.counts["idcs"]["create"] == 30_000
    assert Region.objects.count() == 2
