"""Queries that find rows by codes and aliases, and IDCs by selectors."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.matching import (
    Term,
    parse_terms,
    pointed_terms,
    terms_match,
    unknown_facts,
    unknown_values,
)
from idcsched.framework.messages import Message, _

from .labels import RegionTree, idc_labels
from .models import Idc, Isp, Line, Region

__all__ = [
    "Names",
    "idc_codes",
    "idc_named",
    "idcs_matching",
    "isp_codes",
    "line_named",
    "region_codes_within",
    "region_named",
    "rows_by_code",
]

Named = TypeVar("Named", bound=Model)
Coded = TypeVar("Coded", Idc, Isp, Region)


def region_named(code: str, pointer: str = "") -> Region:
    """Return the region of that code; raises Invalid `unknown_region`."""
    return _named(Region, {"code": code}, "unknown_region", _("there is no region {name}"), code, pointer)


def idc_named(code: str, pointer: str = "") -> Idc:
    """Return the IDC of that code; raises Invalid `unknown_idc`."""
    return _named(Idc, {"code": code}, "unknown_idc", _("there is no IDC {name}"), code, pointer)


def line_named(idc: Idc, code: str, pointer: str = "") -> Line:
    """Return the IDC's line of that code; raises Invalid `unknown_line`."""
    return _named(Line, {"idc": idc, "code": code}, "unknown_line", _("the IDC has no line {name}"), code, pointer)


class Names:
    """The rows that many documents refer to by name; each kind is read once, at its first reference.

    A reference may also be the row itself.
    """

    def __init__(self, documents: Iterable[Mapping[str, Any]] = ()) -> None:
        self._documents = list(documents)

    def region(self, given: Region | str | None, pointer: str = "/region") -> Region | None:
        """Return the region of that code; raises Invalid `unknown_region`."""
        if not isinstance(given, str):
            return given
        if given not in self._regions:
            raise Invalid("unknown_region", _("there is no region {name}"), pointer, name=given)
        return self._regions[given]

    def isp(self, given: Isp | str | None, pointer: str = "/isp") -> Isp:
        """Return the ISP of that code or alias; raises Invalid `unknown_isp`, `required`."""
        if given is None:
            raise Invalid("required", _("this is required"), pointer)
        if not isinstance(given, str):
            return given
        if given not in self._isps:
            raise Invalid("unknown_isp", _("there is no ISP {name}"), pointer, name=given)
        return self._isps[given]

    def idc(self, given: Idc | str | None, pointer: str = "/idc") -> Idc | None:
        """Return the IDC of that code; raises Invalid `unknown_idc`."""
        if not isinstance(given, str):
            return given
        if given not in self._idcs:
            raise Invalid("unknown_idc", _("there is no IDC {name}"), pointer, name=given)
        return self._idcs[given]

    def terms(self, document: Any, pointer: str) -> tuple[Term, ...]:
        """Decode a selector of IDCs that comes in; raises Invalid, also for facts and names that no IDC can have."""
        terms = parse_terms(document, pointer)
        alone = not isinstance(document, list | tuple)
        if errors := list(self.unmatchable(pointed_terms(terms[0] if alone else terms, pointer))):
            raise Invalid.of(errors)
        return terms

    def unmatchable(self, terms: Iterable[tuple[str, Term]]) -> Iterator[FieldError]:
        """Yield the facts and names in terms that no IDC can have; each of the terms comes with its JSON pointer."""
        terms = list(terms)
        yield from unknown_facts(terms)
        yield from unknown_values(terms, self._exists)

    def _exists(self, fact: str, name: str) -> bool:
        if fact == "idc/code":
            return name in self._idc_codes
        return name in (self._isps if fact == "idc/isp" else self._regions)

    @cached_property
    def _regions(self) -> dict[str, Region]:
        return {region.code: region for region in Region.objects.all()}

    @cached_property
    def _isps(self) -> dict[str, Isp]:
        return {name: isp for isp in Isp.objects.all() for name in (isp.code, *isp.aliases)}

    @cached_property
    def _idcs(self) -> dict[str, Idc]:
        """The IDCs that the documents name, by code; not all IDCs, of which there may be many more."""
        named = {document.get("idc") for document in self._documents}
        return rows_by_code(Idc.objects.select_related("region"), {code for code in named if isinstance(code, str)})

    @cached_property
    def _idc_codes(self) -> frozenset[str]:
        return frozenset(Idc.objects.order_by().values_list("code", flat=True))


def rows_by_code(rows: QuerySet[Coded], codes: Iterable[str]) -> dict[str, Coded]:
    """Return the rows with these codes, by code; one query per thousand."""
    ordered = sorted(set(codes))
    return {
        row.code: row
        for start in range(0, len(ordered), 1000)
        for row in rows.filter(code__in=ordered[start : start + 1000])
    }


def region_codes_within(codes: Collection[str], pointer: str = "") -> frozenset[str]:
    """Return the codes of these regions and their sub-regions; one query. Raises Invalid `unknown_region`."""
    tree = RegionTree.read()
    _refuse_missing(codes, tree.parents, "unknown_region", _("there is no region {name}"), pointer)
    return frozenset(code for code in tree.parents if not frozenset(codes).isdisjoint(tree.lineage(code)))


def idc_codes(codes: Collection[str], pointer: str = "") -> frozenset[str]:
    """Return the codes of these IDCs, all of which must exist; one query. Raises Invalid `unknown_idc`."""
    known = frozenset(Idc.objects.filter(code__in=codes).order_by().values_list("code", flat=True))
    _refuse_missing(codes, known, "unknown_idc", _("there is no IDC {name}"), pointer)
    return known


def isp_codes(names: Collection[str], pointer: str = "") -> frozenset[str]:
    """Return the codes of the ISPs with these codes or aliases; one query. Raises Invalid `unknown_isp`."""
    known = {name: isp.code for isp in Isp.objects.all() for name in (isp.code, *isp.aliases)}
    _refuse_missing(names, known, "unknown_isp", _("there is no ISP {name}"), pointer)
    return frozenset(known[name] for name in names)


def idcs_matching(terms: Iterable[Term]) -> list[Idc]:
    """Return the IDCs that one of the terms matches, ordered by code; four queries, however many IDCs there are."""
    terms = tuple(terms)
    tree = RegionTree.read()
    candidates = Idc.objects.select_related("region").prefetch_related("lines__isp").order_by("code")
    return [idc for idc in candidates if terms_match(terms, idc_labels(idc, tree))]


def _refuse_missing(names: Iterable[str], known: Container[str], code: str, detail: Message, pointer: str) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        raise Invalid(code, detail, pointer, name=missing[0])


def _named(model: type[Named], fields: Mapping[str, Any], code: str, detail: Message, name: str, pointer: str) -> Named:
    # PostgreSQL raises an error for a text with NUL
    row = None if "\x00" in name else model._default_manager.filter(**fields).first()
    if row is None:
        raise Invalid(code, detail, pointer, name=name)
    return row
