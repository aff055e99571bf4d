"""Import of rows into the inventory: all or nothing, through the services, for good or as a preview.

A preview does all that an import does, the checks of the database included, and is then rolled back. After a preview
without faults the import is refused only where the inventory has changed in between, with `changed_since_preview`.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from django.db import transaction

from idcsched.accounts.roles import Principal
from idcsched.audit.bulk import ENOUGH
from idcsched.framework.errors import Conflict, FieldError, Forbidden, IdcschedError, Invalid
from idcsched.framework.messages import Message, _
from idcsched.inventory import services
from idcsched.inventory.choices import AffinityKind, Status
from idcsched.inventory.labels import RegionTree
from idcsched.inventory.models import Idc, Isp, Region
from idcsched.inventory.scope import idcs_within

from .cells import KEEP, as_json
from .models import Missing
from .reading import Contents, Entry, Fault
from .resources import AFFINITIES, IDCS, ISPS, KINDS, LINES, REGIONS, TAINTS, Kind

__all__ = ["Outcome", "Progress", "RowChange", "import_inventory"]

CHUNK = 1000
FEW = 1000
"""Up to so many codes are looked up by name; for more of them all rows are read."""
UNKNOWN = {"unknown_region": "regions", "unknown_isp": "isps", "unknown_idc": "idcs"}
"""The codes of errors about a reference to an unknown row, with the kind of that row."""
REFERENCES: Mapping[str, tuple[Kind, str, Message]] = {
    "region": (REGIONS, "unknown_region", _("there is no region {name}")),
    "parent": (REGIONS, "unknown_region", _("there is no region {name}")),
    "isp": (ISPS, "unknown_isp", _("there is no ISP {name}")),
    "idc": (IDCS, "unknown_idc", _("there is no IDC {name}")),
}
"""The columns that name other rows: the kind of these, and the error about a name that none of them has."""
NO_ENTRY = Entry(file="", row="", values={})
Key = tuple[Any, ...]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RowChange:
    """The change of one row: the old and new values of its fields, in the form that files have."""

    file: str
    row: str
    kind: str
    key: str
    action: str
    """`create`, `update`, `retire` or `delete`."""
    changes: Mapping[str, tuple[Any, Any]]

    def __str__(self) -> str:
        """`idcs.csv 2 update idcs gz-ct-01: name "" → "New"`."""
        fields = []
        for name, (old, new) in self.changes.items():
            if old != new:
                before = "" if old is None else f"{json.dumps(old, ensure_ascii=False)} → "
                fields.append(f"{name} {before}{json.dumps(new, ensure_ascii=False)}")
        row = " ".join(filter(None, (self.file, self.row, self.action, self.kind, self.key)))
        return f"{row}: {', '.join(fields)}" if fields else row


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of an import or a preview. With faults, nothing was changed."""

    counts: Mapping[str, Mapping[str, int]]
    """By kind, the number of rows of each action, and of those `unchanged`."""
    changes: Sequence[RowChange]
    faults: Sequence[Fault]
    fingerprint: str
    """A hash of the changes, equal for two previews that would do the same."""


@dataclass(frozen=True, slots=True)
class Step:
    """A file's row that is to be created or updated."""

    entry: Entry
    row: Any
    """The row of the inventory to be updated; None for a new one."""
    changes: Mapping[str, Any]
    """The fields for the services: all given ones of a new row, else those that differ from the inventory's row."""


def import_inventory(
    contents: Contents,
    *,
    principal: Principal,
    missing: str = Missing.KEEP,
    dry_run: bool = False,
    expected: str = "",
    progress: Progress = lambda done, total: None,
    finish: Callable[[Outcome], object] = lambda outcome: None,
) -> Outcome:
    """Import the contents in the name of the principal: all rows or, where there are faults, none.

    `expected` is the fingerprint of the confirmed preview; `finish` is called last, in the transaction. Raises
    Forbidden, Conflict `changed_since_preview`, and whatever `finish` raises.
    """
    for kind in KINDS:
        if kind.name in contents.entries:
            principal.require(kind.capability)
    with transaction.atomic():
        outcome = _Import(contents, principal, missing, progress).run()
        if expected and outcome.fingerprint != expected:
            raise Conflict("changed_since_preview", _("the inventory has changed since the preview: look at it again"))
        if outcome.faults or dry_run:
            transaction.set_rollback(True)
        else:
            finish(outcome)
    return outcome


class _Import:
    """One import within its transaction."""

    def __init__(self, contents: Contents, principal: Principal, missing: str, progress: Progress) -> None:
        self._contents = contents
        self._missing = missing
        self._progress = progress
        self._faults = list(contents.faults)
        self._known: dict[Kind, frozenset[str]] = {}
        self._refused: set[tuple[str, Any]] = set()
        """Kind and code of refused rows; references to such a row are not reported as faults."""
        self._changes: list[RowChange] = []
        self._counts: dict[str, Counter[str]] = {}
        self._total = sum(map(len, contents.entries.values()))
        self._passed = 0
        self._outside: frozenset[str] | None = None
        """The codes of the IDCs outside of the principal's regions; None if the principal may write everywhere."""
        if principal.regions is not None:
            inside = idcs_within(principal.regions)
            idcs = Idc.objects.order_by().values_list("pk", "code")
            self._outside = frozenset(code for pk, code in idcs if pk not in inside)

    def run(self) -> Outcome:
        """Write the kinds in an order in which references exist already; delete missing rows in the reverse order.

        A refused row is written without what was refused, and a name that no row has gets one, so that all faults are
        found at once; with faults, all that is written is rolled back.
        """
        kinds = [kind for kind in KINDS if kind.name in self._contents.entries]
        for kind in kinds:
            self._check_references(kind)
        missing = [(kind, self._write(kind)) for kind in kinds if len(self._faults) < ENOUGH]
        if not self._faults and self._missing == Missing.DELETE:
            for kind, rows in reversed(missing):
                self._delete(kind, rows)
        if self._faults:
            self._changes, self._counts = [], {}
        changes = msgspec.json.encode([[item.kind, item.key, item.action, item.changes] for item in self._changes])
        return Outcome(
            counts=self._counts,
            changes=self._changes,
            faults=sorted(self._faults, key=_by_place)[:ENOUGH],
            fingerprint=hashlib.sha256(changes).hexdigest(),
        )

    def _write(self, kind: Kind) -> list[Any]:
        """Create and update the kind's rows; return the rows that are missing in files that list all rows."""
        self._aliases = {name: isp.code for isp in Isp.objects.all() for name in (isp.code, *isp.aliases)}
        creates, updates, missing = self._match(kind)
        unchanged = len(self._contents.entries[kind.name]) - len(creates) - len(updates)
        self._counts[kind.name] = Counter(create=len(creates), update=len(updates), unchanged=unchanged)
        self._advance(unchanged)
        self._write_chunks(kind, creates, "create", lambda steps: kind.create([step.changes for step in steps]))
        self._write_chunks(
            kind, updates, "update", lambda steps: kind.update([(step.row, step.changes) for step in steps])
        )
        if kind is IDCS and self._missing == Missing.RETIRE and not self._faults:
            self._retire(missing)
        return missing

    def _check_references(self, kind: Kind) -> None:
        """Note the names that neither the inventory nor the files have, and make a row of each."""
        for column in REFERENCES.keys() & kind.fields.keys():
            referred, code, sentence = REFERENCES[column]
            for entry in self._contents.entries[kind.name]:
                name = entry.values.get(column)
                if isinstance(name, str) and name not in self._names(referred) and len(self._faults) < ENOUGH:
                    self._fault(kind, entry, FieldError("", code, sentence, {"name": name}), column)
                    self._stand_in(referred, name)

    def _names(self, kind: Kind) -> frozenset[str]:
        """Return the names of regions, ISPs or IDCs in the inventory and in the files."""
        if kind not in self._known:
            rows = [row.values for row in self._contents.entries.get(kind.name, ())]
            aliases = {alias for row in rows for alias in row.get("aliases") or () if isinstance(alias, str)}
            codes = {row["code"] for row in rows if "code" in row} | set(
                kind.get_queryset().values_list("code", flat=True)
            )
            if kind is ISPS:
                aliases |= {alias for isp in Isp.objects.all() for alias in isp.aliases}
            self._known[kind] = frozenset(codes | aliases)
        return self._known[kind]

    def _stand_in(self, kind: Kind, name: Any) -> None:
        """Make a row of that name, for what refers to it; nothing where no row can have the name."""
        document = {"code": name}
        if kind is IDCS:
            if not Region.objects.exists():
                self._stand_in(REGIONS, "none")
            document["region"] = Region.objects.values_list("code", flat=True)[:1][0]
        if not kind.get_queryset().filter(code=name).exists():
            with suppress(IdcschedError):
                kind.create([document])

    def _match(self, kind: Kind) -> tuple[list[Step], list[Step], list[Any]]:
        """Return the steps that create, those that update, and the missing rows; a few queries, however many rows."""
        entries, seek_missing = self._contents.entries[kind.name], self._missing != Missing.KEEP
        rows = self._rows(kind, entries, all_rows=seek_missing)
        creates: list[Step] = []
        updates: list[Step] = []
        first: dict[Key, Entry] = {}
        for entry in entries:
            key = self._key(kind, entry.values)
            if not kind.repeats and (other := first.setdefault(key, entry)) is not entry:
                where = other.row if other.file == entry.file else f"{other.file} {other.row}"
                error = FieldError("", "row_twice", _("row {row} is about the same"), {"row": where})
                self._fault(kind, entry, error, kind.needed[-1])
            elif self._is_outside(kind, entry.values):
                error = FieldError("", "region_not_allowed", _("this concerns IDCs outside of your regions"))
                self._fault(kind, entry, error, "idc")
            elif not rows[key]:
                creates.append(Step(entry, None, entry.values))
            elif changes := self._differences(kind, entry.values, row := rows[key].pop(0)):
                updates.append(Step(entry, row, changes))
        missing = [row for same in rows.values() for row in same if seek_missing and self._is_missing(kind, row)]
        return creates, updates, missing

    def _rows(self, kind: Kind, entries: Sequence[Entry], *, all_rows: bool) -> defaultdict[Key, list[Any]]:
        """Return by key the rows that the entries may be about, or all; those of one key in the order of an export."""
        rows, name = kind.get_queryset(), "idc" if "idc" in kind.key else "code"
        codes = {entry.values.get(name) for entry in entries}
        if not all_rows and kind is not AFFINITIES and len(codes) <= FEW:
            rows = rows.filter(**{"idc__code__in" if name == "idc" else "code__in": sorted(filter(None, codes))})
        by_key: defaultdict[Key, list[Any]] = defaultdict(list)
        for row in rows:
            by_key[tuple(_hashable(kind.fields[part].get_value(row)) for part in kind.key)].append(row)
        return by_key

    def _key(self, kind: Kind, values: Mapping[str, Any]) -> Key:
        parts = {}
        for name in kind.key:
            empty = kind.fields[name].default
            parts[name] = values.get(name, kind.model_field(name).default if empty is KEEP else empty())
        if kind is LINES and not parts["code"]:
            parts["code"] = self._resolved("isp", values.get("isp")) or ""
        return tuple(_hashable(parts[name]) for name in kind.key)

    def _differences(self, kind: Kind, values: Mapping[str, Any], row: Any) -> dict[str, Any]:
        """Return the entry's values that differ from those of the row."""
        return {
            name: value
            for name, value in values.items()
            if name not in kind.key and self._resolved(name, value) != kind.fields[name].get_value(row)
        }

    def _resolved(self, column: str, value: Any) -> Any:
        """Return an ISP's code for its alias, any other value as it is."""
        return self._aliases.get(value, value) if column == "isp" else value

    def _is_outside(self, kind: Kind, values: Mapping[str, Any]) -> bool:
        """Return whether these are of a taint or an affinity that the principal may not write, as `scope.concerned`."""
        if self._outside is None or kind not in (TAINTS, AFFINITIES):
            return False
        idc = values.get("idc")
        return idc is None or idc in self._outside or values.get("kind") == AffinityKind.REQUIRE

    def _is_missing(self, kind: Kind, row: Any) -> bool:
        """Return whether a row that no entry names is missing: the files claim to list all such rows, and the principal
        may delete it.
        """
        listed = kind.name in self._contents.listed or (kind is LINES and row.idc.code in self._contents.nested)
        return listed and not self._is_outside(kind, {name: kind.fields[name].get_value(row) for name in kind.key})

    def _write_chunks(
        self, kind: Kind, steps: Sequence[Step], action: str, write: Callable[[Sequence[Step]], Sequence[Any]]
    ) -> None:
        """Write the steps chunk by chunk; if some are refused, the chunk is tried again without what was refused."""
        size = len(steps) if kind.whole else CHUNK
        for start in range(0, len(steps), size or 1):
            chunk = steps[start : start + size]
            before = [{name: kind.fields[name].get_value(step.row) for name in step.changes} for step in chunk]
            while chunk and len(self._faults) < ENOUGH:
                try:
                    written = write(chunk)
                except IdcschedError as error:
                    refused = self._refuse(kind, chunk, error)
                    rest = [self._without(kind, step, refused.get(index, set())) for index, step in enumerate(chunk)]
                    chunk = [step for step in rest if step is not None] if refused else []
                else:
                    if not self._faults:
                        for step, old, row in zip(chunk, before, written, strict=True):
                            changes = {name: (as_json(old[name]), as_json(new)) for name, new in step.changes.items()}
                            self._note(kind, row, action, changes, step.entry)
                    break
            self._advance(min(size, len(steps) - start))

    def _without(self, kind: Kind, step: Step, refused: set[str]) -> Step | None:
        """Return the step without the refused columns; None: nothing can be judged without them."""
        if not refused:
            return step
        rest = {name: value for name, value in step.changes.items() if name not in refused}
        if refused <= step.changes.keys() - {*kind.key}:
            return replace(step, changes=rest)
        if step.row is None and kind in (REGIONS, ISPS, IDCS):
            self._stand_in(kind, step.entry.values.get("code"))
        return None

    def _refuse(self, kind: Kind, steps: Sequence[Step], error: IdcschedError) -> dict[int, set[str]]:
        """Note the errors that a service raised about the steps; return the refused columns by the step's index."""
        refused: dict[int, set[str]] = {}
        for field_error in _field_errors(error):
            index, _, pointer = field_error.pointer.removeprefix("/").partition("/")
            if not index.isdigit():
                self._faults.append(Fault(error=field_error))
                continue
            column = pointer.split("/", 1)[0]
            refused.setdefault(int(index), set()).add(column)
            self._fault(kind, steps[int(index)].entry, field_error, column)
        return refused

    def _fault(self, kind: Kind, entry: Entry, error: FieldError, column: str) -> None:
        """Note a row's fault, unless its cell has one already or refers to a refused or an unreadable row."""
        self._refused.add((kind.name, entry.values.get("code")))
        referenced = UNKNOWN.get(error.code, "")
        fault = Fault(file=entry.file, row=entry.row, column=column, error=error)
        if referenced and (
            referenced in self._contents.lost or (referenced, entry.values.get(column)) in self._refused
        ):
            return
        if all(fault.where != other.where for other in self._faults):
            self._faults.append(fault)

    def _note(self, kind: Kind, row: Any, action: str, changes: Mapping[str, Any], entry: Entry = NO_ENTRY) -> None:
        """Note a row's change; an affinity is named by its text, since its number in a preview does not last."""
        key = str(row) if kind.repeats else str(row.audit_key)
        self._changes.append(RowChange(entry.file, entry.row, kind.name, key, action, changes))

    def _retire(self, idcs: Sequence[Idc]) -> None:
        rows = [row for row in idcs if row.status != Status.RETIRED]
        for row in rows:
            self._note(IDCS, row, "retire", {"status": (row.status, Status.RETIRED.value)})
        services.idcs_update(updates=[(row, {"status": Status.RETIRED}) for row in rows])
        self._counts[IDCS.name]["retire"] = len(rows)

    def _delete(self, kind: Kind, rows: Sequence[Any]) -> None:
        if kind is REGIONS:
            tree = RegionTree.read()
            rows = sorted(rows, key=lambda region: len(tree.lineage(region.code)), reverse=True)
        for row in rows:
            self._note(kind, row, "delete", {})
            try:
                kind.delete(row)
            except IdcschedError as error:
                self._faults += [Fault(row=row.audit_key, error=field_error) for field_error in _field_errors(error)]
                if len(self._faults) >= ENOUGH:
                    break
        self._counts[kind.name]["delete"] = len(rows)

    def _advance(self, count: int) -> None:
        self._passed += count
        self._progress(self._passed, self._total)


def _hashable(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def _field_errors(error: IdcschedError) -> Sequence[FieldError]:
    if isinstance(error, Invalid):
        return error.errors
    pointer = error.pointer if isinstance(error, Conflict | Forbidden) else ""
    return (FieldError(pointer, error.code, error.template, error.params or None),)


def _by_place(fault: Fault) -> tuple[str, list[Any]]:
    """Return the sort key of a fault: file and row, with numbers compared as numbers."""
    return fault.file, [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", fault.row)]
