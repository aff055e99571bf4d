"""A question to the engine: a request, and everything else that the decision on it depends on."""

from collections.abc import Mapping

import msgspec

from .context import Clock
from .external import Reply
from .profile import Profile
from .request import Request
from .snapshot import Snapshot

__all__ = ["Question"]


class Question(msgspec.Struct, frozen=True):
    """A request, with the snapshot and the profile that it is decided by. The same question gets the same decision.

    `reference` seeds the hash that decides ties where the request has no id of its own; `labels` are the request's
    labels and those that the server adds (empty: the request's); `replies` are the external services' replies to
    `queries`, by profile entry. A `clock` only measures how long plugins take; the decision does not depend on it.
    """

    request: Request
    snapshot: Snapshot
    profile: Profile
    now: float
    reference: str = ""
    labels: Mapping[str, str] = {}
    replies: Mapping[str, Reply] = {}
    clock: Clock | None = None
