"""Several writes in one transaction: all of them or none, on rows that are locked meanwhile.

The caller checks, reads and changes the rows; this module opens the transaction and locks.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

__all__ = ["all_or_none", "change_locked"]

Read = TypeVar("Read")
Result = TypeVar("Result")


def all_or_none(write: Callable[[], Result]) -> Result:
    """Call `write`; where it raises, undo all that it has written."""
    with transaction.atomic():
        return write()


def change_locked(
    rows: QuerySet[Any], *, read: Callable[[], Read], change: Callable[[Read], Result], held_with: Iterable[str] = ()
) -> Result:
    """Lock the rows, `read` their current state and pass it to `change`; where either raises, nothing is changed.

    `held_with` names the reverse relations whose rows are locked as well.
    """
    with transaction.atomic():
        keys = [*rows.select_for_update().order_by("pk").values_list("pk", flat=True)]  # in one order: no deadlocks
        for name in held_with:
            relation: Any = rows.model._meta.get_field(name)
            related = relation.related_model._default_manager.filter((f"{relation.field.name}__in", keys))
            list(related.select_for_update().order_by("pk").values_list("pk"))
        return change(read())
