"""What a tenant may hold at most, and what it holds."""

import msgspec
from django.db.models import Sum

from idcsched.accounts.models import Tenant
from idcsched.framework.errors import Conflict
from idcsched.framework.normalize import DECIMALS

from .lifecycle import HOLDING
from .models import Placement

__all__ = ["Use", "has_quota", "quota_respected", "tenant_use"]


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """What a tenant's placements hold together."""

    bandwidth_mbps: float = 0.0
    machines: int = 0


def has_quota(tenant: Tenant) -> bool:
    """Whether there is anything to keep."""
    return tenant.quota_bandwidth_mbps is not None or tenant.quota_machines is not None


def tenant_use(tenant: str) -> Use:
    """As it stands now; waiting placements hold nothing."""
    holding = Placement.objects.filter(tenant__code=tenant, state__in=sorted(HOLDING))
    sums = holding.aggregate(bandwidth=Sum("bandwidth_mbps"), machines=Sum("machine_count"))
    return Use(bandwidth_mbps=round(sums["bandwidth"] or 0.0, DECIMALS), machines=sums["machines"] or 0)


def quota_respected(*, tenant: str, bandwidth_mbps: float, machines: int) -> None:
    """Raises Conflict `quota_exceeded` where so much more is too much.

    Holds the tenant's row until the transaction ends, so that two orders of one tenant do not both take the rest.
    """
    limits = Tenant.objects.select_for_update(no_key=True).get(code=tenant)
    use = tenant_use(tenant)
    bandwidth = round(use.bandwidth_mbps + bandwidth_mbps, DECIMALS)
    if limits.quota_bandwidth_mbps is not None and bandwidth > limits.quota_bandwidth_mbps:
        raise Conflict(
            "quota_exceeded",
            "{need:.10g} Mbps more would exceed the quota of {limit:.10g}; {held:.10g} are held",
            need=bandwidth_mbps,
            limit=limits.quota_bandwidth_mbps,
            held=use.bandwidth_mbps,
        )
    if limits.quota_machines is not None and use.machines + machines > limits.quota_machines:
        raise Conflict(
            "quota_exceeded",
            "{need} machines more would exceed the quota of {limit}; {held} are held",
            need=machines,
            limit=limits.quota_machines,
            held=use.machines,
        )
