"""What a deletion does to the rows that refer to the deleted one."""

from typing import Any

from django.db.models import CASCADE, PROTECT, Q, QuerySet

__all__ = ["protect_by"]


def protect_by(binding: Q, collector: Any, field: Any, rows: QuerySet[Any], using: str) -> None:
    """Refuse the deletion where some of the rows are binding, else delete them all; for a field's `on_delete`."""
    binding_rows = rows.filter(binding)
    if binding_rows:
        PROTECT(collector, field, binding_rows, using)
    else:
        CASCADE(collector, field, rows, using)
