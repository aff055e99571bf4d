"""The answer to a scheduling request, as the contract has it."""

import msgspec

from idcsched.framework.answer import Answer

__all__ = ["ProfileBrief", "Scheduled", "SnapshotBrief"]


class ProfileBrief(msgspec.Struct, frozen=True):
    code: str
    revision: int


class SnapshotBrief(msgspec.Struct, frozen=True):
    id: str
    age_seconds: float


class Scheduled(Answer, frozen=True, kw_only=True):
    """The engine's answer, with what it was decided on, and by which names it can be found and taken."""

    decision_id: str
    request_id: str | None
    http_request_id: str
    degraded: bool
    profile: ProfileBrief
    snapshot: SnapshotBrief
    commit_token: str | None
    elapsed_ms: float
