"""Quotas of tenants: what a tenant may hold, what it holds, and what it may still order."""

import logging
from collections.abc import Iterable
from typing import Final
from uuid import UUID

import msgspec
from django.db import InterfaceError, OperationalError, connection
from django.db.models import Q, Sum

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.db.places import place
from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.request import Machine, Request
from idcsched.language.wording import explained
from idcsched.scheduling.capacity import Capacity, CapacityQuestion, QuotaLeft, capacity
from idcsched.scheduling.deciding import tenant_of
from idcsched.scheduling.live import live
from idcsched.scheduling.unknown_names import looks_up_names

from .lifecycle import HOLDING, State
from .models import Placement

__all__ = [
    "NOTHING",
    "Use",
    "capacity_within_quota",
    "has_quota",
    "quota_check",
    "quota_refusal",
    "quota_respected",
    "tenant_use",
    "use_of",
]

logger = logging.getLogger(__name__)


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """The bandwidth and machines that placements hold, or that an order would hold."""

    bandwidth_mbps: float = 0.0
    machines: int = 0

    def __add__(self, other: "Use") -> "Use":
        return Use(
            bandwidth_mbps=round(self.bandwidth_mbps + other.bandwidth_mbps, DECIMALS),
            machines=self.machines + other.machines,
        )


NOTHING: Final = Use()


def use_of(request: Request) -> Use:
    """Return what an order of all the request's machines would hold."""
    return Use(bandwidth_mbps=request.bandwidth, machines=request.machine_count)


def has_quota(tenant: Tenant) -> bool:
    """Return whether the tenant has a quota at all."""
    return tenant.quota_bandwidth_mbps is not None or tenant.quota_machines is not None


def tenant_use(tenant: str, *, but: Iterable[UUID] = ()) -> Use:
    """Return what the tenant's placements hold now, without those in `but`; waiting placements hold nothing.

    What is being moved counts once, where it still stands.
    """
    moving = Q(state=State.RESERVED, replaces__state__in=sorted(HOLDING))
    holding = Placement.objects.filter(tenant__code=tenant, state__in=sorted(HOLDING))
    holding = holding.exclude(pk__in=list(but)).exclude(moving)
    sums = holding.aggregate(bandwidth=Sum("bandwidth_mbps"), machines=Sum("machine_count"))
    return Use(bandwidth_mbps=round(sums["bandwidth"] or 0.0, DECIMALS), machines=sums["machines"] or 0)


def quota_respected(tenant: str, need: Use, *, placements: Iterable[UUID]) -> None:
    """Raise Conflict `quota_exceeded` where the tenant may not hold what these placements need.

    Locks the tenant's row until the transaction ends, so that two orders of one tenant do not both take the rest.
    """
    limits = Tenant.objects.select_for_update(no_key=True).get(code=tenant)
    if (refusal := _excess(limits, tenant_use(tenant, but=placements), need)) is not None:
        raise refusal


def quota_check(tenant: Tenant, need: Use) -> None:
    """Raise Conflict `quota_exceeded` where the tenant may not hold so much more at present; locks nothing."""
    if has_quota(tenant) and (refusal := _excess(tenant, tenant_use(tenant.code), need)) is not None:
        raise refusal


def quota_refusal(tenant: str | None, need: Use, promised: Use = NOTHING) -> Conflict | None:
    """Return why the tenant's quota does not allow an order on top of what was `promised`; None where it does.

    While the database does not answer, no recommendation is refused: the order itself is checked again.
    """
    limits, held = _limits_and_use(tenant)
    return None if limits is None else _excess(limits, held + promised, need)


@looks_up_names
def capacity_within_quota(*, question: CapacityQuestion, principal: Principal) -> Capacity:
    """Return how many more machines fit, within the tenant's quota; raises what `capacity` raises."""
    limits, held = _limits_and_use(tenant_of(question.asked(), principal))
    left = None if limits is None else _left(limits, held, question.machine, question.most)
    return capacity(question=question, principal=principal, quota=left)


def _limits_and_use(tenant: str | None) -> tuple[Tenant | None, Use]:
    """Return the tenant with what it holds; None where it has no quota, or the database can't be asked."""
    limits = live.current().tenants.get(tenant or "")
    if limits is None or not has_quota(limits) or live.lagging:
        return None, NOTHING
    try:
        with place():
            return limits, tenant_use(limits.code)
    except (OperationalError, InterfaceError) as error:
        logger.warning("the quota of tenant %s is not looked at: %s", limits.code, error)
        connection.close()
        return None, NOTHING


def _excess(limits: Tenant, held: Use, need: Use) -> Conflict | None:
    """Return why `need` exceeds the quota; a resource of which nothing is needed never does."""
    after, most_mbps, most_machines = held + need, limits.quota_bandwidth_mbps, limits.quota_machines
    if most_mbps is not None and need.bandwidth_mbps and after.bandwidth_mbps > most_mbps:
        return Conflict(
            "quota_exceeded",
            _("{need:.10g} Mbps more would exceed the quota of {limit:.10g}; {held:.10g} are held"),
            need=need.bandwidth_mbps,
            limit=most_mbps,
            held=held.bandwidth_mbps,
        )
    if most_machines is not None and need.machines and after.machines > most_machines:
        return Conflict(
            "quota_exceeded",
            _("machines: {need} more would exceed the quota of {limit}; {held} are held"),
            need=need.machines,
            limit=most_machines,
            held=held.machines,
        )
    return None


def _left(limits: Tenant, held: Use, machine: Machine, at_most: int) -> QuotaLeft:
    """Bisect for how many more of the machine the quota allows, up to `at_most`; add the refusal of one more."""

    def excess(count: int) -> Conflict | None:
        bandwidth = round((machine.bandwidth_mbps or 0.0) * count, DECIMALS)
        return _excess(limits, held, Use(bandwidth_mbps=bandwidth, machines=count))

    fits, too_many = 0, at_most + 1
    while fits + 1 < too_many:
        count = (fits + too_many) // 2
        fits, too_many = (fits, count) if excess(count) else (count, too_many)
    refusal = excess(fits + 1)
    return QuotaLeft(count=fits, reason=explained(refusal) if refusal else None)
