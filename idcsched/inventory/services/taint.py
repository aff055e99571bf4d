from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from idcsched.accounts.roles import Principal
from idcsched.audit.bulk import apply_to_each, places, rows_create, rows_update
from idcsched.audit.writing import refuse_unknown, row_delete, row_update, write
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.inventory.choices import Effect
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.scope import scope_check_many
from idcsched.inventory.selectors import Names, idc_named, idcs_matching

__all__ = ["taint_create", "taint_delete", "taint_update", "taints_create", "taints_delete", "taints_update"]

FIELDS = frozenset({"key", "value", "effect", "reason", "starts_at", "ends_at"})


@write()
def taint_create(
    *,
    key: str,
    idc: Idc | str | None = None,
    idcs: Sequence[Idc] | None = None,
    selector: Any = None,
    value: str = "",
    effect: str = Effect.NO_SCHEDULE,
    reason: str = "",
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    principal: Principal | None = None,
) -> list[Taint]:
    """Create a taint on one IDC, or on each of those named or matched by the selector now; all or none.

    With a principal, only within its regions. Raises Invalid, Forbidden, Conflict.
    """
    chosen = list(idcs) if idcs is not None else _idcs(idc, selector, Names())
    if principal is not None:
        scope_check_many(principal, chosen)
    return rows_create(
        [
            Taint(idc=idc, key=key, value=value, effect=effect, reason=reason, starts_at=starts_at, ends_at=ends_at)
            for idc in chosen
        ]
    )


@write()
def taints_create(*, documents: Sequence[Mapping[str, Any]], principal: Principal | None = None) -> list[Taint]:
    """Create many taints, all or none, from documents with the arguments of `taint_create`.

    Errors point below the document's place in the list. With a principal, only within its regions. Raises Invalid,
    Forbidden, Conflict.
    """
    names = Names(documents)

    def new(document: Mapping[str, Any]) -> list[Taint]:
        refuse_unknown(document, FIELDS | {"idc", "selector"})
        fields = {name: value for name, value in document.items() if name not in {"idc", "selector"}}
        idc, selector = document.get("idc"), document.get("selector")
        idcs = _idcs(idc, selector, names) if idc is None or selector is not None else [names.idc(idc)]
        return [Taint(**fields, idc=idc) for idc in idcs]

    pairs = [
        (taint, pointer)
        for taints, pointer in zip(apply_to_each(documents, places(documents), new), places(documents), strict=True)
        for taint in taints
    ]
    rows, pointers = [taint for taint, _ in pairs], [pointer for _, pointer in pairs]
    if principal is not None:
        scope_check_many(principal, [taint.idc for taint in rows], pointers)
    return rows_create(rows, pointers)


@write()
def taint_update(*, taint: Taint, changes: Mapping[str, Any]) -> Taint:
    """Change a taint's fields; raises Invalid, NotFound, Conflict."""
    return row_update(taint, changes, allowed=FIELDS)


@write()
def taints_update(*, updates: Sequence[tuple[Taint, Mapping[str, Any]]]) -> list[Taint]:
    """Change many taints, all or none, as `taint_update` changes one; errors point below the change's place.

    Raises Invalid, NotFound, Conflict.
    """
    return rows_update(updates, allowed=FIELDS, pointers=places(updates))


@write()
def taints_delete(*, taints: Sequence[Taint], principal: Principal | None = None) -> None:
    """Lift many taints, all or none; with a principal, only within its regions. Raises NotFound, Forbidden."""
    if principal is not None:
        scope_check_many(principal, [taint.idc for taint in taints])
    for taint in taints:
        row_delete(taint)


@write()
def taint_delete(*, taint: Taint) -> None:
    """Lift a taint; raises NotFound."""
    row_delete(taint)


def _idcs(idc: Idc | str | None, selector: Any, names: Names) -> list[Idc]:
    if (idc is None) == (selector is None):
        raise Invalid("idc_or_selector", _("name either an IDC or a selector"), "/idc")
    if idc is not None:
        return [idc_named(idc, "/idc") if isinstance(idc, str) else idc]
    idcs = idcs_matching(names.terms(selector, "/selector"))
    if not idcs:
        raise Invalid("selector_matches_nothing", _("the selector matches no IDC"), "/selector")
    return idcs
