"""Decides a request on the live picture by a profile, and makes the record of the decision."""

import threading
import time
from collections.abc import Mapping
from typing import Final

import msgspec
from uuid_utils import uuid7

from idcsched.accounts.roles import Principal
from idcsched.db.places import place
from idcsched.framework.answer import Answer
from idcsched.framework.batch import Batch
from idcsched.framework.cycle import queries
from idcsched.framework.decision import Decision
from idcsched.framework.errors import Conflict, Forbidden, Invalid, Unavailable
from idcsched.framework.external import Reply
from idcsched.framework.messages import _
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.request import Request
from idcsched.framework.spreading import Solution, first_share, solution_answer, solve
from idcsched.framework.wording import Say
from idcsched.outbound.asking import ask
from idcsched.outbound.client import origin_of
from idcsched.outbound.errors import HostRefused
from idcsched.scheduling.reserved_room import without_reserved_room

from . import instruments
from .live import LiveState, live
from .outcomes import noted_idcs
from .recommendation import commit_token
from .recorder import recorder
from .records import DecisionRecord
from .request_checks import names_check, supposition_check
from .scheduled import ProfileBrief, Scheduled, SnapshotBrief
from .sentences import Notebook, read_struct

__all__ = [
    "OVER_QUOTA",
    "MadeDecision",
    "Scheduled",
    "callback_url_check",
    "decide_request",
    "labels_of",
    "profile_named",
    "profile_of",
    "refused_by_quota",
    "tenant_of",
]

OVER_QUOTA = "over_quota"
"""The reason code of an order that a quota refuses, wherever the order would fit."""


_one_at_a_time: Final = threading.Lock()
"""Held while a decision is worked out. Threads that do so side by side take the interpreter from each other at each of
NumPy's operations, and all come later; what is asked of outside services is asked before."""


class MadeDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision with its answer, the picture that it was made on, and its record, not stored yet."""

    picture: LiveState
    solution: Solution
    scheduled: Scheduled
    record: DecisionRecord

    @property
    def decision(self) -> Decision:
        """The engine's decision, with the ranking."""
        return self.solution.decision

    @property
    def answer(self) -> Scheduled:
        """The answer for clients: in the reader's language, with the commit token. Placing an order needs neither."""
        token = commit_token(self.scheduled, self.record.question.request, self.record.tenant)
        return read_struct(msgspec.structs.replace(self.scheduled, commit_token=token), self.record.notebook)

    def recorded(self) -> Scheduled:
        """Have the decision recorded, and return the answer for clients."""
        recorder.hand_in(self.record)
        return self.answer


def decide_request(
    *,
    request: Request,
    tenant: str | None,
    actor: str,
    http_request_id: str,
    policy: Profile | None = None,
    picture: LiveState | None = None,
    after: Batch | None = None,
    refusal: Conflict | None = None,
    counted: bool = True,
) -> MadeDecision:
    """Decide by `policy`, or the profile that request or tenant name, on `picture` or the live one; records nothing.

    Room that the picture keeps for waiting orders that are at least as urgent is not available. For an order of a
    batch, `after` is the batch so far, whose snapshot is decided on; the picture keeps no room then. With a `refusal`
    by the tenant's quota the order is unschedulable, but the answer still has the ranking. An order that is merely
    tried is not `counted` in the service's metrics.

    Raises Invalid, PluginFailed.
    """
    started = time.perf_counter()
    _check_request(request)
    picture = without_reserved_room(picture or live.current(), request.priority)
    seen = SnapshotBrief(picture.snapshot.id, round(live.lag_seconds, 3))
    lagging = live.lagging
    question = Question(
        request,
        picture.snapshot if after is None else after.snapshot,
        policy or profile_of(request, tenant, picture),
        now=time.time(),
        reference=http_request_id,
        labels=labels_of(request, tenant),
    )
    names_check(request, picture.snapshot)
    supposition_check(request.hypothetical, picture.snapshot, question.profile)
    with instruments.Attempt(question.profile.code, counted=counted) as attempt:
        question = msgspec.structs.replace(question, replies=_replies(question), clock=attempt.clock)
        notebook = Notebook()
        with _one_at_a_time:
            solution = solve(question)
            attempt.decided(solution.decision)
            answer = solution_answer(
                solution, explain=request.explain or "summary", top=request.top or 5, say=notebook.say
            )
        if refusal is not None:
            answer = refused_by_quota(answer, notebook.say(refusal.template, refusal.params), notebook.say)
            attempt.result = answer.result
        scheduled = Scheduled(
            decision_id=str(uuid7()),
            request_id=request.request_id,
            http_request_id=http_request_id,
            **msgspec.structs.asdict(answer),
            degraded=bool(answer.plugin_errors) or lagging,
            profile=ProfileBrief(question.profile.code, question.profile.revision),
            snapshot=seen,
            commit_token=None,
            elapsed_ms=round((time.perf_counter() - started) * 1e3, 3),
        )
    snapshot, taken = picture.beneath if after is None else (after.base, after.taken)
    record = DecisionRecord(
        scheduled=scheduled,
        notebook=notebook,
        question=msgspec.structs.replace(question, snapshot=snapshot),
        taken=taken,
        tenant=tenant,
        actor=actor,
        noted=() if request.hypothetical is not None else tuple(noted_idcs(solution.decision, _chosen(scheduled))),
    )
    return MadeDecision(picture=picture, solution=solution, scheduled=scheduled, record=record)


def _replies(question: Question) -> Mapping[str, Reply]:
    """Return the replies of outside services to the question."""
    if not question.profile.gatherers:
        return {}
    asked = queries(first_share(question))
    with place():
        return ask(asked)


def refused_by_quota(answer: Answer, reason: str, say: Say) -> Answer:
    """Return the answer as a refusal by the tenant's quota; the ranking still shows where the order would fit."""
    return msgspec.structs.replace(
        answer,
        result="unschedulable",
        reason_code=OVER_QUOTA,
        idc=None,
        lines=(),
        score=None,
        score_mean=None,
        summary=say(_("{head}; {part}"), {"head": answer.summary, "part": reason}),
        idcs=msgspec.UNSET if answer.idcs is msgspec.UNSET else (),
    )


def _chosen(scheduled: Scheduled) -> list[str]:
    """Return the IDCs that were chosen: several where the machines are spread, none where nothing fits."""
    if scheduled.idcs:
        return [share.idc for share in scheduled.idcs]
    return [scheduled.idc.code] if scheduled.idc else []


def _check_request(request: Request) -> None:
    """Refuse a request that contradicts itself or names an impossible callback address."""
    if request.callback_url is not None:
        callback_url_check(request.callback_url)
    if request.hypothetical is not None and request.action in ("reserve", "provision"):
        raise Invalid("hypothetical_is_not_real", _("a supposition can only be recommended on"), "/hypothetical")


def callback_url_check(url: str) -> None:
    """Raise Invalid for an address that could never be called."""
    try:
        origin_of(url)
    except HostRefused:
        raise Invalid(
            "invalid_url",
            _("this must be an http or https address with a host and without a password"),
            "/callback_url",
        ) from None


def tenant_of(request: Request, principal: Principal) -> str | None:
    """Return the tenant that the request is for: the named one, if the caller may act for that, else the token's.

    Raises Forbidden, Invalid.
    """
    if request.tenant is None or request.tenant == principal.tenant:
        return principal.tenant
    if not principal.all_tenants:
        raise Forbidden("tenant_not_allowed", _("you may not act for the tenant {tenant}"), tenant=request.tenant)
    if request.tenant not in live.current().default_profiles:
        raise Invalid("unknown_tenant", _("there is no tenant {tenant}"), "/tenant", tenant=request.tenant)
    return request.tenant


def labels_of(request: Request, tenant: str | None) -> dict[str, str]:
    """Return the request's labels, with its tenant as one of them."""
    return {**(request.labels or {}), **({"tenant": tenant} if tenant else {})}


def profile_of(request: Request, tenant: str | None, picture: LiveState) -> Profile:
    """Return the profile that the request names, else its tenant's; raises Invalid, Unavailable."""
    return profile_named(request.profile, tenant, picture)


def profile_named(code: str | None, tenant: str | None, picture: LiveState) -> Profile:
    """Return the profile of that code, without a code the tenant's; raises Invalid, Unavailable."""
    code = code or picture.default_profiles.get(tenant or "") or "default"
    profile = picture.profiles.get(code)
    if code in picture.broken_profiles:
        raise Unavailable(
            "profile_broken",
            _("profile {profile} cannot be used: {reason}"),
            profile=code,
            reason=picture.broken_profiles[code],
        )
    if profile is None:
        raise Invalid("unknown_profile", _("there is no profile {profile}"), "/profile", profile=code)
    return profile
