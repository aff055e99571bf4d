"""The context of the admin's page that shows what a draft or a revision of a profile would have changed."""

import json
from typing import Any, cast

from django.http import HttpRequest

from idcsched.accounts.models import User
from idcsched.accounts.roles import principal_of
from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.language.wording import explained
from idcsched.scheduling.models import Profile
from idcsched.scheduling.preview import preview
from idcsched.scheduling.revisions import differing, draft_of
from idcsched.scheduling.selectors import revision_named

__all__ = ["previewed"]

LAST = 100
"""The number of the profile's last decisions that a preview decides again."""


def previewed(profile: Profile, request: HttpRequest) -> dict[str, Any]:
    """Return the preview page's context for a draft (posted as `body`) or a revision (`?revision=`)."""
    posted = request.POST.get("body")
    number = request.GET.get("revision", "")
    try:
        body = draft_of(posted) if posted is not None else _revision_body(profile, number)
        principal = principal_of(cast("User", request.user))
        result = preview(profile=profile, body=body, last=LAST, principal=principal)
    except IdcschedError as error:
        return {"errors": _error_lines(error), "draft": posted or ""}
    active = profile.active.body if profile.active else {}
    return {
        "result": result,
        "moved": result.changed,
        "draft": json.dumps(body, indent=2, ensure_ascii=False),
        "differences": differing(active, body),
        "revision_number": number,
        "last": LAST,
    }


def _revision_body(profile: Profile, number: str) -> dict[str, Any]:
    if number.isascii() and number.isdigit() and len(number) < 10:  # noqa: PLR2004  # what fits 32 bits
        return dict(revision_named(profile, int(number)).body)
    return dict(profile.active.body) if profile.active else {}


def _error_lines(error: IdcschedError) -> list[str]:
    """Return each error with its place in the document."""
    if not isinstance(error, Invalid):
        return [explained(error)]
    return [f"{item.pointer}: {explained(item)}" if item.pointer else explained(item) for item in error.errors]
