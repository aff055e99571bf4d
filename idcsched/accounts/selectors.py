"""Look-up of rows by the names that clients use, and the part of the history that a caller may see."""

from django.db.models import QuerySet

from idcsched.audit.models import Change
from idcsched.audit.selectors import confidential_kinds
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .models import Tenant, User
from .roles import Principal

__all__ = ["changes_visible", "tenant_named", "user_named"]


def tenant_named(tenant: Tenant | str | None, pointer: str) -> Tenant | None:
    """Return the tenant of that code; a Tenant or None is returned as it is. Raises Invalid."""
    if not isinstance(tenant, str):
        return tenant
    row = Tenant.objects.filter(code=tenant).first()
    if row is None:
        raise Invalid("unknown", _("there is no tenant {name}"), pointer, name=tenant)
    return row


def user_named(user: User | str, pointer: str) -> User:
    """Return the user of that name; a User is returned as it is. Raises Invalid."""
    if not isinstance(user, str):
        return user
    row = User.objects.filter(username=user).first()
    if row is None:
        raise Invalid("unknown", _("there is no user {name}"), pointer, name=user)
    return row


def changes_visible(principal: Principal) -> QuerySet[Change]:
    """Return the changes that the caller may see.

    Callers who are bound to a tenant see their own changes, all others everybody's; changes of accounts are for
    administrators.
    """
    changes = Change.objects.all()
    if not principal.can("read_accounts"):
        changes = changes.exclude(kind__in=confidential_kinds())
    return changes if principal.all_tenants else changes.filter(actor=principal.username)
