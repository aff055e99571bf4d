"""A profile's revisions side by side, and since when they are in force."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from idcsched.audit.models import Change
from idcsched.framework.decoding import pointer_token
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .differences import differences
from .models import Profile

__all__ = ["InForce", "differing", "draft_of", "in_force", "shown_revisions", "side_by_side"]

REVISIONS_SHOWN = 20
CHANGES_READ = 500
"""The most changes of profiles among which those that put a revision in force are looked for."""


@dataclass(frozen=True, slots=True)
class InForce:
    """Since when a profile's revision is in force, and who put it there."""

    since: datetime
    by: str


def in_force(profiles: Iterable[Profile]) -> dict[str, InForce]:
    """Return by code since when each profile's revision is in force, by the history, else by the revision's own age."""
    found, numbers = dict[str, InForce](), dict[str, int]()
    for profile in profiles:
        if profile.active is not None:
            found[profile.code] = InForce(profile.active.created_at, profile.active.created_by)
            numbers[profile.code] = profile.active.number
    changes = Change.objects.filter(kind="profile", key__in=list(numbers)).order_by("-id")
    for change in changes.only("at", "actor", "key", "after")[:CHANGES_READ]:
        after = change.after or {}
        if after.get("revision") == numbers.get(change.key, -1) and after.get("active", True):
            found[change.key] = InForce(change.at, change.actor)
            del numbers[change.key]
    return found


def shown_revisions(profile: Profile) -> list[dict[str, Any]]:
    """Return the latest revisions, each with its differences from the revision before and from the one in force."""
    revisions = list(profile.revisions.order_by("-number")[: REVISIONS_SHOWN + 1])
    active = profile.active.body if profile.active else {}
    return [
        {
            "revision": revision,
            "is_active": revision.pk == profile.active_id,
            "changed": differing(earlier.body, revision.body) if earlier else None,
            "from_active": differing(active, revision.body),
            "document": json.dumps(revision.body, indent=2, ensure_ascii=False),
        }
        for revision, earlier in zip(revisions, [*revisions[1:], None], strict=True)
    ][:REVISIONS_SHOWN]


def draft_of(text: str) -> dict[str, Any]:
    """Return the document that somebody has typed; raises Invalid."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise Invalid("malformed_json", _("this is no JSON: {error}"), "", error=str(error)) from None
    if not isinstance(document, dict):
        raise Invalid("wrong_type", _("a profile is a JSON object"), "")
    return document


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the differences between two documents, with what differs in words and the values as texts."""
    return [
        {
            "pointer": difference.pointer,
            "words": _words(difference.pointer),
            "before": _text(difference.before),
            "after": _text(difference.after),
        }
        for difference in differences(before, after)
    ]


def side_by_side(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return all weights of two documents, whether they differ or not, and then whatever else differs."""
    here, there = _weights(before), _weights(after)
    weights = {
        f"/plugins/{pointer_token(name)}/weight": (here.get(name), there.get(name)) for name in {**here, **there}
    }
    rows = [
        {"pointer": pointer, "words": _words(pointer), "before": _text(one), "after": _text(other)}
        for pointer, (one, other) in weights.items()
    ]
    return rows + [row for row in differing(before, after) if row["pointer"] not in weights]


def _weights(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights of the plugins that have one, by the names of their entries."""
    return {entry["name"]: entry["weight"] for entry in body.get("plugins", ()) if "weight" in entry}


def _words(pointer: str) -> str:
    """Say what a pointer into a profile's document points to."""
    if pointer == "/plugins#order":
        return gettext("order of the plugins")
    step, *steps = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    if step != "plugins" or not steps:
        return ": ".join([step, *steps])
    name, *steps = steps
    if steps == ["weight"]:
        return gettext("weight of %(name)s") % {"name": name}
    steps = steps[1:] if steps[:1] == ["args"] and len(steps) > 1 else steps
    return ": ".join([name, *steps]) if steps else gettext("plugin %(name)s") % {"name": name}


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)
