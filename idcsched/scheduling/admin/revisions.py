"""A profile's revisions side by side, and what a draft of it would have changed."""

import json
from typing import Any, cast

from django.http import HttpRequest

from idcsched.accounts.models import User
from idcsched.accounts.roles import principal_of
from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.framework.messages import _
from idcsched.language.wording import explained
from idcsched.scheduling.differences import differences
from idcsched.scheduling.models import Profile
from idcsched.scheduling.replay import preview
from idcsched.scheduling.selectors import revision_named

__all__ = ["previewed", "shown_revisions"]

REVISIONS_SHOWN = 20
LAST = 100
"""The number of the profile's last decisions that a preview decides again."""


def shown_revisions(profile: Profile) -> list[dict[str, Any]]:
    """Return the latest revisions, each with its differences from the revision before and from the one in force."""
    revisions = list(profile.revisions.order_by("-number")[: REVISIONS_SHOWN + 1])
    active = profile.active.body if profile.active else {}
    return [
        {
            "revision": revision,
            "is_active": revision.pk == profile.active_id,
            "changed": _differing(earlier.body, revision.body) if earlier else None,
            "from_active": _differing(active, revision.body),
            "document": json.dumps(revision.body, indent=2, ensure_ascii=False),
        }
        for revision, earlier in zip(revisions, [*revisions[1:], None], strict=True)
    ][:REVISIONS_SHOWN]


def previewed(profile: Profile, request: HttpRequest) -> dict[str, Any]:
    """Return the preview page's context for a draft (posted as `body`) or a revision (`?revision=`)."""
    posted = request.POST.get("body")
    number = request.GET.get("revision", "")
    try:
        body = _draft(posted) if posted is not None else _revision_body(profile, number)
        principal = principal_of(cast("User", request.user))
        result = preview(profile=profile, body=body, last=LAST, principal=principal)
    except IdcschedError as error:
        return {"errors": _error_lines(error), "draft": posted or ""}
    active = profile.active.body if profile.active else {}
    return {
        "result": result,
        "moved": result.changed,
        "draft": json.dumps(body, indent=2, ensure_ascii=False),
        "differences": _differing(active, body),
        "revision_number": number,
        "last": LAST,
    }


def _draft(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise Invalid("malformed_json", _("this is no JSON: {error}"), "", error=str(error)) from None
    if not isinstance(document, dict):
        raise Invalid("wrong_type", _("a profile is a JSON object"), "")
    return document


def _revision_body(profile: Profile, number: str) -> dict[str, Any]:
    if number.isascii() and number.isdigit() and len(number) < 10:  # noqa: PLR2004  # what fits 32 bits
        return dict(revision_named(profile, int(number)).body)
    return dict(profile.active.body) if profile.active else {}


def _differing(before: Any, after: Any) -> list[dict[str, str]]:
    return [
        {"pointer": difference.pointer, "before": _text(difference.before), "after": _text(difference.after)}
        for difference in differences(before, after)
    ]


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _error_lines(error: IdcschedError) -> list[str]:
    """Return each error with its place in the document."""
    if not isinstance(error, Invalid):
        return [explained(error)]
    return [f"{item.pointer}: {explained(item)}" if item.pointer else explained(item) for item in error.errors]
