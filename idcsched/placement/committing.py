"""Committing a recommendation: a placement in the very IDC and lines recommended, if they still fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

import msgspec
from django.db import IntegrityError

from idcsched.accounts.roles import Principal
from idcsched.framework.claiming import narrowed_to, on_given_lines
from idcsched.framework.context import Cycle
from idcsched.framework.errors import Conflict, FieldError, Invalid, NotFound
from idcsched.framework.messages import _
from idcsched.ledger.taking import oversold
from idcsched.scheduling.deciding import MadeDecision, decide_request
from idcsched.scheduling.live import live
from idcsched.scheduling.recommendation import Recommendation, recommendation_of
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import policy_of

from .callbacks import callback_host_check
from .candidates import Candidate, candidate_of
from .choices import NO_PROVIDER, choices, why_not
from .lifecycle import Action
from .models import Placement
from .ordering import NoFeasible
from .orders import Order, Take, order_of
from .quota import quota_check
from .reserving import take_together

__all__ = ["COMMIT_SECONDS", "placement_commit"]

COMMIT_SECONDS = 600


@contextmanager
def _token_pointed_at() -> Iterator[None]:
    """Let the refusals of what was recommended point at the token, which is all that the caller has sent."""
    try:
        yield
    except Invalid as error:
        raise Invalid.of(
            FieldError("/commit_token", item.code, item.detail, item.params) for item in error.errors
        ) from error


@_token_pointed_at()
def placement_commit(
    *, commit_token: str, action: Action, principal: Principal, http_request_id: str
) -> tuple[Placement, bool]:
    """Return the placement of a recommendation, and whether it is new: one token makes one placement.

    Raises Invalid `invalid_token`, `tenant_required`, `unknown_tenant`, `callback_host_not_allowed`,
    `machines_required`, all at `/commit_token`, Conflict `token_expired`, `decision_outdated`, `no_provider`,
    `quota_exceeded`, NotFound for another tenant's token.
    """
    recommendation, expired = recommendation_of(commit_token, max_age=COMMIT_SECONDS)
    live.catch_up()
    tenant = _tenant_of(recommendation, principal)
    if (placement := _earlier_placement(recommendation.decision)) is not None:
        return placement, False
    if expired:
        raise Conflict("token_expired", _("the recommendation is more than ten minutes old: ask again"))
    request = recommendation.request
    order = order_of(request, tenant=tenant, actor=principal.username, action=action, based_on=recommendation.decision)
    callback_host_check(request.callback_url, order.tenant)
    quota_check(order.tenant, order.use)
    made = _decide_again(recommendation, principal, http_request_id)
    takes = _takes_as_recommended(recommendation, order, made)
    if why_not(order, [take.candidate for take in takes]) == NO_PROVIDER:
        raise NoFeasible("no_provider", _("no IDC that fits has a provider that starts machines: {summary}"), made)
    try:
        return take_together(takes)[0], True
    except IntegrityError as error:
        if (placement := _earlier_placement(recommendation.decision)) is not None:  # the same token at the same time
            return placement, False
        if oversold(error):
            raise _outdated(made) from error
        raise


def _earlier_placement(recommended: UUID) -> Placement | None:
    """Return the placement that was committed from this recommendation before, if any."""
    return Placement.objects.select_related("tenant", "idc").filter(based_on=recommended).first()


def _tenant_of(recommendation: Recommendation, principal: Principal) -> str:
    """Return the recommendation's tenant; raises NotFound where the caller may not act for that tenant, Invalid."""
    if not principal.all_tenants and recommendation.tenant != principal.tenant:
        raise NotFound("not_found", _("there is no such recommendation"))
    code = recommendation.tenant
    if code is None:
        raise Invalid("tenant_required", _("the recommendation was for no tenant: ask again with one"), "/commit_token")
    if code not in live.current().tenants:
        raise Invalid("unknown_tenant", _("there is no tenant {tenant}"), "/commit_token", tenant=code)
    return code


def _decide_again(recommendation: Recommendation, principal: Principal, http_request_id: str) -> MadeDecision:
    """Decide again on the live picture, among the recommended IDCs alone, by the recommendation's profile revision.

    Raises Conflict `decision_outdated` where the IDCs do not fit any more, or something that the recommendation names
    is gone.
    """
    idcs = tuple(share.idc for share in recommendation.shares)
    policy = policy_of(recommendation.profile, recommendation.revision)
    try:
        made = decide_request(
            request=msgspec.structs.replace(recommendation.request, only=idcs, explain="full", action=None),
            tenant=recommendation.tenant,
            actor=principal.username,
            http_request_id=http_request_id,
            policy=policy,
        )
    except Invalid as error:  # the request was sound when it was asked
        gone = replace(error.errors[0], pointer="")
        detail = _("what was recommended does not fit any more: {summary}")
        raise Conflict("decision_outdated", detail, summary=gone) from error
    if not made.solution.scheduled:
        raise _outdated(made)
    return made


def _takes_as_recommended(recommendation: Recommendation, order: Order, made: MadeDecision) -> list[Take]:
    """Return what to take: the recommended IDCs and lines, even if others would be chosen now."""
    if recommendation.spread:
        return _shares_as_recommended(recommendation, order, made)
    narrowed = narrowed_to(made.decision, made.decision.picked)
    candidate = _pinned(made, narrowed, recommendation.shares[0].lines, rank=1)
    return [Take(order=order, made=made, candidate=candidate)]


def _shares_as_recommended(recommendation: Recommendation, order: Order, made: MadeDecision) -> list[Take]:
    """Return what to take of each IDC, if the shares are still those recommended."""
    recommended = {share.idc: share for share in recommendation.shares}
    takes = next(choices(order, made, at_most=1), [])
    machines = {take.candidate.idc: take.order.machines for take in takes}
    if machines != {idc: share.machine_count for idc, share in recommended.items()}:
        raise _outdated(made)
    return [
        replace(
            take,
            candidate=_pinned(
                made,
                narrowed_to(share.decision, share.position),
                recommended[take.candidate.idc].lines,
                rank=take.candidate.rank,
            ),
        )
        for take, share in zip(takes, made.solution.shares or (), strict=True)
    ]


def _pinned(made: MadeDecision, ctx: Cycle, lines: tuple[str, ...], *, rank: int) -> Candidate:
    pinned_ctx = on_given_lines(ctx, lines)
    if pinned_ctx is None:
        raise _outdated(made)
    return candidate_of(pinned_ctx, made.decision.profile, rank=rank)


def _outdated(made: MadeDecision) -> NoFeasible:
    recorder.hand_in(made.record)
    return NoFeasible("decision_outdated", _("what was recommended does not fit any more: {summary}"), made)
