"""The tokens in a process's memory, by which callers are authenticated without a query.

A table holds every token that has not ended, or ended within the last day, and is replaced as a whole when the feed
announces a change of a token, a user or a tenant. Expiry and address are checked when a token is used.
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

__all__ = ["KnownToken", "TokenTable", "token_digest", "token_from_database", "tokens_known"]

FORGOTTEN_AFTER: Final = timedelta(days=1)
"""How long the table holds a token that has ended, to distinguish it from an unknown one without a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownToken:
    """One token, whether its user is active, and the principal that it authenticates."""

    row: ApiToken
    active: bool
    principal: Principal

    def principal_for(self, *, address: str, now: datetime) -> Principal:
        """Return the principal for a use of the token now, from that address; raises Unauthenticated."""
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
"""The tokens by digest."""


def tokens_known(regions: Mapping[int, tuple[str, ...]]) -> TokenTable:
    """Return the tokens that have not ended, or ended within the last day.

    `regions`: by user id, where an operator may write; an operator without an entry may write everywhere.
    """
    since = timezone.now() - FORGOTTEN_AFTER
    unrevoked = Q(revoked_at__isnull=True) | Q(revoked_at__gt=since)
    unexpired = Q(expires_at__isnull=True) | Q(expires_at__gt=since)
    return dict(_entries(_with_owners().filter(unrevoked, unexpired), regions))


def token_from_database(text: str) -> KnownToken | None:
    """Read the token of that text from the database. Regions are added by `inventory.scope.scoped`."""
    row = _with_owners().filter(digest=token_digest(text)).first()
    return None if row is None else KnownToken(row=row, active=row.user.is_active, principal=_principal(row))


def token_digest(text: str) -> str:
    """Return the digest of a token's text, which is all that the database keeps of it."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_owners() -> QuerySet[ApiToken]:
    return ApiToken.objects.select_related("user__tenant", "tenant")


def _entries(rows: Iterable[ApiToken], regions: Mapping[int, tuple[str, ...]]) -> Iterator[tuple[str, KnownToken]]:
    for row in rows:
        principal = _principal(row)
        if principal.role == Role.OPERATOR:
            principal = replace(principal, regions=regions.get(row.user_id))
        yield row.digest, KnownToken(row=row, active=row.user.is_active, principal=principal)


def _principal(token: ApiToken) -> Principal:
    # a user of a tenant acts for no other, even by a token made before the user was bound to the tenant
    tenant = token.user.tenant or token.tenant
    return Principal(
        user_id=token.user.pk,
        username=token.user.username,
        role=Role(token.user.role),
        tenant=None if tenant is None else tenant.code,
        # where the role may read all tenants, the token's tenant is only the default
        all_tenants=token.user.tenant_id is None
        and (token.tenant_id is None or role_can(token.user.role, "read_all_tenants")),
        token_id=token.pk,
        read_only=token.read_only,
    )
