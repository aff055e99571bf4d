"""The system check for administrators with a tenant, run by `manage.py check --database default` and `migrate`."""

from collections.abc import Sequence
from typing import Any

from django.core import checks
from django.db import DatabaseError

from .models import User
from .roles import Role

__all__ = ["check_administrators"]


@checks.register(checks.Tags.database)
def check_administrators(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Warn of each administrator with a tenant: an older version allowed it, and the tenant bounds nothing they do."""
    if not databases:
        return []
    try:
        bound = User.objects.filter(role=Role.ADMIN, tenant__isnull=False).order_by("username")
        rows = list(bound.values_list("username", "tenant__code"))
    except DatabaseError:  # no tables yet: this runs before the first migration, too
        return []
    return [
        checks.Warning(
            f"the administrator {username} belongs to the tenant {tenant}, which bounds nothing that they do.",
            hint="Give them another role, or no tenant: administrators belong to none.",
            id="idcsched.W104",
        )
        for username, tenant in rows
    ]
