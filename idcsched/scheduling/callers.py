"""Who is asking and for whom, without a query: from the live picture, else from the database."""

from datetime import datetime

from idcsched.accounts.known_tokens import token_digest
from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.accounts.services import token_authenticate
from idcsched.at_once import may_wait
from idcsched.inventory.scope import scoped

from .live import live

__all__ = ["caller", "tenant_named"]


def caller(*, text: str, address: str, now: datetime) -> Principal:
    """Who is behind a token that comes from that address; raises Unauthenticated.

    A token that another process has made a moment ago is not in the picture yet, and is looked up; so is every token
    where no thread keeps the picture.
    """
    known = live.current().callers.get(token_digest(text)) if live.following else None
    if known is not None:
        return known.principal_for(address=address, now=now)
    may_wait()
    return scoped(token_authenticate(text=text, address=address, now=now))


def tenant_named(code: str) -> Tenant:
    """The tenant of that code, as the picture has it or, where no thread keeps one, the database; raises DoesNotExist.

    Nobody changes or saves it: one will do for all who ask.
    """
    known = live.current().tenants.get(code) if live.following else None
    return known or Tenant.objects.get(code=code)
