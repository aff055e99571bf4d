"""Where what was changed has its page: in the console if it has one there, else in the admin."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.urls import NoReverseMatch, reverse

from idcsched.audit.models import Action, Change, Recorded

__all__ = ["change_address"]


def change_address(change: Change) -> str:
    """Return the address of the page of what was changed; "" where it has none, or is gone by this change."""
    gone = change.action == Action.DELETE
    if gone and change.kind not in _BELOW:
        return ""
    key = (change.after or {}).get("code") or change.key  # it may have been given a new name
    address = _PAGES.get(change.kind)
    return _in_admin(change.kind, key) if address is None else address(key)


def _idc(key: str) -> str:
    return reverse("console:idc", args=[key])


def _line(key: str) -> str:
    idc, _slash, line = key.partition("/")
    return f"{_idc(idc)}?{urlencode({'line': line})}#chart"


def _placement(key: str) -> str:
    try:
        return reverse("console:placement", args=[UUID(key)])
    except ValueError:
        return ""


_PAGES: Final[Mapping[str, Callable[[str], str]]] = {
    "idc": _idc,
    "line": _line,
    "taint": lambda key: f"{_idc(key.partition('/')[0])}#taints-title",
    "profile": lambda key: reverse("console:profile", args=[key]),
    "source": lambda key: reverse("console:source", args=[key]),
    "placement": _placement,
    "move_answer": _placement,
    "callback": lambda key: reverse("admin:placement_delivery_change", args=[key]),
}
_BELOW: Final = {"taint", "move_answer"}
"""The kinds whose page is that of something else, which is still there once they are gone."""


def _in_admin(kind: str, key: str) -> str:
    """Return the row's page in the admin, or the list there, narrowed to what is called so."""
    model = _models().get(kind)
    if model is None:
        return ""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    try:
        if key.isdecimal() and not _has_code(model):
            return reverse(f"{name}_change", args=[key])
        return f"{reverse(f'{name}_changelist')}?{urlencode({'q': key.partition('/')[0]})}"
    except NoReverseMatch:
        return ""


def _has_code(model: type[Any]) -> bool:
    try:
        model._meta.get_field("code")
    except FieldDoesNotExist:
        return False
    return True


@cache
def _models() -> Mapping[str, type[Recorded]]:
    return {model.audit_kind: model for model in apps.get_models() if issubclass(model, Recorded)}
