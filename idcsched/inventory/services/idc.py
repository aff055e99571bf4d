from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import ProtectedError

from idcsched.audit.bulk import apply_to_each, places, rows_check, rows_insert, rows_update
from idcsched.audit.refusals import protecting_examples
from idcsched.audit.writing import below, refuse_unknown, row_delete, write
from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _
from idcsched.inventory.choices import Status, Tier
from idcsched.inventory.models import STOCK_FIELDS, Idc, Line, Region
from idcsched.inventory.selectors import Names

from .line import lines_new, lines_replace

__all__ = ["idc_create", "idc_delete", "idc_update", "idcs_create", "idcs_update"]

FIELDS = frozenset(
    {
        "code",
        "name",
        "region",
        "tier",
        "status",
        "partition",
        "labels",
        "provider",
        "latitude",
        "longitude",
        *STOCK_FIELDS,
    }
)


@write()
def idc_create(
    *,
    code: str,
    region: Region | str,
    name: str = "",
    tier: str = Tier.EDGE,
    status: str = Status.ONLINE,
    partition: str = "",
    labels: Mapping[str, str] | None = None,
    provider: str = "",
    latitude: float | None = None,
    longitude: float | None = None,
    stock_cpu: float | None = None,
    stock_memory_gib: float | None = None,
    stock_disk_gib: float | None = None,
    stock_gpu: float | None = None,
    lines: Sequence[Mapping[str, Any]] = (),
) -> Idc:
    """Create an IDC with its lines, given as documents with `line_create`'s arguments; raises Invalid, Conflict."""
    document = dict(locals())  # the arguments by name; no other local may come before this line
    if labels is None:
        document["labels"] = {}
    return _create([document], [""])[0]


@write()
def idcs_create(*, documents: Sequence[Mapping[str, Any]]) -> list[Idc]:
    """Create many IDCs, all or none, from documents with the arguments of `idc_create`.

    Errors point below the document's place in the list. Raises Invalid, Conflict.
    """
    return _create(documents, places(documents))


@write()
def idc_update(*, idc: Idc, changes: Mapping[str, Any]) -> Idc:
    """Change an IDC's fields. `lines`, if given, are all its lines from then on, matched with the present ones by code.

    Raises Invalid, NotFound, Conflict.
    """
    return _update([(idc, changes)], [""])[0]


@write()
def idcs_update(*, updates: Sequence[tuple[Idc, Mapping[str, Any]]]) -> list[Idc]:
    """Change many IDCs, all or none, as `idc_update` changes one; errors point below the change's place in the list.

    Raises Invalid, NotFound, Conflict.
    """
    return _update(updates, places(updates))


@write()
def idc_delete(*, idc: Idc) -> None:
    """Remove an IDC that no history refers to, with its lines, taints and affinities.

    Raises NotFound, Conflict `in_use` (retire it instead).
    """
    try:
        for row in (*idc.lines.all(), *idc.taints.all(), *idc.affinities.all()):
            row_delete(row)
        row_delete(idc)
    except ProtectedError as error:
        detail = _("history needs it ({examples}): retire it instead")
        raise Conflict("in_use", detail, examples=protecting_examples(error)) from error


def _create(documents: Sequence[Mapping[str, Any]], pointers: Sequence[str]) -> list[Idc]:
    names = Names()
    rows = apply_to_each(documents, pointers, lambda document: _new(document, names))
    idcs = [idc for idc, _ in rows]
    rows_check(idcs, pointers)
    rows_insert(idcs, pointers)
    lines = [
        (line, f"{pointer}/lines/{index}")
        for pointer, (_, idc_lines) in zip(pointers, rows, strict=True)
        for index, line in enumerate(idc_lines)
    ]
    rows_insert([line for line, _ in lines], [pointer for _, pointer in lines])
    return idcs


def _new(document: Mapping[str, Any], names: Names) -> tuple[Idc, list[Line]]:
    """Return an unsaved IDC and its unsaved, checked lines, so that all errors of a document are reported at once."""
    fields = dict(document)
    lines = fields.pop("lines", ())
    refuse_unknown(fields, FIELDS)
    idc = Idc(**fields | {"region": names.region(fields.get("region"))})
    return idc, lines_new(idc, lines, names)


def _update(updates: Sequence[tuple[Idc, Mapping[str, Any]]], pointers: Sequence[str]) -> list[Idc]:
    names = Names()
    changed = rows_update(
        apply_to_each(updates, pointers, lambda update: (update[0], _changes(update[1], names))),
        allowed=FIELDS,
        pointers=pointers,
    )
    for idc, (_row, changes), pointer in zip(changed, updates, pointers, strict=True):
        if changes.get("lines") is not None:
            with below(pointer):
                lines_replace(idc, changes["lines"])
    return changed


def _changes(changes: Mapping[str, Any], names: Names) -> dict[str, Any]:
    fields = {name: value for name, value in changes.items() if name != "lines"}
    return fields | ({"region": names.region(fields["region"])} if "region" in fields else {})
