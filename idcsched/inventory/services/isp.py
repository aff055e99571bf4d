from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from idcsched.audit.bulk import apply_to_each, places, rows_create, rows_update
from idcsched.audit.naming import refuse_named
from idcsched.audit.writing import below, refuse_unknown, row_delete, table_locked, write
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.models import Isp

__all__ = ["isp_create", "isp_delete", "isp_update", "isps_create", "isps_update"]

FIELDS = frozenset({"code", "name", "aliases"})


@write()
def isp_create(*, code: str, name: str = "", aliases: Sequence[str] = ()) -> Isp:
    """Create an ISP; raises Invalid, also where one of its names is taken, Conflict."""
    return _create([{"code": code, "name": name, "aliases": [] if aliases == () else aliases}], [""])[0]


@write()
def isps_create(*, documents: Sequence[Mapping[str, Any]]) -> list[Isp]:
    """Create many ISPs, all or none, from documents with the arguments of `isp_create`.

    Errors point below the document's place in the list. Raises Invalid, Conflict.
    """
    return _create(documents, places(documents))


@write()
def isp_update(*, isp: Isp, changes: Mapping[str, Any]) -> Isp:
    """Change an ISP's fields; raises Invalid, also where one of its names is taken, NotFound, Conflict."""
    return _update([(isp, changes)], [""])[0]


@write()
def isps_update(*, updates: Sequence[tuple[Isp, Mapping[str, Any]]]) -> list[Isp]:
    """Change many ISPs, all or none, as `isp_update` changes one; errors point below the change's place in the list.

    Raises Invalid, also where two names collide after all changes, NotFound, Conflict.
    """
    return _update(updates, places(updates))


@write()
def isp_delete(*, isp: Isp) -> None:
    """Remove an ISP without lines; raises NotFound, Conflict `in_use`."""
    for alias in isp.aliases:
        refuse_named(Isp.audit_kind, alias)
    row_delete(isp)


def _create(documents: Sequence[Mapping[str, Any]], pointers: Sequence[str]) -> list[Isp]:
    table_locked(Isp)
    isps = rows_create(apply_to_each(documents, pointers, _new), pointers)
    _refuse_taken_names(isps, pointers)
    return isps


def _new(document: Mapping[str, Any]) -> Isp:
    refuse_unknown(document, FIELDS)
    return Isp(**document)


def _update(updates: Sequence[tuple[Isp, Mapping[str, Any]]], pointers: Sequence[str]) -> list[Isp]:
    """Change ISPs; a selector may name an ISP by an alias, so no alias that one names can be taken away."""
    table_locked(Isp)
    before = Isp.objects.in_bulk([isp.pk for isp, _ in updates])
    isps = rows_update(updates, allowed=FIELDS, pointers=pointers)
    _refuse_taken_names(isps, pointers)
    for isp, pointer in zip(isps, pointers, strict=True):
        for alias in before[isp.pk].aliases:
            if alias not in (isp.code, *isp.aliases):
                with below(pointer):
                    refuse_named(Isp.audit_kind, alias)
    return isps


def _refuse_taken_names(isps: Sequence[Isp], pointers: Sequence[str]) -> None:
    """Refuse names that are ambiguous: an alias must be neither another ISP's code or alias nor its own ISP's code."""
    owners: dict[str, list[str]] = {}
    for isp in Isp.objects.all():
        for name in (isp.code, *isp.aliases):
            owners.setdefault(name, []).append(isp.code)

    def refuse(isp: Isp) -> None:
        if errors := list(_taken_names(isp, owners)):
            raise Invalid.of(errors)

    apply_to_each(isps, pointers, refuse)


def _taken_names(isp: Isp, owners: Mapping[str, Sequence[str]]) -> Iterator[FieldError]:
    names = [("/code", isp.code), *((f"/aliases/{place}", alias) for place, alias in enumerate(isp.aliases))]
    for pointer, name in names:
        others = [owner for owner in owners[name] if owner != isp.code]
        if pointer != "/code" and name == isp.code:
            others = [isp.code]
        if others:
            yield FieldError(pointer, "name_taken", _("{name} means {isp} already"), {"name": name, "isp": others[0]})
