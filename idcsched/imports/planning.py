"""What an import would do with one kind of rows: each entry beside the row that it is about."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Model

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import FieldError, Template
from idcsched.inventory.labels import RegionTree
from idcsched.inventory.models import Idc, Isp

from .cells import KEEP
from .entries import Contents, Entry, Fault
from .sheets import AFFINITIES, LINES, TAINTS, Column, Sheet

__all__ = ["Plan", "Step", "plan"]

Key = tuple[Any, ...]
FEW = 1000
"""So many codes are looked for by name; for more, all rows are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One entry and what becomes of it. `row` None: it is new."""

    entry: Entry
    row: Any = None
    changes: Mapping[str, Any]
    """What the services are told: all that is given for a new row, what differs for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """For one sheet."""

    sheet: Sheet
    creates: list[Step] = field(default_factory=list)
    updates: list[Step] = field(default_factory=list)
    unchanged: int = 0
    missing: list[Any] = field(default_factory=list)
    """Rows that the files don't have where they tell all there is."""
    faults: list[Fault] = field(default_factory=list)


def plan(sheet: Sheet, contents: Contents, principal: Principal, *, missing: bool) -> Plan:
    """Match the sheet's entries with the rows as they are now; a few queries, however many there are."""
    found, entries = Plan(sheet=sheet), contents.entries[sheet.name]
    aliases = _aliases() if sheet is LINES else {}
    rows = _rows(sheet, entries, everything=missing)
    reach = _Reach(principal)
    first: dict[Key, Entry] = {}
    unchanged = 0
    for entry in entries:
        key = _entry_key(sheet, entry.values, aliases)
        if not sheet.repeats and first.setdefault(key, entry) is not entry:
            found.faults.append(_twice(sheet, entry, first[key]))
        elif not reach.allows(sheet, entry.values.get("idc")):
            found.faults.append(
                _fault(entry, "idc", "region_not_allowed", "this concerns IDCs outside of your regions")
            )
        elif not rows[key]:
            found.creates.append(Step(entry=entry, changes=entry.values))
        elif changes := _changes(sheet, entry.values, row := rows[key].pop(0), aliases):
            found.updates.append(Step(entry=entry, row=row, changes=changes))
        else:
            unchanged += 1
    if missing:
        left = (row for same in rows.values() for row in same)
        found.missing.extend(row for row in left if _told(sheet, row, contents) and reach.allows_row(sheet, row))
    return replace(found, unchanged=unchanged)


def _rows(sheet: Sheet, entries: list[Entry], *, everything: bool) -> defaultdict[Key, list[Any]]:
    """The rows that the entries may be about, by their keys, in the order in which they are written out."""
    rows, name = sheet.rows(), "idc" if "idc" in sheet.needed else "code"
    codes = {entry.values.get(name) for entry in entries}
    if not everything and sheet is not AFFINITIES and len(codes) <= FEW:
        rows = rows.filter(**{"idc__code__in" if name == "idc" else "code__in": sorted(filter(None, codes))})
    found: defaultdict[Key, list[Any]] = defaultdict(list)
    for row in rows:
        found[tuple(_plain(sheet.by_name[part].value(row)) for part in sheet.key)].append(row)
    return found


def _entry_key(sheet: Sheet, values: Mapping[str, Any], aliases: Mapping[str, str]) -> Key:
    parts = {name: values.get(name, _default(sheet, name)) for name in sheet.key}
    if sheet is LINES and not parts["code"]:
        isp = values.get("isp")
        parts["code"] = aliases.get(isp, isp) if isp else ""
    return tuple(_plain(parts[name]) for name in sheet.key)


def _default(sheet: Sheet, name: str) -> Any:
    column = sheet.by_name[name]
    return sheet.model._meta.get_field(name).get_default() if column.empty is KEEP else column.empty  # type: ignore[union-attr]


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def _changes(sheet: Sheet, values: Mapping[str, Any], row: Model, aliases: Mapping[str, str]) -> dict[str, Any]:
    """What the entry says that the row does not."""
    columns = sheet.by_name
    return {
        name: value
        for name, value in values.items()
        if name not in sheet.key and _meant(columns[name], value, aliases) != columns[name].value(row)
    }


def _meant(column: Column, value: Any, aliases: Mapping[str, str]) -> Any:
    return aliases.get(value, value) if column.name == "isp" and value is not None else value


def _aliases() -> dict[str, str]:
    """Each ISP's names → its code."""
    return {name: isp.code for isp in Isp.objects.all() for name in (isp.code, *isp.aliases)}


def _told(sheet: Sheet, row: Any, contents: Contents) -> bool:
    """Whether the files tell all rows of which this would be one."""
    return sheet.name in contents.listed or (sheet is LINES and row.idc.code in contents.nested)


class _Reach:
    """Where the principal may write marks on IDCs."""

    def __init__(self, principal: Principal) -> None:
        self._regions = None if principal.regions is None else frozenset(principal.regions)
        if self._regions is not None:
            self._tree = RegionTree.read()
            self._region_of = dict(Idc.objects.order_by().values_list("code", "region__code"))

    def allows(self, sheet: Sheet, idc: str | None) -> bool:
        """An IDC that does not exist is for the services to refuse; none at all stands for every IDC."""
        if self._regions is None or sheet not in (TAINTS, AFFINITIES):
            return True
        if idc is None:
            return False
        region = self._region_of.get(idc)
        return region is None or not self._regions.isdisjoint(self._tree.lineage(region))

    def allows_row(self, sheet: Sheet, row: Any) -> bool:
        idc = getattr(row, "idc", None)
        return self.allows(sheet, None if idc is None else idc.code)


def _twice(sheet: Sheet, entry: Entry, other: Entry) -> Fault:
    where = other.row if other.file == entry.file else f"{other.file} {other.row}"
    return _fault(entry, sheet.needed[-1], "row_twice", "row {row} is about the same", row=where)


def _fault(entry: Entry, column: str, code: str, detail: Template, **params: Any) -> Fault:
    error = FieldError("", code, detail, params or None)
    return Fault(file=entry.file, row=entry.row, column=column, error=error)
