"""From a request to a placement: decide, take what the best candidate must give, else the next, else decide anew."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Conflict, Invalid, Template
from idcsched.framework.request import Request
from idcsched.ledger.taking import oversold
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.schedule import Made, make, tenant_of
from idcsched.scheduling.sentences import read_struct

from .callbacks import callback_host_check
from .candidates import candidates
from .models import Placement
from .taking import Order, order_of, take, wait
from .waiting import ALTERNATES, cures_of

__all__ = ["NoFeasible", "placement_order"]

DECISIONS = 3
"""Decisions that are made for one order before it is refused."""


class NoFeasible(Conflict):
    """Nothing fits, or nothing that fitted could be had; carries the last decision."""

    def __init__(self, code: str, detail: Template, made: Made) -> None:
        self.decision = read_struct(made.scheduled, made.record.notebook.sentences)
        super().__init__(code, detail, summary=self.decision.summary)

    @property
    def extra(self) -> Mapping[str, Any]:
        return {"decision": self.decision}


def placement_order(*, request: Request, principal: Principal, http_request_id: str) -> Placement:
    """A placement for what is asked, in the best IDC that could be had, or one that waits if the request says so.

    Raises Invalid, Forbidden, NoFeasible `no_feasible_idc`, Conflict `quota_exceeded`, PluginFailed.
    """
    order = order_of(request, tenant=_tenant(request, principal), actor=principal.username)
    callback_host_check(order.request.callback_url, order.tenant)
    for _ in range(DECISIONS):
        made = make(request=request, tenant=order.tenant.code, actor=order.actor, http_request_id=http_request_id)
        if not made.decision.scheduled:
            break
        placement = _best_to_be_had(order, made)
        if placement is not None:
            return placement
        live.catch_up()
    if request.wait_seconds:
        return wait(order, made, seconds=request.wait_seconds, cures=cures_of(made.decision) or ["ledger"])
    recorder.hand_in(made.record)
    raise NoFeasible("no_feasible_idc", "{summary}", made)


def _best_to_be_had(order: Order, made: Made) -> Placement | None:
    """Down the ranking; None where somebody else was quicker everywhere."""
    refused: list[str] = []
    for candidate in candidates(made.decision, at_most=ALTERNATES):
        if candidate.refusal:
            refused.append(candidate.refusal)
            continue
        try:
            return take(order, made, candidate, because=refused)
        except IntegrityError as error:
            if not oversold(error):
                raise
            refused.append("conflict")
    return None


def _tenant(request: Request, principal: Principal) -> str:
    tenant = tenant_of(request, principal)
    if tenant is None:
        raise Invalid("tenant_required", "say for which tenant: this token is of all", "/tenant")
    return tenant
