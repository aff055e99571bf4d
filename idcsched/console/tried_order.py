"""The order that the address of a page describes: the request as the API takes it, and what is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.roles import Principal
from idcsched.framework.decoding import convert
from idcsched.framework.errors import FieldError, IdcschedError, Invalid
from idcsched.framework.profile import Entry, Profile
from idcsched.framework.request import Request
from idcsched.language.wording import explained
from idcsched.scheduling.deciding import profile_named
from idcsched.scheduling.live import LiveState
from idcsched.scheduling.models import Decision, Shape
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.shapes import shapes_visible

from .order_form import (
    IDCS,
    LIFTED,
    MACHINES,
    TAINTS,
    LiftedRow,
    LineRow,
    MachineRow,
    OrderFields,
    RowForm,
    StatusRow,
    TaintRow,
    WeightFields,
    plain,
)
from .order_words import beyond_form, name_shown

__all__ = ["Slider", "TriedOrder"]

DRAWN: Final = "drawn"
MOST_OFFERED: Final = 1000
"""The most names of one kind that a field suggests."""

Choices = list[tuple[str, Any]]
Place = tuple[forms.Form, str]


@dataclass(frozen=True, slots=True)
class Slider:
    """The weight of one scorer: its field, the profile's own weight, and the one that is tried."""

    name: str
    field: forms.BoundField
    own: float
    value: float


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one kind, and a blank one."""

    filled: Sequence[RowForm]
    blank: RowForm
    more: Any
    """What the blank row is for."""


class TriedOrder:
    """What a page's address says of an order. `errors` are those that no field is about."""

    def __init__(self, given: QueryDict, principal: Principal, picture: LiveState) -> None:
        self.given, self.principal, self.picture = given, principal, picture
        self.errors: list[str] = []
        self.fields = OrderFields(given or None)
        self.fields.offer_isps(sorted(set(picture.snapshot.isps.values())))
        for name, choices in self._choices():
            self.fields.offer(name, choices)
        self.machines = _rows(MachineRow, given, _("Another group of machines"))
        self.taints = _rows(TaintRow, given, _("Suppose a taint"))
        self.lifted = _rows(LiftedRow, given, _("Suppose a taint is lifted"))
        self.statuses = _rows(StatusRow, given, _("Suppose another state of an IDC"))
        self.lines = _rows(LineRow, given, _("Suppose another price, use or size of a line"))
        self.weights = WeightFields(self._scorers, self._weights_given)

    @property
    def asked(self) -> bool:
        """Whether the address describes an order at all."""
        return bool(self.given)

    @cached_property
    def request(self) -> Request | None:
        """The request; None where the address makes none, which its fields then say."""
        if self.problems:
            return None
        document = self.document
        if self.problems:
            return None
        try:
            return convert(document, Request)
        except Invalid as refusal:
            self.refuse(refusal)
            return None

    @cached_property
    def document(self) -> dict[str, Any]:
        """The request in the API's JSON. The fields must have been checked."""
        given = {name: value for name, value in self.fields.cleaned_data.items() if value not in (None, "", [])}
        names = ("request_id", "tenant", "profile", "region", "client")
        document: dict[str, Any] = {name: given[name] for name in names if name in given}
        if isps := given.get("isp", []):
            document["isp"] = isps[0] if len(isps) == 1 else isps
            if len(isps) > 1 and "isp_match" in given:
                document["isp_match"] = given["isp_match"]
        business = {"business": given["business"]} if "business" in given else {}
        parts = {
            "labels": {**self.beyond_form.get("labels", {}), **business},
            "machines": _filled(self.machines),
            "shape": self._shape(given),
            "weights": self.changed_weights,
            "hypothetical": self._supposed(),
        }
        filled = {name: part for name, part in parts.items() if part}
        return {**self.beyond_form, **document, **filled, "explain": "full"}

    @cached_property
    def like(self) -> Decision | None:
        """The decision that the address names, whose order is tried with changes."""
        try:
            key = UUID(self.given.get("like", ""))
        except ValueError:
            return None
        visible = decisions_visible(self.principal).only("request", "request_id")
        found: Decision | None = visible.filter(pk=key).first()
        return found

    @cached_property
    def beyond_form(self) -> dict[str, Any]:
        """What that order says that the form has no field for."""
        return dict(beyond_form(self.like.request)) if self.like else {}

    @cached_property
    def profile(self) -> Profile | None:
        """The profile that the order names, or else its tenant's; None where there is none that can be used."""
        try:
            return profile_named(self.given.get("profile"), self.tenant, self.picture)
        except IdcschedError:
            return None

    @property
    def tenant(self) -> str | None:
        """The tenant that the order is for."""
        return self.given.get("tenant") or self.principal.tenant

    @cached_property
    def changed_weights(self) -> dict[str, float]:
        """The weights that differ from the profile's."""
        given = self.weights.cleaned_data if self.weights.is_valid() else {}
        own = {WeightFields.prefix_of_names + entry.name: entry.weight for entry in self._scorers}
        changed = {name: plain(weight) for name, weight in given.items() if weight != own[name]}
        return {name.removeprefix(WeightFields.prefix_of_names): weight for name, weight in changed.items()}

    @property
    def refused_weights(self) -> list[str]:
        """The changed weights that the API would refuse, since the profile lets no request change them."""
        allowed = self.profile.overridable if self.profile else frozenset()
        return [name for name in self.changed_weights if not allowed & {"*", name}]

    @property
    def sliders(self) -> Iterator[Slider]:
        for entry in self._scorers:
            bound = self.weights[WeightFields.prefix_of_names + entry.name]
            value = self.changed_weights.get(entry.name, plain(entry.weight))
            yield Slider(name=entry.name, field=bound, own=entry.weight, value=value)

    @property
    def supposes(self) -> bool:
        """Whether the address supposes anything to be otherwise."""
        return any(rows.filled for rows in (self.taints, self.lifted, self.statuses, self.lines))

    @property
    def address_without_weights(self) -> str:
        """The parameters without those of weights."""
        kept = self.given.copy()
        for name in [name for name in kept if name.startswith("weight")]:
            del kept[name]
        return kept.urlencode()

    def refuse(self, refusal: IdcschedError) -> None:
        """Show a refusal at the fields that it points to, or above them all."""
        errors = refusal.errors if isinstance(refusal, Invalid) else ()
        pointer = getattr(refusal, "pointer", "")
        for error in errors or (FieldError(pointer, refusal.code, refusal.template, refusal.params),):
            place = self._place(error.pointer)
            if place is None:
                self.errors.append(explained(error))
            else:
                place[0].add_error(place[1], explained(error))

    @property
    def problems(self) -> dict[str, str]:
        """What is wrong with each field, by its id on the page."""
        return {
            form[name].auto_id: " ".join(str(error) for error in errors)
            for form in self._forms
            for name, errors in form.errors.items()
        }

    @property
    def refusals(self) -> Iterator[tuple[str, str, str]]:
        """Yield the id, the label and the problem of each field that is wrong."""
        fields = {form[name].auto_id: form[name] for form in self._forms for name in form.errors}
        yield from ((auto_id, str(fields[auto_id].label), problem) for auto_id, problem in self.problems.items())

    @property
    def suggestions(self) -> dict[str, Sequence[str]]:
        """The names that fields suggest, by the id of the list; of lines those in the region."""
        snapshot = self.picture.snapshot
        idcs, lines, taints = snapshot.idcs.codes, snapshot.lines, snapshot.taints
        span = snapshot.spans.get(self.given.get("region", ""), (0, len(idcs)))
        first, last = (int(lines.first[row]) for row in span)
        numbers = range(first, min(last, first + MOST_OFFERED))
        return {
            "idcs": idcs[:MOST_OFFERED],
            "lines": [f"{idcs[lines.idc[number]]}/{lines.codes[number]}" for number in numbers],
            "taints": sorted({key for key, _value, _effect in taints.kinds})[:MOST_OFFERED],
            "regions": list(snapshot.regions)[:MOST_OFFERED],
            "businesses": sorted({shape.business for shape in self._shapes}),
        }

    @property
    def _scorers(self) -> Sequence[Entry]:
        return self.profile.scorers if self.profile else ()

    @property
    def _forms(self) -> Iterator[forms.Form]:
        yield self.fields
        yield self.weights
        for rows in (self.machines, self.taints, self.lifted, self.statuses, self.lines):
            yield from rows.filled

    @property
    def _weights_given(self) -> QueryDict:
        """The parameters of weights, unless they are those of another profile that was shown before."""
        of = self.given.get("weights_of")
        return QueryDict() if of and (self.profile is None or of != self.profile.code) else self.given

    def _choices(self) -> Iterator[tuple[str, Choices]]:
        picture = self.picture
        regions = picture.snapshot.regions.items()
        yield (
            "region",
            [
                ("", "–"),
                *((code, f"{name_shown(fact.name)} ({code})" if fact.name else code) for code, fact in regions),
            ],
        )
        yield "isp_match", [("", _("one of them")), ("all", _("each of them"))]
        tenants = sorted(picture.tenants) if self.principal.all_tenants else []
        yield "tenant", [("", self.principal.tenant or _("none")), *((code, code) for code in tenants)]
        own = picture.default_profiles.get(self.tenant or "") or "default"
        usual = _("%(profile)s, as usual") % {"profile": own}
        yield "profile", [("", usual), *((code, code) for code in sorted(picture.profiles))]
        shapes = [(str(shape.pk), str(shape)) for shape in self._shapes]
        yield "shape_of", [("", _("as known of the business")), (DRAWN, _("drawn here")), *shapes]

    @cached_property
    def _shapes(self) -> Sequence[Shape]:
        """The shapes that the caller may see, without their numbers."""
        known = shapes_visible(self.principal).filter(Q(entered__isnull=False) | Q(learnt__isnull=False))
        return list(known.order_by("business", "pk").defer("entered", "learnt")[:MOST_OFFERED])

    def _shape(self, given: Mapping[str, Any]) -> list[float] | None:
        """Return the numbers that were drawn, or those of the shape that was picked."""
        picked = given.get("shape_of")
        if picked in (None, DRAWN):
            return given.get("shape") if picked else None
        shape = next((shape for shape in self._shapes if str(shape.pk) == picked), None)
        if shape is None:
            self.fields.add_error("shape_of", _("There is no such shape."))
            return None
        numbers: Any = shape.learnt if shape.entered is None else shape.entered
        return list(numbers)

    def _supposed(self) -> dict[str, Any]:
        parts = {
            "taints": _filled(self.taints),
            "ignore_taints": _filled(self.lifted),
            "idcs": _filled(self.statuses) + _filled(self.lines),
        }
        return {name: part for name, part in parts.items() if part}

    def _place(self, pointer: str) -> Place | None:
        """Return the form and the field that a pointer into the request leads to."""
        for place, row in self._row_places():
            if pointer == place or pointer.startswith(f"{place}/"):
                within = pointer[len(place) + 1 :]
                name = row.pointers.get(within, within)
                return (row, name) if name in row.fields else (row, next(iter(row.fields)))
        _empty, first, *rest = [*pointer.split("/"), ""]
        if first == "weights" and WeightFields.prefix_of_names + rest[0] in self.weights.fields:
            return self.weights, WeightFields.prefix_of_names + rest[0]
        name = {"labels": "business", "shape": "shape" if self.given.get("shape_of") == DRAWN else "shape_of"}.get(
            first, first
        )
        return (self.fields, name) if name in self.fields.fields else None

    def _row_places(self) -> Iterator[tuple[str, RowForm]]:
        """Yield every row with the pointer to its part of the request."""
        places = {
            MACHINES: self.machines.filled,
            TAINTS: self.taints.filled,
            LIFTED: self.lifted.filled,
            IDCS: [*self.statuses.filled, *self.lines.filled],
        }
        for place, rows in places.items():
            yield from ((f"{place}/{number}", row) for number, row in enumerate(rows))


def _rows(kind: type[RowForm], given: QueryDict, more: Any) -> Rows:
    filled = kind.rows(given)
    return Rows(filled=filled, blank=kind.blank(len(filled)), more=more)


def _filled(rows: Rows) -> list[dict[str, Any]]:
    return [row.filled() for row in rows.filled]
