"""Finding rows by the names that clients know, and IDCs by what a selector says."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db.models import Model

from idcsched.framework.errors import Invalid, Template
from idcsched.framework.matching import Term, terms_match

from .labels import RegionTree, idc_labels
from .models import Idc, Isp, Line, Region

__all__ = ["idc_named", "idcs_matching", "isp_resolve", "line_named", "region_named"]

Named = TypeVar("Named", bound=Model)


def region_named(code: str, pointer: str = "") -> Region:
    """The region of that code; raises Invalid `unknown_region`."""
    return _named(Region, {"code": code}, "unknown_region", "there is no region {name}", code, pointer)


def idc_named(code: str, pointer: str = "") -> Idc:
    """The IDC of that code; raises Invalid `unknown_idc`."""
    return _named(Idc, {"code": code}, "unknown_idc", "there is no IDC {name}", code, pointer)


def line_named(idc: Idc, code: str, pointer: str = "") -> Line:
    """The IDC's line of that code; raises Invalid `unknown_line`."""
    return _named(Line, {"idc": idc, "code": code}, "unknown_line", "the IDC has no line {name}", code, pointer)


def isp_resolve(name: str, pointer: str = "") -> Isp:
    """The ISP of that code or alias; raises Invalid `unknown_isp`."""
    for isp in Isp.objects.all():  # a dozen rows, and no database looks into a JSON list as the other does
        if name == isp.code or name in isp.aliases:
            return isp
    raise Invalid("unknown_isp", "there is no ISP {name}", pointer, name=name)


def idcs_matching(terms: Iterable[Term]) -> list[Idc]:
    """The IDCs that one of the terms matches, by code; four queries however many there are."""
    wanted = tuple(terms)
    tree = RegionTree.read()
    candidates = Idc.objects.select_related("region").prefetch_related("lines__isp").order_by("code")
    return [idc for idc in candidates if terms_match(wanted, idc_labels(idc, tree))]


def _named(
    model: type[Named], wanted: Mapping[str, Any], code: str, detail: Template, name: str, pointer: str
) -> Named:
    found = model._default_manager.filter(**wanted).first()
    if found is None:
        raise Invalid(code, detail, pointer, name=name)
    return found
