"""Orders, and what is to be taken for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from idcsched.accounts.models import Tenant
from idcsched.framework.overlay import Allocation
from idcsched.framework.request import Request
from idcsched.scheduling.callers import tenant_named
from idcsched.scheduling.deciding import MadeDecision

from .candidates import Candidate
from .lifecycle import Action
from .quota import Use, use_of
from .start import machines_check

__all__ = ["BUSINESS", "Order", "PassedOver", "Take", "order_of"]

TTL_SECONDS = 600
BUSINESS = "business"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A request to be placed for a tenant, before any decision; `replaces`: the placement that it moves, if any."""

    request: Request
    tenant: Tenant
    actor: str
    action: Action
    based_on: UUID | None = None
    group_id: UUID | None = None
    replaces: UUID | None = None

    @property
    def business(self) -> str:
        return (self.request.labels or {}).get(BUSINESS, "")

    @property
    def machines(self) -> int:
        return self.request.machine_count

    @property
    def bandwidth_mbps(self) -> float:
        return self.request.bandwidth

    @property
    def use(self) -> Use:
        """Return what the order would hold of its tenant's quota."""
        return use_of(self.request)

    @property
    def priority(self) -> int:
        return self.request.priority or 0

    @property
    def ttl(self) -> timedelta:
        return timedelta(seconds=TTL_SECONDS if self.request.ttl_seconds is None else self.request.ttl_seconds)


def order_of(request: Request, *, tenant: str, actor: str, **extra: Any) -> Order:
    """Return the order of a request: to reserve, unless its action is `provision`. May raise Invalid."""
    action = Action.PROVISION if request.action == "provision" else Action.RESERVE
    order = Order(request=request, tenant=tenant_named(tenant), actor=actor, **{"action": action, **extra})
    if order.action == Action.PROVISION:
        machines_check(request)
    return order


class PassedOver(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that ranked above the one that was taken, and the code of the reason why it was not taken itself."""

    idc: str
    rank: int
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A candidate of a decision that is to be taken for an order.

    `because`: the code of the reason why the last candidate that was better could not be taken; `passed_over`: all of
    them. `promised`: what the advice says that the move saves a month, where the take is one of its moves.
    """

    order: Order
    made: MadeDecision
    candidate: Candidate
    because: str | None = None
    passed_over: Sequence[PassedOver] = ()
    promised: float | None = None

    @property
    def allocation(self) -> Allocation:
        return Allocation(
            idc=self.candidate.idc,
            claims=self.candidate.claims,
            tenant=self.order.tenant.code,
            business=self.order.business,
            machines=self.order.machines,
        )

    @property
    def starts(self) -> bool:
        """Return whether the machines are to be started at once."""
        return self.order.action == Action.PROVISION and not self.candidate.held_back
