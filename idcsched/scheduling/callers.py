"""Lookup of callers and tenants in the live picture, without a query; unknown tokens are looked up in the database."""

from datetime import datetime

from idcsched.accounts.known_tokens import token_digest
from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.accounts.services import token_authenticate
from idcsched.db.places import place
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.inventory.scope import scoped

from .live import live

__all__ = ["caller", "tenant_named"]


def caller(*, text: str, address: str, now: datetime) -> Principal:
    """Return the principal of a token that is used from `address`; raises Unauthenticated.

    A token that another process made a moment ago is not in the picture yet, and is looked up in the database.
    """
    known = live.current().callers.get(token_digest(text))
    if known is not None:
        return known.principal_for(address=address, now=now)
    with place():
        return scoped(token_authenticate(text=text, address=address, now=now))


def tenant_named(code: str) -> Tenant:
    """Return the tenant of that code, an object that all callers share and none may change; raises Invalid."""
    tenant = live.current().tenants.get(code)
    if tenant is None:
        raise Invalid("unknown_tenant", _("there is no tenant {tenant}"), "/tenant", tenant=code)
    return tenant
