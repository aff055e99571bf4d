"""`schedule()`: a request, the live picture and a profile go in; the contract's answer comes out, on record."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import msgspec
from django.conf import settings
from django.core import signing
from uuid_utils.compat import uuid7

from idcsched.accounts.roles import Principal
from idcsched.framework.context import Clock
from idcsched.framework.cycle import decide, queries
from idcsched.framework.decision import (
    Answer,
    Candidate,
    Decision,
    FallbackGroup,
    Hint,
    IdcBrief,
    LineUse,
    Margin,
    NearMiss,
    PluginError,
    Rejected,
    RejectedCount,
    Stale,
    Tie,
)
from idcsched.framework.errors import Forbidden, Invalid, Unavailable
from idcsched.framework.explain import answer
from idcsched.framework.outside import Reply
from idcsched.framework.profile import Profile
from idcsched.framework.recording import inputs_of, pack
from idcsched.framework.request import Request
from idcsched.outbound.asking import ask

from . import instruments
from .live import Picture, live
from .sentences import Notebook, read_struct
from .services import decision_record

__all__ = ["COMMIT_SALT", "ProfileBrief", "Scheduled", "SnapshotBrief", "schedule"]

COMMIT_SALT = "idcsched.scheduling.commit"


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
    hints: tuple[Hint, ...] | msgspec.UnsetType = msgspec.UNSET
    truncated: Literal[True] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A request with all that it is decided on."""

    request: Request
    picture: Picture
    profile: Profile
    tenant: str | None
    labels: Mapping[str, str]
    now: float
    reference: str


def schedule(*, request: Request, principal: Principal, http_request_id: str) -> Scheduled:
    """The best IDC for `request`, recorded; raises Invalid, Forbidden or PluginFailed."""
    started = time.perf_counter()
    _check_supported(request)
    question = _question(request, principal, http_request_id)
    with instruments.attempt(question.profile.code) as attempt:
        decision, replies = _decided(question, attempt.clock)
        attempt.decided(decision)
        notebook = Notebook()
        told = answer(decision, explain=request.explain or "summary", top=request.top or 5, say=notebook.say)
        scheduled = _answered(question, told, started=started)
        decision_record(
            scheduled=scheduled,
            sentences=notebook.sentences,
            request=request,
            tenant=question.tenant,
            actor=principal.username,
            at=question.now,
            inputs=_inputs_kept(question, scheduled.decision_id, replies),
        )
    return read_struct(scheduled, notebook.sentences)


def _question(request: Request, principal: Principal, http_request_id: str) -> _Question:
    picture = live.current()
    tenant = _tenant(request, principal, picture)
    return _Question(
        request=request,
        picture=picture,
        profile=_profile(request, tenant, picture),
        tenant=tenant,
        labels={**(request.labels or {}), **({"tenant": tenant} if tenant else {})},
        now=time.time(),
        reference=http_request_id,
    )


def _decided(question: _Question, clock: Clock | None) -> tuple[Decision, dict[str, Reply]]:
    """The decision, and what the outside had to say to it."""
    request, snapshot, profile = question.request, question.picture.snapshot, question.profile
    now, labels = question.now, question.labels
    replies = ask(queries(request, snapshot, profile, now=now, labels=labels))
    decision = decide(
        request,
        snapshot,
        profile,
        now=now,
        reference=question.reference,
        labels=labels,
        replies=replies,
        clock=clock,
    )
    return decision, replies


def _inputs_kept(question: _Question, decision_id: str, replies: Mapping[str, Reply]) -> bytes | None:
    """The inputs, packed, of so many decisions in a hundred, chosen by chance."""
    if UUID(decision_id).int % 100 >= settings.RECORD_INPUTS:
        return None
    return pack(
        inputs_of(
            question.request,
            question.picture.snapshot,
            now=question.now,
            reference=question.reference,
            labels=question.labels,
            replies=replies,
        )
    )


def _answered(question: _Question, told: Answer, *, started: float) -> Scheduled:
    decision_id = str(uuid7())
    snapshot = question.picture.snapshot
    return Scheduled(
        decision_id=decision_id,
        request_id=question.request.request_id,
        http_request_id=question.reference,
        **_fields(told),
        degraded=bool(told.plugin_errors),
        profile=ProfileBrief(question.profile.code, question.profile.revision),
        snapshot=SnapshotBrief(snapshot.id, round(max(question.now - snapshot.built_at, 0.0), 3)),
        commit_token=_commit_token(decision_id, question.request, told),
        elapsed_ms=round((time.perf_counter() - started) * 1e3, 3),
    )


def _fields(told: Answer) -> dict[str, Any]:
    return {name: getattr(told, name) for name in told.__struct_fields__}


def _commit_token(decision_id: str, request: Request, told: Answer) -> str | None:
    """What turns this recommendation into a placement within ten minutes; signed, and dated by the signature."""
    if told.idc is None or request.hypothetical is not None:
        return None
    return signing.dumps({"decision": decision_id}, salt=COMMIT_SALT)


def _check_supported(request: Request) -> None:
    """What this version does not do yet is refused, not ignored."""
    if request.action not in (None, "recommend"):
        raise Invalid(
            "unsupported_action", "this version recommends only; it can't {action}", "/action", action=request.action
        )
    if request.spread is not None:
        raise Invalid("unsupported_field", "this version does not spread one request over IDCs", "/spread")


def _tenant(request: Request, principal: Principal, picture: Picture) -> str | None:
    """The tenant that the request is for: the one named, if the caller may act for it, else the token's."""
    if request.tenant is None or request.tenant == principal.tenant:
        return principal.tenant
    if not principal.all_tenants:
        raise Forbidden("tenant_not_allowed", "you may not act for the tenant {tenant}", tenant=request.tenant)
    if request.tenant not in picture.default_profiles:
        raise Invalid("unknown_tenant", "there is no tenant {tenant}", "/tenant", tenant=request.tenant)
    return request.tenant


def _profile(request: Request, tenant: str | None, picture: Picture) -> Profile:
    code = request.profile or picture.default_profiles.get(tenant or "") or "default"
    profile = picture.profiles.get(code)
    if code in picture.broken_profiles:
        raise Unavailable(
            "profile_broken",
            "profile {profile} cannot be used: {reason}",
            profile=code,
            reason=picture.broken_profiles[code],
        )
    if profile is None:
        raise Invalid("unknown_profile", "there is no profile {profile}", "/profile", profile=code)
    return profile
