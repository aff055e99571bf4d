"""Who is asking and for whom, without a query: from the live picture, else from the database."""

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
    """Who is behind a token that comes from that address; raises Unauthenticated.

    A token that another process has made a moment ago is not in the picture yet, and is looked up.
    """
    known = live.current().callers.get(token_digest(text))
    if known is not None:
        return known.principal_for(address=address, now=now)
    with place():
        return scoped(token_authenticate(text=text, address=address, now=now))


def tenant_named(code: str) -> Tenant:
    """The tenant of that code, one object for all who ask, which nobody changes or saves; raises Invalid."""
    found = live.current().tenants.get(code)
    if found is None:
        raise Invalid("unknown_tenant", _("there is no tenant {tenant}"), "/tenant", tenant=code)
    return found
