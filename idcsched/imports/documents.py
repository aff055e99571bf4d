"""A JSON document of the inventory: `{"regions": […], "idcs": [{…, "lines": […]}], …}`, or a list of one kind.

Objects are the API's, except that what an object leaves out stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import FieldError, Invalid, Template
from idcsched.inventory.models import STOCK_FIELDS

from .entries import Contents, Entry, Fault, faults_of, values_of
from .sheets import IDCS, LINES, SHEETS, Sheet

__all__ = ["READ_ONLY", "read_document"]

STOCK = {name.removeprefix("stock_"): name for name in STOCK_FIELDS}
READ_ONLY = frozenset({"id", "created_at"})
"""What the API's answers have and an import passes over, so that they can be imported as they are."""


def read_document(contents: Contents, file: str, text: str, sheet: Sheet | None) -> None:
    """Add what the document says."""
    try:
        document: Any = decode_json(text.lstrip("\ufeff"), Any)
    except Invalid as error:
        contents.faults.extend(faults_of(file, "", error.errors))
        return
    if sheet is not None and isinstance(document, list):
        document = {sheet.name: list(document)}
    if not isinstance(document, dict):
        detail = "the document must be an object with lists such as {names}, or a list of a kind that is named"
        _fault(contents, file, "", "wrong_type", detail, names="regions, idcs")
        return
    names = {sheet.name for sheet in SHEETS}
    for name in document:
        if name not in names:
            _fault(contents, file, f"/{name}", "unknown_field", "there is no kind of rows {name}", name=name)
    for one in SHEETS:
        if one.name in document:
            contents.listed.add(one.name)
            _read_list(contents, file, one, f"/{one.name}", document[one.name])


def _fault(contents: Contents, file: str, row: str, code: str, detail: Template, **params: object) -> None:
    contents.faults.append(Fault(file=file, row=row, error=FieldError("", code, detail, params or None)))


def _read_list(contents: Contents, file: str, sheet: Sheet, pointer: str, items: Any, **given: str) -> None:
    if not isinstance(items, list):
        _fault(contents, file, pointer, "wrong_type", "this must be a list")
        return
    entries = contents.entries.setdefault(sheet.name, [])
    for index, item in enumerate(items):
        row = f"{pointer}/{index}"
        if not isinstance(item, dict):
            _fault(contents, file, row, "wrong_type", "this must be an object")
            continue
        entry = Entry(file=file, row=row, values=_values(contents, file, sheet, row, {**item, **given}))
        entries.append(entry)


def _values(contents: Contents, file: str, sheet: Sheet, row: str, item: dict[str, Any]) -> dict[str, Any]:
    """The values of one object; the lines below an IDC become entries of their own."""
    errors: list[FieldError] = []
    lines = item.pop("lines", None) if sheet is IDCS else None
    if sheet is IDCS and item.get("stock") is not None:
        item |= _stock(item.pop("stock"), errors)
    columns = sheet.by_name
    errors += [
        FieldError(f"/{name}", "unknown_field", "there is no field {name}", {"name": name})
        for name in item
        if name not in columns and name not in READ_ONLY and not (name == "stock" and item[name] is None)
    ]
    errors += [
        FieldError(f"/{name}", "required", "this is required") for name in sheet.needed if item.get(name) is None
    ]
    values = values_of([(columns[name], raw) for name, raw in item.items() if name in columns], errors, cells=False)
    contents.faults.extend(faults_of(file, row, errors))
    if lines is not None and values.get("code"):
        contents.nested.add(values["code"])
        _read_list(contents, file, LINES, f"{row}/lines", lines, idc=values["code"])
    return values


def _stock(stock: Any, errors: list[FieldError]) -> Mapping[str, Any]:
    if not isinstance(stock, dict):
        errors.append(FieldError("/stock", "wrong_type", "this must be an object"))
        return {}
    errors += [
        FieldError(f"/stock/{name}", "unknown_field", "there is no field {name}", {"name": name})
        for name in stock
        if name not in STOCK
    ]
    return {STOCK[name]: amount for name, amount in stock.items() if name in STOCK}
