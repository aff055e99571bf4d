from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from idcsched.accounts.roles import Principal
from idcsched.audit.bulk import apply_to_each, places, rows_create, rows_update
from idcsched.audit.writing import refuse_unknown, row_create, row_delete, row_update, write
from idcsched.inventory.models import Affinity, Idc
from idcsched.inventory.scope import concerned, scope_check_many
from idcsched.inventory.selectors import Names, idc_named

__all__ = ["affinities_create", "affinities_update", "affinity_create", "affinity_delete", "affinity_update"]

FIELDS = frozenset({"idc", "selector", "kind", "weight", "request_selector", "reason", "starts_at", "ends_at"})


@write()
def affinity_create(
    *,
    kind: str,
    idc: Idc | str | None = None,
    selector: Any = None,
    weight: int | None = None,
    request_selector: Any = None,
    reason: str = "",
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
) -> Affinity:
    """Create an affinity about one IDC, or about all that the selector matches, now and later; raises Invalid."""
    _selector_check(selector, Names())
    return row_create(
        Affinity(
            idc=_idc(idc),
            selector=selector,
            kind=kind,
            weight=weight,
            request_selector=request_selector,
            reason=reason,
            starts_at=starts_at,
            ends_at=ends_at,
        )
    )


@write()
def affinities_create(*, documents: Sequence[Mapping[str, Any]], principal: Principal | None = None) -> list[Affinity]:
    """Create many affinities, all or none, from documents with the arguments of `affinity_create`.

    Errors point below the document's place in the list. With a principal, only such as concern its regions. Raises
    Invalid, Forbidden.
    """
    names, pointers = Names(documents), places(documents)

    def new(document: Mapping[str, Any]) -> Affinity:
        refuse_unknown(document, FIELDS)
        _selector_check(document.get("selector"), names)
        return Affinity(**{**document, "idc": names.idc(document.get("idc"))})

    rows = apply_to_each(documents, pointers, new)
    if principal is not None:
        scope_check_many(principal, [concerned(affinity) for affinity in rows], pointers)
    return rows_create(rows, pointers)


@write()
def affinity_update(*, affinity: Affinity, changes: Mapping[str, Any]) -> Affinity:
    """Change an affinity's fields; an IDC replaces the selector, and a selector the IDC. Raises Invalid, NotFound."""
    changes = dict(changes)
    if changes.get("selector") != affinity.selector:
        _selector_check(changes.get("selector"), Names())
    if "idc" in changes:
        changes["idc"] = _idc(changes["idc"])
    for given, other in (("idc", "selector"), ("selector", "idc")):
        if changes.get(given) is not None:
            changes.setdefault(other, None)
    return row_update(affinity, changes, allowed=FIELDS)


@write()
def affinities_update(*, updates: Sequence[tuple[Affinity, Mapping[str, Any]]]) -> list[Affinity]:
    """Change many affinities, all or none, but not their IDCs or selectors.

    Errors point below the change's place in the list. Raises Invalid, NotFound.
    """
    return rows_update(updates, allowed=FIELDS - {"idc", "selector"}, pointers=places(updates))


@write()
def affinity_delete(*, affinity: Affinity) -> None:
    """Remove an affinity; raises NotFound."""
    row_delete(affinity)


def _selector_check(selector: Any, names: Names) -> None:
    """Raise Invalid for a new selector that can't be read or names what is not there; a stored one may stay."""
    if selector is not None:
        names.terms(selector, "/selector")


def _idc(idc: Idc | str | None) -> Idc | None:
    return idc_named(idc, "/idc") if isinstance(idc, str) else idc
