from collections.abc import Mapping
from datetime import datetime
from typing import Any

from idcsched.accounts.roles import Principal
from idcsched.audit.writing import row_delete, row_update, rows_create, write
from idcsched.framework.errors import Invalid
from idcsched.framework.matching import parse_terms
from idcsched.inventory.choices import Effect
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.scope import scope_check_many
from idcsched.inventory.selectors import idc_named, idcs_matching

__all__ = ["taint_create", "taint_delete", "taint_update"]

FIELDS = frozenset({"key", "value", "effect", "reason", "starts_at", "ends_at"})


@write()
def taint_create(
    *,
    key: str,
    idc: Idc | str | None = None,
    selector: Any = None,
    value: str = "",
    effect: str = Effect.NO_SCHEDULE,
    reason: str = "",
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    principal: Principal | None = None,
) -> list[Taint]:
    """A taint on one IDC, or one on each that the selector matches now, all or none.

    With a principal, only within its regions. Raises Invalid, Forbidden, Conflict.
    """
    idcs = _idcs(idc, selector)
    if principal is not None:
        scope_check_many(principal, idcs)
    return rows_create(
        [
            Taint(idc=idc, key=key, value=value, effect=effect, reason=reason, starts_at=starts_at, ends_at=ends_at)
            for idc in idcs
        ]
    )


@write()
def taint_update(*, taint: Taint, changes: Mapping[str, Any]) -> Taint:
    """Set those fields; raises Invalid, NotFound, Conflict."""
    return row_update(taint, changes, allowed=FIELDS)


@write()
def taint_delete(*, taint: Taint) -> None:
    """Lift a taint; raises NotFound."""
    row_delete(taint)


def _idcs(idc: Idc | str | None, selector: Any) -> list[Idc]:
    if (idc is None) == (selector is None):
        raise Invalid("idc_or_selector", "name either an IDC or a selector", "/idc")
    if idc is not None:
        return [idc_named(idc, "/idc") if isinstance(idc, str) else idc]
    found = idcs_matching(parse_terms(selector, "/selector"))
    if not found:
        raise Invalid("selector_matches_nothing", "the selector matches no IDC", "/selector")
    return found
