"""Orders: decide, take the best candidate, or the next where a concurrent order was quicker, or decide anew."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import IntegrityError

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Conflict, Invalid
from idcsched.framework.messages import Message, _
from idcsched.framework.request import Request
from idcsched.framework.shortfall import idcs_awaited
from idcsched.ledger.taking import oversold
from idcsched.scheduling.deciding import MadeDecision, decide_request, tenant_of
from idcsched.scheduling.recorder import recorder

from .callbacks import callback_host_check
from .choices import choices, nobody_starts_machines
from .models import Placement
from .orders import Order, order_of
from .quota import quota_check
from .reserving import take_together, wait
from .view import LiveView
from .waiting import ALTERNATES, cures_of, lacks_of

__all__ = ["DECISIONS", "NoFeasible", "placement_order", "tenant_for"]

DECISIONS = 10
"""The number of decisions for one order, each lost to concurrent orders, after which the order is refused."""


class NoFeasible(Conflict):
    """Nothing fits, or concurrent orders took all that fitted; carries the last decision."""

    def __init__(self, code: str, detail: Message, made: MadeDecision, **params: Any) -> None:
        self.decision = made.answer
        super().__init__(code, detail, summary=self.decision.summary, **params)

    @property
    def extra(self) -> Mapping[str, Any]:
        return {"decision": self.decision}


def placement_order(
    *, request: Request, principal: Principal, http_request_id: str, view: LiveView | None = None
) -> Placement:
    """Place the request in the best IDC that can be had, or let it wait if the request says so; return the placement.

    For a request spread over several IDCs this is the first placement; the others are of its group.

    Raises Invalid, Forbidden, NoFeasible `no_feasible_idc`, `no_provider`, `conflict`, Conflict `quota_exceeded`,
    PluginFailed.
    """
    if view is None:
        view = LiveView()
        view.renew()
    order = order_of(request, tenant=tenant_for(request, principal), actor=principal.username)
    callback_host_check(order.request.callback_url, order.tenant)
    outrun = False
    for _attempt in range(DECISIONS):
        made = decide_request(
            request=request,
            tenant=order.tenant.code,
            actor=order.actor,
            http_request_id=http_request_id,
            picture=view.picture,
        )
        if not made.solution.scheduled:
            outrun = False
            break
        placements, outrun = _take_best(order, made, view)
        if placements:
            return placements[0]
        view.renew()
    quota_check(order.tenant, order.use)
    if request.wait_seconds:
        return wait(
            order,
            made,
            seconds=request.wait_seconds,
            cures=cures_of(made),
            lacks=lacks_of(made),
            awaits=idcs_awaited(made.decision),
        )
    recorder.hand_in(made.record)
    raise _refusal(order, made, http_request_id, view, outrun=outrun)


def _refusal(order: Order, made: MadeDecision, http_request_id: str, view: LiveView, *, outrun: bool) -> NoFeasible:
    """Return the reason why the order is refused; `outrun`: concurrent orders were quicker each time."""
    if nobody_starts_machines(order, made):
        return NoFeasible("no_provider", _("no IDC that fits has a provider that starts machines: {summary}"), made)
    if outrun:
        return NoFeasible("conflict", _("concurrent orders were quicker each time: {summary}"), made)
    if _fits_without_waiting_orders(order, http_request_id, view):
        return NoFeasible("no_feasible_idc", _("{summary}. What would fit is kept for orders that wait"), made)
    return NoFeasible("no_feasible_idc", _("{summary}"), made)


def _fits_without_waiting_orders(order: Order, http_request_id: str, view: LiveView) -> bool:
    """Return whether the order would fit if no other order waited."""
    picture = view.picture
    if not picture.kept:
        return False
    without_kept = replace(picture, kept=())
    tenant, actor = order.tenant.code, order.actor
    made = decide_request(
        request=order.request, tenant=tenant, actor=actor, http_request_id=http_request_id, picture=without_kept
    )
    return made.solution.scheduled


def _take_best(order: Order, made: MadeDecision, view: LiveView) -> tuple[list[Placement], bool]:
    """Try the choices, best first; return the placements, and whether all were lost to concurrent orders."""
    outrun = False
    for takes in choices(order, made, at_most=ALTERNATES):
        try:
            placements = take_together(takes)
        except IntegrityError as error:
            if not oversold(error):
                raise
            outrun = True
        else:
            view.took(takes)
            return placements, False
    return [], outrun


def tenant_for(request: Request, principal: Principal) -> str:
    """Return the tenant of the future placement; raises Invalid, Forbidden."""
    tenant = tenant_of(request, principal)
    if tenant is None:
        raise Invalid("tenant_required", _("say for which tenant: this token is of all"), "/tenant")
    return tenant
