"""A profile's revisions side by side, and what a draft of it would have changed."""

import json
from typing import Any

from django.http import HttpRequest

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
"""So many of the profile's last decisions a preview looks at."""


def shown_revisions(profile: Profile) -> list[dict[str, Any]]:
    """The latest revisions, each with what differs from the one before it and from the one in force."""
    found = list(profile.revisions.order_by("-number")[: REVISIONS_SHOWN + 1])
    active = profile.active.body if profile.active else {}
    return [
        {
            "revision": revision,
            "is_active": revision.pk == profile.active_id,
            "changed": _differing(earlier.body, revision.body) if earlier else None,
            "from_active": _differing(active, revision.body),
            "document": json.dumps(revision.body, indent=2, ensure_ascii=False),
        }
        for revision, earlier in zip(found, [*found[1:], None], strict=True)
    ][:REVISIONS_SHOWN]


def previewed(profile: Profile, request: HttpRequest) -> dict[str, Any]:
    """What the page shows of a draft (posted as `body`) or of a revision (`?revision=`; else the one in force)."""
    posted = request.POST.get("body")
    number = request.GET.get("revision", "")
    try:
        body = _draft(posted) if posted is not None else _revision_body(profile, number)
        result = preview(profile=profile, body=body, last=LAST)
    except IdcschedError as error:
        return {"errors": _said(error), "draft": posted or ""}
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
        {"pointer": each.pointer, "before": _text(each.before), "after": _text(each.after)}
        for each in differences(before, after)
    ]


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _said(error: IdcschedError) -> list[str]:
    """Each mistake with its place in the document."""
    if not isinstance(error, Invalid):
        return [explained(error)]
    return [f"{item.pointer}: {explained(item)}" if item.pointer else explained(item) for item in error.errors]
