"""Files into the inventory: all or nothing, by the services, for good or as a preview that is rolled back.

A preview does all that an import does, the database's own rules included, and then takes it back: what it finds
nothing wrong with, the import will not refuse, unless something has changed in between, and then it says so.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.roles import Principal
from idcsched.audit.bulk import ENOUGH
from idcsched.framework.errors import Conflict, FieldError, IdcschedError, Invalid
from idcsched.inventory import services
from idcsched.inventory.choices import Status
from idcsched.inventory.labels import RegionTree

from .entries import Contents, Fault, faults_of
from .planning import Plan, Step, plan
from .sheets import IDCS, REGIONS, SHEETS, Sheet

__all__ = ["Missing", "Outcome", "Progress", "RowChange", "import_inventory"]

CHUNK = 1000
Progress = Callable[[int, int], None]


class Missing(TextChoices):
    """What becomes of rows that the files don't have."""

    KEEP = "keep", _("stay as they are")
    RETIRE = "retire", _("IDCs are retired")
    DELETE = "delete", _("are deleted")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """What becomes of one row: its fields from what to what, as the files would say it."""

    file: str
    row: str
    kind: str
    key: str
    action: str
    """`create`, `update`, `retire` or `delete`."""
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        told = ", ".join(_told(name, old, new) for name, (old, new) in self.changes.items() if old != new)
        return " ".join(filter(None, (self.file, self.row, self.action, self.kind, self.key))) + (told and f": {told}")


def _told(name: str, old: Any, new: Any) -> str:
    return f"{name} {_short(new)}" if old is None else f"{name} {_short(old)} → {_short(new)}"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an import did or would do. With faults, it did nothing."""

    counts: Mapping[str, Mapping[str, int]]
    """By kind, how many rows by action, and how many `unchanged`."""
    changes: Sequence[RowChange]
    faults: Sequence[Fault]
    fingerprint: str
    """Two previews that agree in it would do the same."""


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
    """Do what the contents say, in the name of the principal; everything or, where there are faults, nothing.

    `expected` is the fingerprint of the preview that was agreed to; `finish` is called last, in the transaction.
    Raises Forbidden, Conflict `changed_since_preview`, and whatever `finish` raises.
    """
    for name in contents.entries:
        principal.require(next(sheet.capability for sheet in SHEETS if sheet.name == name))
    work = _Import(contents, principal, missing, progress)
    with transaction.atomic():
        outcome = work.outcome() if contents.faults else work.done()
        if expected and outcome.fingerprint != expected:
            raise Conflict("changed_since_preview", "the inventory has changed since the preview: look at it again")
        if outcome.faults or dry_run:
            transaction.set_rollback(True)
        else:
            finish(outcome)
    return outcome


class _Import:
    """One import under way, inside its transaction."""

    def __init__(self, contents: Contents, principal: Principal, missing: str, progress: Progress) -> None:
        self._contents = contents
        self._principal = principal
        self._missing = missing
        self._progress = progress
        self._faults = list(contents.faults)
        self._changes: list[RowChange] = []
        self._counts: dict[str, Counter[str]] = {}
        self._total = sum(len(entries) for entries in contents.entries.values())
        self._passed = 0

    def done(self) -> Outcome:
        """Every sheet finds what the ones before it made; rows go in the opposite order."""
        named = (sheet for sheet in SHEETS if sheet.name in self._contents.entries)
        plans = [self._write(sheet) for sheet in named if not self._faults]
        for one in reversed(plans):
            if self._missing == Missing.DELETE and not self._faults:
                self._delete(one)
        return self.outcome()

    def outcome(self) -> Outcome:
        changes = [] if self._faults else self._changes
        seen = msgspec.json.encode([[item.kind, item.key, item.action, item.changes] for item in changes])
        return Outcome(
            counts={} if self._faults else self._counts,
            changes=changes,
            faults=self._faults[:ENOUGH],
            fingerprint=hashlib.sha256(seen).hexdigest(),
        )

    def _write(self, sheet: Sheet) -> Plan:
        planned = plan(sheet, self._contents, self._principal, missing=self._missing != Missing.KEEP)
        self._faults += planned.faults
        self._advance(planned.unchanged)
        created = self._each(sheet, planned.creates, lambda steps: sheet.create(documents=_given(steps)))
        for step, row in created:
            self._note(sheet, step, row, "create", {name: (None, value) for name, value in step.changes.items()})
        before = {
            id(step): {name: sheet.by_name[name].value(step.row) for name in step.changes} for step in planned.updates
        }
        updated = self._each(
            sheet, planned.updates, lambda steps: sheet.update(updates=[(step.row, step.changes) for step in steps])
        )
        for step, row in updated:
            was = before[id(step)]
            self._note(sheet, step, row, "update", {name: (was[name], value) for name, value in step.changes.items()})
        self._counts[sheet.name] = Counter(
            {"create": len(planned.creates), "update": len(planned.updates), "unchanged": planned.unchanged}
        )
        if sheet is IDCS and self._missing == Missing.RETIRE and not self._faults:
            self._retire(planned)
        return planned

    def _each(
        self, sheet: Sheet, steps: Sequence[Step], write: Callable[[Sequence[Step]], Sequence[Any]]
    ) -> list[tuple[Step, Any]]:
        """Write the steps chunk by chunk; what the services refuse is said of the row that it stands in."""
        written: list[tuple[Step, Any]] = []
        size = len(steps) if sheet.whole else CHUNK
        for start in range(0, len(steps), size or 1):
            chunk = steps[start : start + size]
            try:
                written += zip(chunk, write(chunk), strict=True)
            except IdcschedError as error:
                self._faults += _located(chunk, error)
                if len(self._faults) >= ENOUGH:
                    break
            self._advance(len(chunk))
        return written

    def _retire(self, planned: Plan) -> None:
        rows = [row for row in planned.missing if row.status != Status.RETIRED]
        for row in rows:
            self._changes.append(_gone(planned.sheet, row, "retire", {"status": (row.status, Status.RETIRED.value)}))
        services.idcs_update(updates=[(row, {"status": Status.RETIRED}) for row in rows])
        self._counts[planned.sheet.name]["retire"] = len(rows)

    def _delete(self, planned: Plan) -> None:
        for row in _leaves_first(planned):
            self._changes.append(_gone(planned.sheet, row, "delete"))
            try:
                planned.sheet.delete(row)
            except IdcschedError as error:
                self._faults.append(Fault(row=row.audit_key, error=_field_error(error)))
                if len(self._faults) >= ENOUGH:
                    break
        self._counts[planned.sheet.name]["delete"] = len(planned.missing)

    def _advance(self, count: int) -> None:
        self._passed += count
        self._progress(self._passed, self._total)

    def _note(self, sheet: Sheet, step: Step, row: Any, action: str, changes: Mapping[str, tuple[Any, Any]]) -> None:
        columns = sheet.by_name
        shown = {name: (columns[name].shown(old), columns[name].shown(new)) for name, (old, new) in changes.items()}
        entry = step.entry
        self._changes.append(
            RowChange(
                file=entry.file, row=entry.row, kind=sheet.name, key=_called(sheet, row), action=action, changes=shown
            )
        )


def _given(steps: Sequence[Step]) -> list[Mapping[str, Any]]:
    return [step.changes for step in steps]


def _called(sheet: Sheet, row: Any) -> str:
    """What people call it; an affinity that has just been made for a preview has no lasting number."""
    return str(row) if sheet.repeats else str(row.audit_key)


def _gone(sheet: Sheet, row: Any, action: str, changes: Mapping[str, tuple[Any, Any]] | None = None) -> RowChange:
    return RowChange(file="", row="", kind=sheet.name, key=_called(sheet, row), action=action, changes=changes or {})


def _leaves_first(planned: Plan) -> list[Any]:
    if planned.sheet is not REGIONS:
        return planned.missing
    tree = RegionTree.read()
    return sorted(planned.missing, key=lambda region: len(tree.lineage(region.code)), reverse=True)


def _located(steps: Sequence[Step], error: IdcschedError) -> Iterator[Fault]:
    """What a service said about its list, as faults of the entries."""
    errors = error.errors if isinstance(error, Invalid) else (_field_error(error),)
    for one in errors:
        index, _, rest = one.pointer.removeprefix("/").partition("/")
        if not index.isdigit():
            yield Fault(error=one)
            continue
        entry = steps[int(index)].entry
        yield from faults_of(entry.file, entry.row, [FieldError(f"/{rest}", one.code, one.detail, one.params)])


def _field_error(error: IdcschedError) -> FieldError:
    return FieldError(getattr(error, "pointer", ""), error.code, error.template, error.params or None)
