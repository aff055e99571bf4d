from collections.abc import Mapping, Sequence
from typing import Any

from idcsched.audit.writing import below, refuse_unknown, row_create, row_delete, row_update, write
from idcsched.framework.errors import Invalid
from idcsched.inventory.choices import ChargeType
from idcsched.inventory.models import Idc, Isp, Line
from idcsched.inventory.selectors import idc_named, isp_resolve

__all__ = ["line_create", "line_delete", "line_update", "lines_create", "lines_replace"]

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
    """A new line of the IDC, called like its ISP unless named; raises Invalid, Conflict."""
    isp = _isp(isp)
    return row_create(
        Line(
            idc=idc_named(idc, "/idc") if isinstance(idc, str) else idc,
            code=code or isp.code,
            isp=isp,
            purchased_mbps=purchased_mbps,
            commit_mbps=commit_mbps,
            max_level=max_level,
            charge_type=charge_type,
            price_per_mbps=price_per_mbps,
            price_per_gb=price_per_gb,
        )
    )


@write()
def line_update(*, line: Line, changes: Mapping[str, Any]) -> Line:
    """Set those fields; raises Invalid, NotFound, Conflict."""
    changes = dict(changes)
    if "isp" in changes:
        changes["isp"] = _isp(changes["isp"])
    return row_update(line, changes, allowed=FIELDS)


@write()
def line_delete(*, line: Line) -> None:
    """Remove a line of which nothing was ever taken; raises NotFound, Conflict `in_use`."""
    row_delete(line)


def lines_create(idc: Idc, documents: Sequence[Mapping[str, Any]]) -> None:
    """The lines of a new IDC; raises Invalid with pointers below `/lines`."""
    for place, (code, fields) in enumerate(_completed(documents)):
        with below(f"/lines/{place}"):
            line_create(idc=idc, code=code, **fields)


def lines_replace(idc: Idc, documents: Sequence[Mapping[str, Any]]) -> None:
    """Make these the lines of the IDC: by code, each as its document says it and else as a new one would be.

    Raises Invalid with pointers below `/lines`, Conflict.
    """
    wanted = _completed(documents)
    there = {line.code: line for line in idc.lines.all()}
    for code in there.keys() - {code for code, _ in wanted}:
        line_delete(line=there[code])
    for place, (code, fields) in enumerate(wanted):
        with below(f"/lines/{place}"):
            if code in there:
                line_update(line=there[code], changes=fields)
            else:
                line_create(idc=idc, code=code, **fields)


def _completed(documents: Sequence[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Each line's code, and its other fields with the defaults; raises Invalid."""
    found: dict[str, dict[str, Any]] = {}
    for place, document in enumerate(documents):
        with below(f"/lines/{place}"):
            refuse_unknown(document, FIELDS)
            fields = {**DEFAULTS, **document}
            fields["isp"] = isp = _isp(fields["isp"])
            code = fields.pop("code", "") or isp.code
            if code in found:
                raise Invalid("line_twice", "there are two lines {name}", "/code", name=code)
            found[code] = fields
    return list(found.items())


def _isp(isp: Isp | str | None) -> Isp:
    if isp is None:
        raise Invalid("required", "this is required", "/isp")
    return isp_resolve(isp, "/isp") if isinstance(isp, str) else isp
