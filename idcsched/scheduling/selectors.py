"""Finding rows by the names that clients know."""

from collections.abc import Iterable

from idcsched.framework.errors import Invalid, NotFound
from idcsched.framework.messages import _

from .models import Profile, ProfileRevision

__all__ = ["profile_codes", "profile_known", "revision_named"]


def profile_codes() -> Iterable[str]:
    """List the codes of all profiles."""
    return Profile.objects.values_list("code", flat=True)


def profile_known(code: str, pointer: str) -> None:
    """Raises Invalid where there is no profile of that code; it can't be deleted while this transaction lasts."""
    if not Profile.objects.select_for_update().filter(code=code).exists():
        raise Invalid("unknown", _("there is no profile {name}"), pointer, name=code)


def revision_named(profile: Profile, number: int, pointer: str | None = None) -> ProfileRevision:
    """The profile's revision of that number; raises NotFound or, where a body names it, Invalid."""
    found = profile.revisions.filter(number=number).first()
    if found is not None:
        return found
    sentence, params = _("profile {name} has no revision {number}"), {"name": profile.code, "number": number}
    if pointer is None:
        raise NotFound("not_found", sentence, **params)
    raise Invalid("unknown_revision", sentence, pointer, **params)
