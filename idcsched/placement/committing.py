"""A recommendation taken at its word: the very IDC and lines that were recommended, if they still fit."""

from dataclasses import replace
from uuid import UUID

import msgspec
from django.core import signing
from django.db import IntegrityError

from idcsched.accounts.roles import Principal
from idcsched.framework.claiming import picked, pinned
from idcsched.framework.context import Cycle
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.framework.request import Request
from idcsched.ledger.taking import oversold
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import policy_of
from idcsched.scheduling.schedule import COMMIT_SALT, Made, make

from .callbacks import callback_host_check
from .candidates import Candidate, candidate_of
from .lifecycle import Action
from .models import Placement
from .ordering import NoFeasible
from .orders import Order, Take, order_of
from .taking import take_together
from .ways import NO_PROVIDER, ways_to_take, why_not

__all__ = ["COMMIT_SECONDS", "placement_commit"]

COMMIT_SECONDS = 600


def placement_commit(
    *, commit_token: str, action: Action, principal: Principal, http_request_id: str
) -> tuple[Placement, bool]:
    """The placement, and whether it is new: the same token again gives the same placement.

    Raises Invalid `invalid_token`, `tenant_required`, `callback_host_not_allowed`, Conflict `token_expired`,
    `recommendation_lost`, `decision_outdated`, `no_provider`, `quota_exceeded`, NotFound for what belongs to somebody
    else.
    """
    recommended, expired = _named(commit_token)
    if (placement := _committed(recommended, principal)) is not None:
        return placement, False
    if expired:
        raise Conflict("token_expired", "the recommendation is more than ten minutes old: ask again")
    decision, tenant = _recommendation(recommended, principal)
    asked = convert(decision.request, Request)
    order = order_of(asked, tenant=tenant, actor=principal.username, action=action, based_on=decision.pk)
    callback_host_check(asked.callback_url, order.tenant)
    made = _made_again(decision, asked, principal, http_request_id)
    takes = _as_recommended(decision, order, made)
    if why_not(order, [take.candidate for take in takes]) == NO_PROVIDER:
        raise NoFeasible("no_provider", "no IDC that fits has a provider that starts machines: {summary}", made)
    try:
        return take_together(takes)[0], True
    except IntegrityError as error:
        if (placement := _committed(recommended, principal)) is not None:  # somebody was quicker with the same token
            return placement, False
        if oversold(error):
            raise _outdated(made) from error
        raise


def _named(commit_token: str) -> tuple[UUID, bool]:
    """The decision that a token is about, and whether the token is too old."""
    for max_age in (COMMIT_SECONDS, None):
        try:
            return UUID(signing.loads(commit_token, salt=COMMIT_SALT, max_age=max_age)["decision"]), max_age is None
        except signing.SignatureExpired:
            continue
        except (signing.BadSignature, KeyError, TypeError, ValueError):
            break
    raise Invalid("invalid_token", "this is no commit token that was given out here", "/commit_token")


def _committed(recommended: UUID, principal: Principal) -> Placement | None:
    found = Placement.objects.select_related("tenant", "idc").filter(based_on=recommended).first()
    if found is not None and not (principal.all_tenants or found.tenant.code == principal.tenant):
        raise NotFound("not_found", "there is no such recommendation")
    return found


def _recommendation(recommended: UUID, principal: Principal) -> tuple[Decision, str]:
    """The decision as it is on record, and its tenant."""
    recorder.settle(str(recommended))
    found = Decision.objects.select_related("tenant").filter(pk=recommended).first()
    if found is None:  # it was given out here, as its signature says: whoever gave it died before it was written down
        raise Conflict("recommendation_lost", "the recommendation could not be recorded any more: ask again")
    if not (principal.all_tenants or (found.tenant and found.tenant.code == principal.tenant)):
        raise NotFound("not_found", "there is no such recommendation")
    if found.tenant is None:
        raise Invalid("tenant_required", "the recommendation was for no tenant: ask again with one", "/commit_token")
    return found, found.tenant.code


def _made_again(decision: Decision, asked: Request, principal: Principal, http_request_id: str) -> Made:
    """Decided anew about what was recommended alone, by the policy of then; raises Conflict `decision_outdated`."""
    idcs = tuple(share["idc"] for share in decision.answer.get("idcs", ())) or (decision.idc,)
    request = msgspec.structs.replace(asked, only=idcs, explain="full", action=None)
    made = make(
        request=request,
        tenant=decision.tenant.code if decision.tenant else None,
        actor=principal.username,
        http_request_id=http_request_id,
        policy=policy_of(decision.profile, decision.profile_revision),
    )
    if not made.solution.scheduled:
        raise _outdated(made)
    return made


def _as_recommended(decision: Decision, order: Order, made: Made) -> list[Take]:
    """The IDCs with the lines that were recommended, whichever would be chosen today."""
    if made.solution.shares is not None:
        return _shares_as_recommended(decision, order, made)
    candidate = _pinned(
        made, picked(made.decision.best, made.decision.best.ranking.picked), decision.answer["lines"], rank=1
    )
    return [Take(order=order, made=made, candidate=candidate)]


def _shares_as_recommended(decision: Decision, order: Order, made: Made) -> list[Take]:
    """Each IDC with as many machines as was recommended."""
    recommended = {share["idc"]: share for share in decision.answer["idcs"]}
    takes = next(ways_to_take(order, made, at_most=1), [])
    told = {take.candidate.idc: take.order.machines for take in takes}
    if told != {idc: share["machine_count"] for idc, share in recommended.items()}:
        raise _outdated(made)
    return [
        replace(
            take,
            candidate=_pinned(
                made,
                picked(share.decision, share.position),
                recommended[take.candidate.idc]["lines"],
                rank=take.candidate.rank,
            ),
        )
        for take, share in zip(takes, made.solution.shares or (), strict=True)
    ]


def _pinned(made: Made, ctx: Cycle, lines: list[dict[str, str]], *, rank: int) -> Candidate:
    on_lines = pinned(ctx, tuple(line["line"] for line in lines))
    if on_lines is None:
        raise _outdated(made)
    return candidate_of(on_lines, rank=rank)


def _outdated(made: Made) -> NoFeasible:
    recorder.hand_in(made.record)
    return NoFeasible("decision_outdated", "what was recommended does not fit any more: {summary}", made)
