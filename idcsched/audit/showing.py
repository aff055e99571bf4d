"""Changes as people read them: what was set, from what to what, in the words of the pages."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from .models import Change, Recorded

__all__ = ["ChangedField", "changed_fields", "kind_name", "kinds"]

NESTED = {"profile": _("profile")}
"""Kinds whose rows are more than one table's, with their names."""
EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedField:
    """One value, as text; empty: there was, or is, none."""

    name: str
    label: str
    before: str
    after: str


def changed_fields(change: Change) -> Iterator[ChangedField]:
    """What the change set; of a row that came or went, what was not empty."""
    before, after = change.before or {}, change.after or {}
    model = _models().get(change.kind)
    for name in {**before, **after}:
        values = before.get(name), after.get(name)
        if any(value not in EMPTY for value in values):
            yield ChangedField(name=name, label=_label(model, name), before=_text(values[0]), after=_text(values[1]))


def kinds() -> Mapping[str, str]:
    """Every kind of row that has a history, with its name."""
    named = {kind: str(model._meta.verbose_name) for kind, model in _models().items()}
    return named | {kind: str(name) for kind, name in NESTED.items()}


def kind_name(kind: str) -> str:
    """What people call such rows; one that no longer exists by its own code."""
    return kinds().get(kind, kind)


def _models() -> Mapping[str, type[Recorded]]:
    return {model.audit_kind: model for model in apps.get_models() if issubclass(model, Recorded)}


def _label(model: type[Model] | None, name: str) -> str:
    try:
        field = model._meta.get_field(name) if model is not None else None
    except FieldDoesNotExist:
        field = None
    return str(capfirst(getattr(field, "verbose_name", name)))


def _text(value: Any) -> str:
    if value in EMPTY:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
