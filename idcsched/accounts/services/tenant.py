from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from idcsched.accounts.callback_secrets import callback_secret_text
from idcsched.accounts.known_codes import code_check
from idcsched.accounts.models import Tenant
from idcsched.audit.writing import locked, row_create, row_delete, row_update, write
from idcsched.feed.models import Topic
from idcsched.feed.services import feed_append

__all__ = ["tenant_callback_secret_make", "tenant_create", "tenant_delete", "tenant_update"]

FIELDS = frozenset({"code", "name", "default_profile", "callback_hosts", "quota_bandwidth_mbps", "quota_machines"})


@write()
def tenant_create(
    *,
    code: str,
    name: str = "",
    default_profile: str = "",
    callback_hosts: Sequence[str] = (),
    quota_bandwidth_mbps: float | None = None,
    quota_machines: int | None = None,
) -> Tenant:
    """Create a tenant; raises Conflict, and Invalid (also if the profile does not exist)."""
    tenant = row_create(
        Tenant(
            code=code,
            name=name,
            default_profile=default_profile,
            # Not list(callback_hosts): that would split a text into letters, which look like hosts.
            callback_hosts=[] if callback_hosts == () else callback_hosts,
            quota_bandwidth_mbps=quota_bandwidth_mbps,
            quota_machines=quota_machines,
        )
    )
    code_check("profile", tenant.default_profile, "/default_profile")
    return tenant


@write()
def tenant_update(*, tenant: Tenant, changes: Mapping[str, Any]) -> Tenant:
    """Set the fields in `changes`; raises NotFound, Conflict, and Invalid (also if the profile does not exist)."""
    changed = row_update(tenant, changes, allowed=FIELDS)
    if "code" in changes:
        feed_append(topic=Topic.SHAPES)  # the live snapshot knows learnt shapes by the tenant's code
    if "default_profile" in changes:
        code_check("profile", changed.default_profile, "/default_profile")
    return changed


@write()
def tenant_callback_secret_make(*, tenant: Tenant) -> str:
    """Make a new secret for signing callbacks; the one before stays in force for a day. Raises NotFound."""
    fresh = locked(tenant)
    changes = {"callback_secret_version": fresh.callback_secret_version + 1, "callback_secret_at": timezone.now()}
    return callback_secret_text(row_update(fresh, changes, allowed=changes.keys()))


@write()
def tenant_delete(*, tenant: Tenant) -> None:
    """Delete a tenant that is not in use, with its tokens that have ended; raises NotFound, Conflict `in_use`."""
    row_delete(tenant)
