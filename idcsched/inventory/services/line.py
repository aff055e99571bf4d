from collections.abc import Mapping, Sequence
from typing import Any

from idcsched.audit.bulk import apply_to_each, places, rows_check, rows_create, rows_update
from idcsched.audit.writing import below, refuse_unknown, row_delete, write
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.inventory.choices import ChargeType
from idcsched.inventory.models import Idc, Isp, Line
from idcsched.inventory.selectors import Names

__all__ = ["line_create", "line_delete", "line_update", "lines_create", "lines_new", "lines_replace", "lines_update"]

DEFAULTS: Mapping[str, Any] = {
    "isp": None,
    "purchased_mbps": None,
    "commit_mbps": None,
    "max_level": None,
    "charge_type": ChargeType.P95_MONTH,
    "price_per_mbps": None,
    "price_per_gb": None,
}
FIELDS = frozenset({"code", *DEFAULTS})


@write()
def line_create(
    *,
    idc: Idc | str,
    isp: Isp | str,
    purchased_mbps: float,
    code: str = "",
    commit_mbps: float | None = None,
    max_level: float | None = None,
    charge_type: str = ChargeType.P95_MONTH,
    price_per_mbps: float | None = None,
    price_per_gb: float | None = None,
) -> Line:
    """Create a line of the IDC; without a code it gets that of its ISP. Raises Invalid, Conflict."""
    document = {
        "idc": idc,
        "isp": isp,
        "purchased_mbps": purchased_mbps,
        "code": code,
        "commit_mbps": commit_mbps,
        "max_level": max_level,
        "charge_type": charge_type,
        "price_per_mbps": price_per_mbps,
        "price_per_gb": price_per_gb,
    }
    return _create([document], [""])[0]


@write()
def lines_create(*, documents: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Create many lines, all or none, from documents with the arguments of `line_create`.

    Errors point below the document's place in the list. Raises Invalid, Conflict.
    """
    return _create(documents, places(documents))


@write()
def line_update(*, line: Line, changes: Mapping[str, Any]) -> Line:
    """Change a line's fields; raises Invalid, NotFound, Conflict."""
    return _update([(line, changes)], [""])[0]


@write()
def lines_update(*, updates: Sequence[tuple[Line, Mapping[str, Any]]]) -> list[Line]:
    """Change many lines, all or none, as `line_update` changes one; errors point below the change's place in the list.

    Raises Invalid, NotFound, Conflict.
    """
    return _update(updates, places(updates))


@write()
def line_delete(*, line: Line) -> None:
    """Remove a line that no history refers to; raises NotFound, Conflict `in_use`."""
    row_delete(line)


def lines_new(idc: Idc, documents: Sequence[Mapping[str, Any]], names: Names) -> list[Line]:
    """Return the unsaved, checked lines of a new IDC; raises Invalid with pointers below `/lines`."""
    lines = [Line(idc=idc, code=code, **fields) for code, fields in _completed(documents, names)]
    rows_check(lines, _places_below(lines))
    return lines


def lines_replace(idc: Idc, documents: Sequence[Mapping[str, Any]]) -> None:
    """Replace the IDC's lines by those of the documents, matched by code; fields that are left out get their defaults.

    Raises Invalid with pointers below `/lines`, Conflict.
    """
    completed = _completed(documents, Names())
    existing = {line.code: line for line in idc.lines.all()}
    for code in existing.keys() - dict(completed).keys():
        line_delete(line=existing[code])
    placed = list(zip(_places_below(completed), completed, strict=True))
    kept = [(place, existing[code], fields) for place, (code, fields) in placed if code in existing]
    new = [(place, Line(idc=idc, code=code, **fields)) for place, (code, fields) in placed if code not in existing]
    rows_update([(line, fields) for _, line, fields in kept], allowed=FIELDS, pointers=[place for place, _, _ in kept])
    rows_create([line for _, line in new], [place for place, _ in new])


def _create(documents: Sequence[Mapping[str, Any]], pointers: Sequence[str]) -> list[Line]:
    names = Names(documents)
    return rows_create(apply_to_each(documents, pointers, lambda document: _new(document, names)), pointers)


def _new(document: Mapping[str, Any], names: Names) -> Line:
    refuse_unknown(document, FIELDS | {"idc"})
    isp = names.isp(document.get("isp"))
    code = document.get("code") or isp.code
    return Line(**{**document, "idc": names.idc(document.get("idc")), "isp": isp, "code": code})


def _update(updates: Sequence[tuple[Line, Mapping[str, Any]]], pointers: Sequence[str]) -> list[Line]:
    names = Names()
    resolved = apply_to_each(updates, pointers, lambda update: (update[0], _changes(update[1], names)))
    return rows_update(resolved, allowed=FIELDS, pointers=pointers)


def _changes(changes: Mapping[str, Any], names: Names) -> dict[str, Any]:
    return {**changes, **({"isp": names.isp(changes["isp"])} if "isp" in changes else {})}


def _completed(documents: Sequence[Mapping[str, Any]], names: Names) -> list[tuple[str, dict[str, Any]]]:
    """Return each line's code, and its other fields with defaults filled in; raises Invalid."""
    fields_by_code: dict[str, dict[str, Any]] = {}
    for pointer, document in zip(_places_below(documents), documents, strict=True):
        with below(pointer):
            refuse_unknown(document, FIELDS)
            fields = {**DEFAULTS, **document}
            fields["isp"] = isp = names.isp(fields["isp"])
            code = fields.pop("code", "") or isp.code
            if code in fields_by_code:
                raise Invalid("line_twice", _("there are two lines {name}"), "/code", name=code)
            fields_by_code[code] = fields
    return list(fields_by_code.items())


def _places_below(lines: Sequence[Any]) -> list[str]:
    return [f"/lines{place}" for place in places(lines)]
