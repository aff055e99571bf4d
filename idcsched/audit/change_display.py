"""Changes as pages show them: each field that was set, with its label, its old value and its new one."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from .models import Change, Recorded

__all__ = ["ChangedField", "changed_fields", "kind_name", "kinds"]

NESTED = {"profile": _("profile"), "move_answer": _("answer to a move")}
"""The names of the kinds without a `Recorded` model: a profile spans several tables, and no feed tells of an answer."""
NESTED_FIELDS = {
    "name": _("name"),
    "revision": _("revision"),
    "active": _("in force"),
    "plugins": _("plugins"),
    "tie_breakers": _("tie-breakers"),
    "fallback": _("fallback groups"),
    "pick": _("pick"),
    "line_choice": _("choice of line"),
    "bgp_substitutes": _("BGP stands in"),
    "overridable": _("weights that requests may set"),
    "candidates_percent": _("candidates to look for (%)"),
    "state": _("state"),
    "reason": _("reason"),
    "from": _("from"),
    "to": _("to"),
    "saves": _("saves a month"),
}
"""The labels of the fields of the kinds in `NESTED`."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|[+-]\d\d:\d\d)\Z")
EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedField:
    """The change of one field; values are texts, empty where there is no value."""

    name: str
    label: str
    before: str
    after: str


def changed_fields(change: Change) -> Iterator[ChangedField]:
    """Yield the fields that the change set, without those that are empty both before and after."""
    before, after = change.before or {}, change.after or {}
    model = _models().get(change.kind)
    for name in {**before, **after}:
        values = before.get(name), after.get(name)
        if any(value not in EMPTY for value in values):
            yield ChangedField(name=name, label=_label(model, name), before=_text(values[0]), after=_text(values[1]))


def kinds() -> Mapping[str, str]:
    """Return every kind of row that has a history, with its name."""
    named = {kind: str(model._meta.verbose_name) for kind, model in _models().items()}
    return named | {kind: str(name) for kind, name in NESTED.items()}


def kind_name(kind: str) -> str:
    """Return the name of a kind; of a kind that no longer exists, its code."""
    return kinds().get(kind, kind)


def _models() -> Mapping[str, type[Recorded]]:
    return {model.audit_kind: model for model in apps.get_models() if issubclass(model, Recorded)}


def _label(model: type[Model] | None, name: str) -> str:
    try:
        field = model._meta.get_field(name) if model is not None else None
    except FieldDoesNotExist:
        field = None
    return str(capfirst(getattr(field, "verbose_name", None) or NESTED_FIELDS.get(name, name)))


def _text(value: Any) -> str:
    """Format a value: times in the reader's zone, numbers without needless decimals."""
    if value in EMPTY:
        return ""
    if isinstance(value, float):
        return f"{value:.12g}"
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    moment = parse_datetime(value) if MOMENT.match(value) else None
    return value if moment is None else date_format(timezone.localtime(moment), "DATETIME_FORMAT")
