"""Recommendations, on record and without one, as far as the tenant's quota allows."""

from idcsched.accounts.roles import Principal
from idcsched.framework.profile import Profile
from idcsched.framework.request import Request
from idcsched.scheduling.deciding import MadeDecision, Scheduled, decide_request, tenant_of
from idcsched.scheduling.live import live
from idcsched.scheduling.request_checks import request_check
from idcsched.scheduling.unknown_names import looks_up_names

from .callbacks import callback_host_check
from .quota import quota_refusal, use_of

__all__ = ["recommend", "recommendation_try"]


@looks_up_names
def recommend(*, request: Request, principal: Principal, http_request_id: str) -> Scheduled:
    """Recommend the best IDC for `request` and record the decision; raises Invalid, Forbidden or PluginFailed.

    A request beyond the tenant's quota is unschedulable, even where it would fit.
    """
    tenant = tenant_of(request, principal)
    callback_host_check(request.callback_url, live.current().tenants.get(tenant or ""))
    made = decide_request(
        request=request,
        tenant=tenant,
        actor=principal.username,
        http_request_id=http_request_id,
        refusal=quota_refusal(tenant, use_of(request)),
    )
    return made.recorded()


@looks_up_names
def recommendation_try(
    *, request: Request, principal: Principal, reference: str, policy: Profile | None = None
) -> MadeDecision:
    """Decide as `recommend` would, or by `policy`, without a record and without counting in the service's metrics.

    `reference` decides ties of a request that has no id. Raises Invalid, Forbidden, PluginFailed, Unavailable.
    """
    request_check(request)
    tenant = tenant_of(request, principal)
    return decide_request(
        request=request,
        tenant=tenant,
        actor=principal.username,
        http_request_id=reference,
        policy=policy,
        refusal=quota_refusal(tenant, use_of(request)),
        counted=False,
    )
