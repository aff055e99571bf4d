"""The answer to a scheduling request, as the contract has it."""

import msgspec

from idcsched.framework.answer import (
    Bill,
    Candidate,
    FallbackGroup,
    Hint,
    IdcBrief,
    IdcShare,
    LineUse,
    Margin,
    NearMiss,
    PluginError,
    Rejected,
    RejectedCount,
    Stale,
    Tie,
    Worth,
)

__all__ = ["ProfileBrief", "Scheduled", "SnapshotBrief"]


class ProfileBrief(msgspec.Struct, frozen=True):
    code: str
    revision: int


class SnapshotBrief(msgspec.Struct, frozen=True):
    id: str
    age_seconds: float


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """The contract's answer, field by field."""

    decision_id: str
    request_id: str | None
    http_request_id: str
    result: str
    reason_code: str | None
    idc: IdcBrief | None
    lines: tuple[LineUse, ...]
    score: float | None
    score_mean: float | None
    candidates: tuple[Candidate, ...] | None
    tie: Tie | None
    margin: Margin | None
    rejected: tuple[Rejected, ...] | None
    rejected_counts: tuple[RejectedCount, ...] | None
    near_misses: tuple[NearMiss, ...] | None
    summary: str
    evaluated: int
    feasible: int
    not_visited: int
    picked: str
    fallback_group: FallbackGroup | None
    stale: tuple[Stale, ...] | None
    plugin_errors: tuple[PluginError, ...]
    degraded: bool
    profile: ProfileBrief
    snapshot: SnapshotBrief
    commit_token: str | None
    elapsed_ms: float
    bill: Bill | None = None
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET
    shape_from: str | msgspec.UnsetType = msgspec.UNSET
    shape_note: str | msgspec.UnsetType = msgspec.UNSET
    hints: tuple[Hint, ...] | msgspec.UnsetType = msgspec.UNSET
    truncated: bool | msgspec.UnsetType = msgspec.UNSET
    idcs: tuple[IdcShare, ...] | msgspec.UnsetType = msgspec.UNSET
    worth: Worth | msgspec.UnsetType = msgspec.UNSET
