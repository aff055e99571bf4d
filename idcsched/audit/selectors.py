"""Reads about the history as a whole."""

from functools import cache

from django.apps import apps

from .models import Recorded

__all__ = ["confidential_kinds"]


@cache
def confidential_kinds() -> tuple[str, ...]:
    """Return the kinds of rows whose history only administrators may see."""
    recorded = (model for model in apps.get_models() if issubclass(model, Recorded))
    return tuple(sorted({model.audit_kind for model in recorded if model.confidential}))
