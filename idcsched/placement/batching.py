"""Many requests at once: one after the other, each seeing what the ones before it took, or all of them or none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from django.db import IntegrityError
from uuid_utils.compat import uuid7

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.framework.messages import _
from idcsched.framework.request import Request
from idcsched.ledger.taking import oversold
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.schedule import Made, Scheduled, make, tenant_of

from .callbacks import callback_host_check
from .choices import choices
from .models import Placement
from .ordering import DECISIONS, NoFeasible, placement_order, tenant_for
from .orders import Order, Take, order_of
from .quota import quota_check, quota_refusal, use_of
from .taking import take_together
from .view import Lookahead
from .waiting import ALTERNATES

__all__ = ["Batch", "Outcome", "batch_answer", "gang_place"]

Outcome = Scheduled | Placement | IdcschedError
"""What becomes of one request: what was recommended, the (first) placement, or why there is none."""
Asked = Request | IdcschedError
"""A request, or why it is none."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of each request, in order; `together`: they were to be placed all or none."""

    outcomes: tuple[Outcome, ...]
    together: bool

    @property
    def result(self) -> Literal["all", "some", "none"]:
        served = [_served(outcome) for outcome in self.outcomes]
        if all(served):
            return "all"
        return "some" if any(served) and not self.together else "none"


def batch_answer(*, requests: Sequence[Asked], principal: Principal, http_request_id: str) -> Batch:
    """Each by itself, in order. What is wrong with one of them is its own outcome."""
    live.catch_up()
    ahead = Lookahead()
    return Batch(tuple(_outcome(asked, principal, http_request_id, ahead) for asked in requests), together=False)


def gang_place(*, requests: Sequence[Asked], principal: Principal, http_request_id: str) -> Batch:
    """All of them in one transaction, as placements of one group, or none."""
    live.catch_up()
    for _attempt in range(DECISIONS):
        gang = _Gang(principal, http_request_id)
        for asked in requests:
            gang.add(asked)
        if gang.placed():
            break
    else:
        gang.give_up()
    return Batch(tuple(gang.outcomes), together=True)


def _served(outcome: Outcome) -> bool:
    if isinstance(outcome, Scheduled):
        return outcome.idc is not None
    return isinstance(outcome, Placement)


def _outcome(asked: Asked, principal: Principal, http_request_id: str, ahead: Lookahead) -> Outcome:
    if isinstance(asked, IdcschedError):
        return asked
    try:
        if not _recommends(asked):
            return placement_order(request=asked, principal=principal, http_request_id=http_request_id, view=ahead)
        made = _recommended(asked, principal, http_request_id, ahead)
    except IdcschedError as error:
        return error
    recorder.hand_in(made.record)
    return made.answer


def _recommends(asked: Request) -> bool:
    return asked.action in (None, "recommend")


def _recommended(asked: Request, principal: Principal, http_request_id: str, ahead: Lookahead) -> Made:
    tenant = tenant_of(asked, principal)
    made = make(
        request=asked,
        tenant=tenant,
        actor=principal.username,
        http_request_id=http_request_id,
        refusal=quota_refusal(tenant, use_of(asked), ahead.promised(tenant)),
        **ahead.seen,
    )
    if asked.hypothetical is None and made.scheduled.idc is not None:
        ahead.would_take(made, asked)
    return made


class _Gang:
    """Requests that are decided one after the other, and taken together."""

    def __init__(self, principal: Principal, http_request_id: str) -> None:
        self.outcomes: list[Outcome] = []
        self._principal, self._http_request_id = principal, http_request_id
        self._group, self._ahead = uuid7(), Lookahead()
        self._made: list[Made] = []
        self._takes: dict[int, list[Take]] = {}

    def add(self, asked: Asked) -> None:
        if isinstance(asked, IdcschedError):
            self.outcomes.append(asked)
            return
        try:
            made = self._recommended(asked) if _recommends(asked) else self._ordered(asked)
        except IdcschedError as error:
            self.outcomes.append(error)
        else:
            self._made.append(made)
            fits = _recommends(asked) or len(self.outcomes) in self._takes
            self.outcomes.append(made.answer if fits else NoFeasible("no_feasible_idc", _("{summary}"), made))

    def placed(self) -> bool:
        """Whether that is how it ends: all are placed, or can't be. Else somebody was quicker: begin anew."""
        takes = [take for takes in self._takes.values() for take in takes]
        if not takes or not all(_served(outcome) for outcome in self.outcomes):
            self._record(self._made)
            return True
        try:
            self._place(take_together(takes))
        except IntegrityError as error:
            if not oversold(error):
                raise
            self._ahead.renew()
            return False
        except Conflict as refusal:
            self._refuse(refusal)
        return True

    def give_up(self) -> None:
        self._refuse(Conflict("conflict", _("concurrent orders were quicker each time")))

    def _place(self, placements: Sequence[Placement]) -> None:
        by_decision = {str(placement.decision_id): placement for placement in reversed(placements)}
        for number in self._takes:
            outcome = self.outcomes[number]
            if isinstance(outcome, Scheduled):
                self.outcomes[number] = by_decision[outcome.decision_id]
        self._record([made for made in self._made if made.scheduled.decision_id not in by_decision])

    def _recommended(self, asked: Request) -> Made:
        return _recommended(asked, self._principal, self._http_request_id, self._ahead)

    def _ordered(self, asked: Request) -> Made:
        """What is to be taken for an order is noted down."""
        if asked.wait_seconds:
            detail = _("what is placed together or not at all can't wait")
            raise Invalid("gang_cannot_wait", detail, "/wait_seconds")
        order = replace(self._order(asked), group_id=self._group)
        callback_host_check(asked.callback_url, order.tenant)
        made = make(
            request=asked,
            tenant=order.tenant.code,
            actor=order.actor,
            http_request_id=self._http_request_id,
            picture=self._ahead.picture,
        )
        if takes := next(choices(order, made, at_most=ALTERNATES), []):
            self._takes[len(self.outcomes)] = takes
            self._ahead.took(takes)
            self._ahead.promise(order.tenant.code, order.use)
        else:
            quota_check(order.tenant, order.use)
        return made

    def _order(self, asked: Request) -> Order:
        return order_of(asked, tenant=tenant_for(asked, self._principal), actor=self._principal.username)

    def _refuse(self, error: Conflict) -> None:
        for number in self._takes:
            self.outcomes[number] = error
        self._record(self._made)

    @staticmethod
    def _record(made: Sequence[Made]) -> None:
        for each in made:
            recorder.hand_in(each.record)
