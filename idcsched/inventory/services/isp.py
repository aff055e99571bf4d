from collections.abc import Mapping, Sequence
from typing import Any

from idcsched.audit.writing import row_create, row_delete, row_update, table_locked, write
from idcsched.framework.errors import FieldError, Invalid
from idcsched.inventory.models import Isp

__all__ = ["isp_create", "isp_delete", "isp_update"]

FIELDS = frozenset({"code", "name", "aliases"})


@write()
def isp_create(*, code: str, name: str = "", aliases: Sequence[str] = ()) -> Isp:
    """A new ISP; raises Invalid, also where one of its names is taken, Conflict."""
    table_locked(Isp)
    isp = row_create(Isp(code=code, name=name, aliases=list(aliases)))
    _refuse_taken_names(isp)
    return isp


@write()
def isp_update(*, isp: Isp, changes: Mapping[str, Any]) -> Isp:
    """Set those fields; raises Invalid, also where one of its names is taken, NotFound, Conflict."""
    table_locked(Isp)
    isp = row_update(isp, changes, allowed=FIELDS)
    _refuse_taken_names(isp)
    return isp


@write()
def isp_delete(*, isp: Isp) -> None:
    """Remove an ISP that no line belongs to; raises NotFound, Conflict `in_use`."""
    row_delete(isp)


def _refuse_taken_names(isp: Isp) -> None:
    """A name means one ISP: no alias is a code or an alias of another, nor the ISP's own code."""
    others = Isp.objects.exclude(pk=isp.pk)
    owners = {name: other.code for other in others for name in (other.code, *other.aliases)}
    names = [("/code", isp.code), *((f"/aliases/{place}", alias) for place, alias in enumerate(isp.aliases))]
    taken = [
        FieldError(pointer, "name_taken", "{name} means {isp} already", {"name": name, "isp": owner})
        for pointer, name in names
        if (owner := owners.get(name, isp.code if name == isp.code and pointer != "/code" else None))
    ]
    if taken:
        raise Invalid.of(taken)
