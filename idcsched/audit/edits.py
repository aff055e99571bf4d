"""Several writes that are one to whoever asks for them: all of them or none, on rows as they stand while they are held.

What checks, reads and changes the rows is the caller's; the transaction is here.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

__all__ = ["all_or_none", "edited"]

Read = TypeVar("Read")
Made = TypeVar("Made")


def all_or_none(write: Callable[[], Made]) -> Made:
    """Call `write`; where it raises, undo all that it has written."""
    with transaction.atomic():
        return write()


def edited(
    rows: QuerySet[Any], *, read: Callable[[], Read], change: Callable[[Read], Made], held_with: Iterable[str] = ()
) -> Made:
    """Hold the rows, then `read` what they have come to and `change` that; where either raises, nothing is changed.

    `held_with` names the rows that belong to those and are held with them.
    """
    with transaction.atomic():
        keys = [*rows.select_for_update().order_by("pk").values_list("pk", flat=True)]  # in one order for everybody
        for name in held_with:
            relation: Any = rows.model._meta.get_field(name)
            parts = relation.related_model._default_manager.filter((f"{relation.field.name}__in", keys))
            list(parts.select_for_update().order_by("pk").values_list("pk"))
        return change(read())
