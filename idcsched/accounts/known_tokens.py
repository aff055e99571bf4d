"""Tokens as a process knows them: enough to tell who is asking without a query.

A table holds every token that could be used, and is replaced as a whole when the feed says that a token, a user or
a tenant has changed. Times and addresses are judged when a token is used.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from django.db.models import Q, QuerySet
from django.utils import timezone

from idcsched.framework.errors import Unauthenticated
from idcsched.framework.messages import _

from .models import ApiToken
from .roles import Principal, Role, role_can

__all__ = ["KnownToken", "TokenTable", "known", "token_digest", "tokens_known"]

FORGOTTEN_AFTER: Final = timedelta(days=1)
"""How long after its end a token is still told from one that never was without asking the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownToken:
    """One token and who is behind it."""

    row: ApiToken
    active: bool
    principal: Principal

    def principal_for(self, *, address: str, now: datetime) -> Principal:
        """Who comes with it, from there, now; raises Unauthenticated."""
        row = self.row
        if not self.active:
            raise Unauthenticated("token_invalid", _("there is no such token"))
        if row.revoked_at is not None:
            raise Unauthenticated("token_revoked", _("this token was revoked"))
        if row.expires_at is not None and row.expires_at <= now:
            raise Unauthenticated("token_expired", _("this token has expired"))
        if not row.allows_address(address):
            raise Unauthenticated("address_not_allowed", _("this token may not be used from this address"))
        return self.principal


TokenTable = Mapping[str, KnownToken]
"""Digest → token."""


def tokens_known(regions: Mapping[int, tuple[str, ...]]) -> TokenTable:
    """All that could be used, or could be until yesterday, their operators limited to `regions` (by user)."""
    lately = timezone.now() - FORGOTTEN_AFTER
    usable = Q(revoked_at__isnull=True) | Q(revoked_at__gt=lately)
    unexpired = Q(expires_at__isnull=True) | Q(expires_at__gt=lately)
    return dict(_known(_with_owners().filter(usable, unexpired), regions))


def known(text: str) -> KnownToken | None:
    """The token of that text, from the database, without its user's regions."""
    found = _with_owners().filter(digest=token_digest(text)).first()
    return None if found is None else KnownToken(row=found, active=found.user.is_active, principal=_principal(found))


def token_digest(text: str) -> str:
    """What is kept of a token's text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_owners() -> QuerySet[ApiToken]:
    return ApiToken.objects.select_related("user__tenant", "tenant")


def _known(rows: Iterable[ApiToken], regions: Mapping[int, tuple[str, ...]]) -> Iterator[tuple[str, KnownToken]]:
    for row in rows:
        principal = _principal(row)
        if principal.role == Role.OPERATOR:
            principal = replace(principal, regions=regions.get(row.user_id))
        yield row.digest, KnownToken(row=row, active=row.user.is_active, principal=principal)


def _principal(token: ApiToken) -> Principal:
    tenant = token.user.tenant or token.tenant  # who belongs to a tenant acts for no other, whenever they joined it
    return Principal(
        user_id=token.user.pk,
        username=token.user.username,
        role=Role(token.user.role),
        tenant=None if tenant is None else tenant.code,
        all_tenants=token.user.tenant_id is None
        and (token.tenant_id is None or role_can(token.user.role, "read_all_tenants")),
        token_id=token.pk,
        read_only=token.read_only,
    )
