"""Profiles and revisions, found by the names that clients use, and the decisions that a caller may see."""

from collections.abc import Iterable

from django.db.models import QuerySet

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Invalid, NotFound
from idcsched.framework.messages import _

from .models import Decision, Profile, ProfileRevision

__all__ = ["decisions_visible", "profile_codes", "profile_known", "revision_named"]


def decisions_visible(principal: Principal) -> QuerySet[Decision]:
    """Return the decisions that the caller may see: callers who are bound to a tenant see those of their tenant."""
    decisions = Decision.objects.all()
    return decisions if principal.all_tenants else decisions.filter(tenant__code=principal.tenant)


def profile_codes() -> Iterable[str]:
    """List the codes of all profiles."""
    return Profile.objects.values_list("code", flat=True)


def profile_known(code: str, pointer: str) -> None:
    """Raise Invalid if there is no profile of that code; else lock the profile until the transaction ends."""
    if not Profile.objects.select_for_update().filter(code=code).exists():
        raise Invalid("unknown", _("there is no profile {name}"), pointer, name=code)


def revision_named(profile: Profile, number: int, pointer: str | None = None) -> ProfileRevision:
    """Return the revision of that number; raises NotFound or, where a body names the revision at `pointer`, Invalid."""
    revision = profile.revisions.filter(number=number).first()
    if revision is not None:
        return revision
    sentence, params = _("profile {name} has no revision {number}"), {"name": profile.code, "number": number}
    if pointer is None:
        raise NotFound("not_found", sentence, **params)
    raise Invalid("unknown_revision", sentence, pointer, **params)
