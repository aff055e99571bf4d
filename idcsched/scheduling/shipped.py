"""The profiles that every installation starts with: documents in `shipped_profiles/`, each with its rationale."""

import json
from importlib.resources import files
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS, connection, transaction

from idcsched.audit.context import origin_set

from .models import Profile
from .services import DEFAULT_PROFILE, profile_create, profile_revise

__all__ = ["SHIPPED", "shipped_document", "shipped_profiles_ensure", "shipped_profiles_refresh"]

SHIPPED: Final = ("default", "cost-first", "bandwidth-first", "even")
ACTOR: Final = "idcsched"
"""The author of the revisions that are made here, in the history."""


def shipped_profiles_ensure(*, using: str, **_: Any) -> None:
    """Create the shipped profiles where there is no `default` yet; a receiver of `post_migrate`.

    Nobody can delete `default`, so that only a new or a flushed database lacks it. Shipped profiles that operators have
    changed or deleted stay so.
    """
    if using != DEFAULT_DB_ALIAS or Profile._meta.db_table not in connection.introspection.table_names():
        return
    with transaction.atomic(), origin_set(actor=ACTOR, via="command"):
        if not Profile.objects.filter(code=DEFAULT_PROFILE).exists():
            for code in SHIPPED:
                profile_create(**_read(code))


@transaction.atomic
def shipped_profiles_refresh() -> dict[str, int]:
    """Bring the shipped profiles to the state of this release; return the new revisions' numbers by profile.

    A profile is left as it is if anybody has revised or deleted it, or has put another revision than its latest in
    force.
    """
    made = {}
    with origin_set(actor=ACTOR, via="command"):
        for code in SHIPPED:
            document = _read(code)
            profile = Profile.with_deleted.select_for_update().filter(code=code).first()
            if profile is None:
                profile_create(**document)
                made[code] = 1
            elif _as_shipped_once(profile):
                del document["code"]
                revision = profile_revise(profile=profile, **document)
                if revision.pk != profile.active_id:
                    made[code] = revision.number
    return made


def _as_shipped_once(profile: Profile) -> bool:
    """Return whether some release has shipped the profile as it is now."""
    latest = profile.revisions.first()
    others = profile.revisions.exclude(created_by=ACTOR)
    return latest is not None and latest.pk == profile.active_id and not others.exists()


def shipped_document(code: str) -> dict[str, Any]:
    """Return the document of a profile as it is shipped."""
    text = files(__package__).joinpath("shipped_profiles", f"{code}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _read(code: str) -> dict[str, Any]:
    """Return a document as arguments of `profile_create`; the rationale is the first revision's message."""
    body = shipped_document(code)
    return {"code": body.pop("code"), "name": body.pop("name"), "message": body.pop("message"), "body": body}
