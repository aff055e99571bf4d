"""Finding rows by the names that clients know, and what of the history somebody may see."""

from django.db.models import QuerySet

from idcsched.audit.models import Change
from idcsched.audit.selectors import confidential_kinds
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .models import Tenant, User
from .roles import Principal

__all__ = ["changes_visible", "tenant_named", "user_named"]


def tenant_named(tenant: Tenant | str | None, pointer: str) -> Tenant | None:
    """The tenant of that code; raises Invalid. What is one already, or none, stays so."""
    if not isinstance(tenant, str):
        return tenant
    found = Tenant.objects.filter(code=tenant).first()
    if found is None:
        raise Invalid("unknown", _("there is no tenant {name}"), pointer, name=tenant)
    return found


def user_named(user: User | str, pointer: str) -> User:
    """The user of that name; raises Invalid. Who is one already stays so."""
    if not isinstance(user, str):
        return user
    found = User.objects.filter(username=user).first()
    if found is None:
        raise Invalid("unknown", _("there is no user {name}"), pointer, name=user)
    return found


def changes_visible(principal: Principal) -> QuerySet[Change]:
    """What of the history they may see.

    Those of one tenant see what they changed themselves, others what anybody changed; what happened to accounts is
    for administrators.
    """
    found = Change.objects.all()
    if not principal.can("read_accounts"):
        found = found.exclude(kind__in=confidential_kinds())
    return found if principal.all_tenants else found.filter(actor=principal.username)
