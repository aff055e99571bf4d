"""Profiles and revisions, found by the names that clients use."""

from collections.abc import Iterable

from idcsched.framework.errors import Invalid, NotFound
from idcsched.framework.messages import _

from .models import Profile, ProfileRevision

__all__ = ["profile_codes", "profile_known", "revision_named"]


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
