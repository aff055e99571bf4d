import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from django.db.models import Q
from django.utils import timezone

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.roles import Principal, Role, role_can
from idcsched.audit.writing import locked, row_create, row_update, write
from idcsched.framework.errors import Invalid, Unauthenticated

__all__ = ["IssuedToken", "token_authenticate", "token_issue", "token_revoke", "token_touch"]

PREFIX: Final = "idc_"
RANDOM_BYTES: Final = 30  # 40 characters
SHOWN: Final = 8
LENGTH: Final = len(PREFIX) + 40
TOUCH_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A new token and, this once, its text."""

    token: ApiToken
    text: str


@write()
def token_issue(
    *,
    user: User,
    name: str,
    tenant: Tenant | None = None,
    expires_at: datetime | None = None,
    read_only: bool = False,
    allowed_networks: Sequence[str] = (),
) -> IssuedToken:
    """A new token for the user, acting for `tenant` or, without one, for the user's own; raises Invalid."""
    if user.tenant_id is not None and tenant is not None and tenant.pk != user.tenant_id:
        raise Invalid("tenant_not_allowed", "the user belongs to another tenant", "/tenant")
    if not name.strip():
        raise Invalid("required", "a token needs a name", "/name")
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    token = ApiToken(
        user=user,
        tenant=tenant,
        name=name,
        prefix=text[:SHOWN],
        digest=_digest(text),
        expires_at=expires_at,
        read_only=read_only,
        allowed_networks=list(allowed_networks),
    )
    return IssuedToken(token=row_create(token), text=text)


@write()
def token_revoke(*, token: ApiToken, now: datetime | None = None) -> ApiToken:
    """End a token for good; one that has ended already stays as it is. Raises NotFound."""
    token = locked(token)
    if token.revoked_at is not None:
        return token
    return row_update(token, {"revoked_at": now or timezone.now()}, allowed={"revoked_at"})


def token_authenticate(*, text: str, address: str, now: datetime) -> Principal:
    """Who is behind a token that comes from that address; one query. Raises Unauthenticated.

    Let `token_use.note` know that it was used, once the answer is out.
    """
    if not text:
        raise Unauthenticated("token_missing", "say who you are: Authorization: Bearer <token>")
    token = _token(text)
    if token is None or not token.user.is_active:
        raise Unauthenticated("token_invalid", "there is no such token")
    if token.revoked_at is not None:
        raise Unauthenticated("token_revoked", "this token was revoked")
    if token.expires_at is not None and token.expires_at <= now:
        raise Unauthenticated("token_expired", "this token has expired")
    if not token.allows_address(address):
        raise Unauthenticated("address_not_allowed", "this token may not be used from this address")
    return _principal(token)


def token_touch(*, token_id: int, now: datetime) -> bool:
    """Note that a token was used, at most once a minute; says whether it was noted.

    Bookkeeping that no one waits for and no history needs: neither recorded nor announced.
    """
    due = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - TOUCH_EVERY)
    return ApiToken.objects.filter(due, pk=token_id).update(last_used_at=now) == 1


def _token(text: str) -> ApiToken | None:
    if not text.startswith(PREFIX) or len(text) != LENGTH:
        return None
    related = ApiToken.objects.select_related("user__tenant", "tenant")
    return related.filter(digest=_digest(text)).first()


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


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
