"""Batches of requests: decided one after the other, each after what the earlier ones took, or placed all or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db import IntegrityError
from uuid_utils.compat import uuid7

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.framework.messages import _
from idcsched.framework.request import Request
from idcsched.ledger.taking import oversold
from idcsched.scheduling.deciding import MadeDecision, Scheduled, decide_request, tenant_of
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder

from .callbacks import callback_host_check
from .choices import choices
from .models import Placement
from .ordering import DECISIONS, NoFeasible, placement_order, tenant_for
from .orders import Take, order_of
from .quota import quota_check, quota_refusal, use_of
from .reserving import take_together
from .view import Lookahead
from .waiting import ALTERNATES

__all__ = ["Batch", "Outcome", "batch_answer", "gang_place"]

Outcome = Scheduled | Placement | IdcschedError
"""The outcome of one request: a recommendation, the (first) placement, or the error."""
RequestOrError = Request | IdcschedError
"""A request, or the error of an entry that is no valid request."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The outcomes of a batch's requests, in order; `together`: they were to be placed all or none."""

    outcomes: tuple[Outcome, ...]
    together: bool

    @property
    def result(self) -> Literal["all", "some", "none"]:
        served = [_served(outcome) for outcome in self.outcomes]
        if all(served):
            return "all"
        return "some" if any(served) and not self.together else "none"


def batch_answer(*, requests: Sequence[RequestOrError], principal: Principal, http_request_id: str) -> Batch:
    """Answer each request by itself, in order; the error of one request is the outcome of that request alone."""
    live.catch_up()
    lookahead = Lookahead()
    outcomes = (_outcome(request, principal, http_request_id, lookahead) for request in requests)
    return Batch(tuple(outcomes), together=False)


def gang_place(*, requests: Sequence[RequestOrError], principal: Principal, http_request_id: str) -> Batch:
    """Place all requests in one transaction, as one group, or none of them."""
    live.catch_up()
    for _attempt in range(DECISIONS):
        gang = _Gang(principal, http_request_id)
        for request in requests:
            gang.add(request)
        if gang.finish():
            break
    else:
        gang.give_up()
    return Batch(tuple(gang.outcomes), together=True)


def _served(outcome: Outcome) -> bool:
    if isinstance(outcome, Scheduled):
        return outcome.idc is not None
    return isinstance(outcome, Placement)


def _outcome(request: RequestOrError, principal: Principal, http_request_id: str, lookahead: Lookahead) -> Outcome:
    if isinstance(request, IdcschedError):
        return request
    try:
        if not _only_recommends(request):
            return placement_order(
                request=request, principal=principal, http_request_id=http_request_id, view=lookahead
            )
        return _recommend(request, principal, http_request_id, lookahead).recorded()
    except IdcschedError as error:
        return error


def _only_recommends(request: Request) -> bool:
    return request.action in (None, "recommend")


def _recommend(request: Request, principal: Principal, http_request_id: str, lookahead: Lookahead) -> MadeDecision:
    tenant = tenant_of(request, principal)
    callback_host_check(request.callback_url, live.current().tenants.get(tenant or ""))
    made = decide_request(
        request=request,
        tenant=tenant,
        actor=principal.username,
        http_request_id=http_request_id,
        refusal=quota_refusal(tenant, use_of(request), lookahead.promised(tenant)),
        **lookahead.seen,
    )
    if request.hypothetical is None and made.scheduled.idc is not None:
        lookahead.would_take(made, request)
    return made


class _Gang:
    """Requests that are decided one after the other and placed in one transaction."""

    def __init__(self, principal: Principal, http_request_id: str) -> None:
        self.outcomes: list[Outcome] = []
        self._principal, self._http_request_id = principal, http_request_id
        self._group, self._lookahead = uuid7(), Lookahead()
        self._made: list[MadeDecision] = []
        self._takes: dict[int, list[Take]] = {}

    def add(self, request: RequestOrError) -> None:
        """Decide a request after all that the earlier ones take."""
        if isinstance(request, IdcschedError):
            self.outcomes.append(request)
            return
        try:
            made = self._decide_recommendation(request) if _only_recommends(request) else self._decide_order(request)
        except IdcschedError as error:
            self.outcomes.append(error)
        else:
            self._made.append(made)
            fits = _only_recommends(request) or len(self.outcomes) in self._takes
            self.outcomes.append(made.answer if fits else NoFeasible("no_feasible_idc", _("{summary}"), made))

    def finish(self) -> bool:
        """Place all requests if all fit; return False where a concurrent order was quicker: decide all again."""
        takes = [take for takes in self._takes.values() for take in takes]
        if not takes or not all(_served(outcome) for outcome in self.outcomes):
            self._record(self._made)
            return True
        try:
            self._note_placements(take_together(takes))
        except IntegrityError as error:
            if not oversold(error):
                raise
            self._lookahead.renew()
            return False
        except Conflict as refusal:
            self._refuse(refusal)
        return True

    def give_up(self) -> None:
        """Refuse all orders, as concurrent orders were quicker each time."""
        self._refuse(Conflict("conflict", _("concurrent orders were quicker each time")))

    def _note_placements(self, placements: Sequence[Placement]) -> None:
        by_decision = {str(placement.decision_id): placement for placement in reversed(placements)}
        for number in self._takes:
            outcome = self.outcomes[number]
            if isinstance(outcome, Scheduled):
                self.outcomes[number] = by_decision[outcome.decision_id]
        self._record([made for made in self._made if made.scheduled.decision_id not in by_decision])

    def _decide_recommendation(self, request: Request) -> MadeDecision:
        return _recommend(request, self._principal, self._http_request_id, self._lookahead)

    def _decide_order(self, request: Request) -> MadeDecision:
        """Decide an order and note what is to be taken for it."""
        if request.wait_seconds:
            detail = _("what is placed together or not at all can't wait")
            raise Invalid("gang_cannot_wait", detail, "/wait_seconds")
        tenant = tenant_for(request, self._principal)
        order = order_of(request, tenant=tenant, actor=self._principal.username, group_id=self._group)
        callback_host_check(request.callback_url, order.tenant)
        made = decide_request(
            request=request,
            tenant=order.tenant.code,
            actor=order.actor,
            http_request_id=self._http_request_id,
            picture=self._lookahead.picture,
        )
        if takes := next(choices(order, made, at_most=ALTERNATES), []):
            self._takes[len(self.outcomes)] = takes
            self._lookahead.took(takes)
            self._lookahead.promise(order.tenant.code, order.use)
        else:
            quota_check(order.tenant, order.use)
        return made

    def _refuse(self, error: Conflict) -> None:
        for number in self._takes:
            self.outcomes[number] = error
        self._record(self._made)

    @staticmethod
    def _record(made: Sequence[MadeDecision]) -> None:
        for decision in made:
            recorder.hand_in(decision.record)
