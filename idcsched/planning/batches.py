"""Batches whose orders are assigned together, for the smallest bill of all of them."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from django.conf import settings

from idcsched.accounts.roles import Principal
from idcsched.framework.answer import LineUse
from idcsched.framework.batch import Batch as BatchSoFar
from idcsched.framework.cycle import decide, queries
from idcsched.framework.decision import Decision
from idcsched.framework.errors import IdcschedError
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.question import Question
from idcsched.framework.request import Planned, Request
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.spreading import Solution, allocations_of
from idcsched.outbound.asking import ask
from idcsched.placement.batching import Batch, Outcome
from idcsched.placement.orders import BUSINESS
from idcsched.scheduling.deciding import labels_of, profile_of, tenant_of
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.reserved_room import without_reserved_room

from .optimum import NOWHERE, Status, bill_of, placed, solve
from .problem import MOST_OPTIONS, Pick, options_of, problem_of

__all__ = ["Plan", "batch_by_bill"]

CENTS = 2


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the orders of a batch add to the bills of all lines per month, assigned together and one after the other.

    `placed` orders have `bill` together, and no assignment of as many has one below `bound`; `gap` is the difference as
    a share of the bill. One after the other, `greedy_placed` of them would have `greedy_bill`. `not_as_planned` are the
    positions of those that have been decided otherwise. An order over several IDCs, or with a supposition, has no part.
    """

    objective: Literal["bill"] = "bill"
    status: Status = "optimal"
    placed: int = 0
    bill: float = 0.0
    bound: float = 0.0
    gap: float = 0.0
    seconds: float = 0.0
    greedy_placed: int = 0
    greedy_bill: float = 0.0
    currency: str
    not_as_planned: tuple[int, ...] = ()


class _Order(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it is asked now, and the tenant that it is for."""

    question: Question
    tenant: str | None


def batch_by_bill(
    *,
    requests: Sequence[Request | IdcschedError],
    principal: Principal,
    http_request_id: str,
    serve: Callable[..., Batch],
) -> tuple[Batch, Plan]:
    """Assign the requests to IDCs and lines for the smallest bill, and let `serve` decide them with that as the plan.

    `serve` is `batch_answer` or `gang_place`. Each decision checks everything again: where a planned IDC does not fit
    any more, the ranking decides.
    """
    live.catch_up()
    planned, plan = _planned(requests, principal, http_request_id)
    batch = serve(
        requests=[
            msgspec.structs.replace(request, planned=planned[number])
            if isinstance(request, Request) and number in planned
            else request
            for number, request in enumerate(requests)
        ],
        principal=principal,
        http_request_id=http_request_id,
    )
    otherwise = [number for number, place in planned.items() if not _is_at(batch.outcomes[number], place)]
    return batch, msgspec.structs.replace(plan, not_as_planned=tuple(otherwise))


def _planned(
    requests: Sequence[Request | IdcschedError], principal: Principal, http_request_id: str
) -> tuple[dict[int, Planned], Plan]:
    """Return where each request is to go, by its position; none for what has no part in the plan."""
    began = time.monotonic()
    valid = [request for request in requests if isinstance(request, Request)]
    lowest = min([request.priority or 0 for request in valid], default=0)
    picture = without_reserved_room(live.current(), lowest)
    decided: dict[int, tuple[_Order, Decision]] = {}
    for number, request in enumerate(requests):
        if isinstance(request, Request) and request.spread is None and request.hypothetical is None:
            try:
                order = _order(request, principal, http_request_id, picture)
                decided[number] = order, decide(order.question)
            except IdcschedError:  # such as an unknown name: answering the request will say so
                continue
    if not decided:
        return {}, Plan(currency=picture.snapshot.currency)
    orders, alone = zip(*decided.values(), strict=True)
    picks, most = _one_after_the_other(orders, picture.snapshot), MOST_OPTIONS // len(decided)
    options = [options_of(decision, pick=pick, most=most) for decision, pick in zip(alone, picks, strict=True)]
    plannable = problem_of(options, picks, picture.snapshot)
    problem, greedy = plannable.problem, plannable.start
    optimum = solve(problem, seconds=settings.PLANNING_SECONDS, start=greedy)
    planned: dict[int, Planned] = {}
    if optimum.status != "nothing_found":
        chosen = zip(decided, optimum.chosen.tolist(), strict=True)
        planned = {number: plannable.places[option] for number, option in chosen if option != NOWHERE}
    return planned, Plan(
        status=optimum.status,
        placed=placed(optimum.chosen),
        bill=round(optimum.bill, CENTS),
        bound=round(optimum.bound, CENTS),
        gap=round(optimum.gap, DECIMALS),
        seconds=round(time.monotonic() - began, 3),
        greedy_placed=placed(greedy),
        greedy_bill=round(bill_of(problem, greedy), CENTS),
        currency=picture.snapshot.currency,
    )


def _order(request: Request, principal: Principal, http_request_id: str, picture: LiveState) -> _Order:
    """Return the request with the inputs of its decision; raises Invalid, Forbidden, Unavailable, PluginFailed."""
    tenant = tenant_of(request, principal)
    question = Question(
        msgspec.structs.replace(request, planned=None),
        picture.snapshot,
        profile_of(request, tenant, picture),
        now=time.time(),
        reference=http_request_id,
        labels=labels_of(request, tenant),
    )
    return _Order(question=msgspec.structs.replace(question, replies=ask(queries(question))), tenant=tenant)


def _one_after_the_other(orders: Sequence[_Order], snapshot: Snapshot) -> list[Pick | None]:
    """Return where the orders would go if each were decided after what the earlier ones took."""
    batch, picks = BatchSoFar(snapshot), list[Pick | None]()
    for order in orders:
        pick = None
        try:
            decision = decide(msgspec.structs.replace(order.question, snapshot=batch.snapshot))
            business = (order.question.request.labels or {}).get(BUSINESS, "")
            batch.take(allocations_of(Solution(decision=decision), tenant=order.tenant or "", business=business))
        except IdcschedError:  # a plugin that failed
            decision = None
        if decision is not None and decision.scheduled:
            survivors, picked = decision.survivors, decision.picked
            lines = survivors.lines.of(picked) if survivors.need else ()
            pick = survivors.row_numbers.item(picked), lines
        picks.append(pick)
    return picks


def _is_at(outcome: Outcome, place: Planned) -> bool:
    """Return whether an order has been recommended or placed where it was planned."""
    if isinstance(outcome, IdcschedError) or outcome.idc is None:
        return False
    lines = {use.line if isinstance(use, LineUse) else use["line"] for use in outcome.lines}
    return outcome.idc.code == place.idc and (place.lines is None or lines == set(place.lines))
