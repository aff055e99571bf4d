"""The profiles that every installation starts with: documents in `shipped_profiles/`, each with its rationale."""

import json
from importlib.resources import files
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS, connection, transaction

from idcsched.audit.context import origin_set

from .models import Profile
from .services import DEFAULT_PROFILE, profile_create

__all__ = ["SHIPPED", "shipped_document", "shipped_profiles_ensure"]

SHIPPED: Final = ("default", "cost-first", "bandwidth-first", "even")


def shipped_profiles_ensure(*, using: str, **_: Any) -> None:
    """Create the shipped profiles where there is no `default` yet; a receiver of `post_migrate`.

    Nobody can delete `default`, so that only a new or a flushed database lacks it. Shipped profiles that operators have
    changed or deleted stay so.
    """
    if using != DEFAULT_DB_ALIAS or Profile._meta.db_table not in connection.introspection.table_names():
        return
    with transaction.atomic(), origin_set(actor="idcsched", via="command"):
        if not Profile.objects.filter(code=DEFAULT_PROFILE).exists():
            for code in SHIPPED:
                profile_create(**_read(code))


def shipped_document(code: str) -> dict[str, Any]:
    """Return the document of a profile as it is shipped."""
    text = files(__package__).joinpath("shipped_profiles", f"{code}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _read(code: str) -> dict[str, Any]:
    """Return a document as arguments of `profile_create`; the rationale is the first revision's message."""
    body = shipped_document(code)
    return {"code": body.pop("code"), "name": body.pop("name"), "message": body.pop("message"), "body": body}
