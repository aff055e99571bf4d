import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Final

from django.db.models import Q
from django.utils import timezone

from idcsched.accounts.known_tokens import token_digest, token_from_database
from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.roles import Principal, role_can
from idcsched.accounts.selectors import tenant_named, user_named
from idcsched.audit.writing import locked, row_create, row_update, write
from idcsched.framework.errors import Conflict, Forbidden, Invalid, Unauthenticated
from idcsched.framework.messages import _

__all__ = [
    "IssuedToken",
    "token_authenticate",
    "token_issue",
    "token_revoke",
    "token_rotate",
    "token_touch",
    "token_update",
]

PREFIX: Final = "idc_"
RANDOM_BYTES: Final = 30  # 40 characters
SHOWN: Final = 8
LENGTH: Final = len(PREFIX) + 40
TOUCH_EVERY: Final = timedelta(minutes=1)
CHANGEABLE: Final = frozenset({"name", "expires_at", "allowed_networks"})
BOUNDED: Final = frozenset({"tenant", "expires_at", "allowed_networks"})
"""The fields that bound what is written with a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A new token with its text, which is never shown again."""

    token: ApiToken
    text: str


@write()
def token_issue(
    *,
    user: User | str,
    name: str,
    tenant: Tenant | str | None = None,
    expires_at: datetime | None = None,
    read_only: bool = False,
    allowed_networks: Sequence[str] = (),
    principal: Principal | None = None,
) -> IssuedToken:
    """Create a token for the user, which acts for `tenant` or, without one, for the user's own.

    With a principal, within the bounds of its token. Raises Invalid, Forbidden.
    """
    user, tenant = user_named(user, "/user"), tenant_named(tenant, "/tenant")
    if user.tenant_id is not None and tenant is not None and tenant.pk != user.tenant_id:
        raise Invalid("tenant_not_allowed", _("the user belongs to another tenant"), "/tenant")
    if not name.strip():
        raise Invalid("required", _("a token needs a name"), "/name")
    text = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    token = ApiToken(
        user=user,
        tenant=tenant,
        name=name,
        prefix=text[:SHOWN],
        digest=token_digest(text),
        expires_at=expires_at,
        read_only=read_only,
        allowed_networks=[] if allowed_networks == () else allowed_networks,
    )
    row_create(token)
    _check_bounds(token, _own_token(principal))
    return IssuedToken(token=token, text=text)


@write()
def token_update(*, token: ApiToken, changes: Mapping[str, Any], principal: Principal | None = None) -> ApiToken:
    """Set the token's name, expiry or networks, the only fields that change.

    With a principal, within the bounds of its token. Raises Invalid, Forbidden, NotFound, Conflict.
    """
    if locked(token).revoked_at is not None:
        raise Conflict("token_ended", _("this token has ended"))
    if "name" in changes and not str(changes["name"]).strip():
        raise Invalid("required", _("a token needs a name"), "/name")
    own = _own_token(principal)
    updated = row_update(token, changes, allowed=CHANGEABLE)
    _check_bounds(updated, own, changes)
    return updated


@write()
def token_rotate(
    *,
    token: ApiToken,
    overlap: timedelta,
    expires_at: datetime | None = None,
    prolong: bool = False,
    principal: Principal | None = None,
    now: datetime | None = None,
) -> IssuedToken:
    """Create a token like this one, which stays valid beside the new one for `overlap` and then expires.

    The new token expires when the old one did or at `expires_at`, which is later only with `prolong`. With a
    principal, it stays within the bounds of the principal's token. Raises Invalid, Forbidden, NotFound, and Conflict
    `token_ended` for a token that was revoked, has expired or was rotated before.
    """
    now = now or timezone.now()
    old = locked(token)
    if old.revoked_at is not None or (old.expires_at or now) < now:
        raise Conflict("token_ended", _("this token has ended"))
    if old.rotated_at is not None:
        raise Conflict("token_ended", _("this token was rotated before: rotate the one that took its place"))
    if expires_at is not None and old.expires_at is not None and expires_at > old.expires_at and not prolong:
        raise Invalid("prolonged", _("only an administrator can let a token live longer"), "/expires_at")
    own = _own_token(principal)  # before this one ends, which may be that very token
    end = now + overlap
    until = end if old.expires_at is None else min(old.expires_at, end)
    row_update(old, {"expires_at": until, "rotated_at": now}, allowed={"expires_at", "rotated_at"})
    issued = token_issue(
        user=old.user,
        name=old.name,
        tenant=None if old.user.tenant_id else old.tenant,  # a user of a tenant acts for that tenant anyway
        expires_at=expires_at or old.expires_at,
        read_only=old.read_only,
        allowed_networks=old.allowed_networks,
    )
    _check_bounds(issued.token, own)
    return issued


@write()
def token_revoke(*, token: ApiToken, now: datetime | None = None) -> ApiToken:
    """Revoke a token for good; a token that was revoked before stays as it is. Raises NotFound."""
    token = locked(token)
    if token.revoked_at is not None:
        return token
    return row_update(token, {"revoked_at": now or timezone.now()}, allowed={"revoked_at"})


def token_authenticate(*, text: str, address: str, now: datetime) -> Principal:
    """Return the principal of a token that is used from that address, with one query. Raises Unauthenticated.

    The caller notes the use with `token_use.note`.
    """
    if not text:
        raise Unauthenticated("token_missing", _("say who you are: Authorization: Bearer <token>"))
    token = token_from_database(text) if text.startswith(PREFIX) and len(text) == LENGTH else None
    if token is None:
        raise Unauthenticated("token_invalid", _("there is no such token"))
    return token.principal_for(address=address, now=now)


def token_touch(*, token_id: int, now: datetime) -> bool:
    """Note that a token was used, at most once a minute; returns whether the use was noted.

    The note is neither recorded in the history nor announced in the feed.
    """
    due = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - TOUCH_EVERY)
    return ApiToken.objects.filter(due, pk=token_id).update(last_used_at=now) == 1


def _own_token(principal: Principal | None) -> ApiToken | None:
    """Return the token with which the principal came; None for a session, which has no bounds."""
    if principal is None or principal.token_id is None:
        return None
    return ApiToken.objects.select_related("user").filter(pk=principal.token_id).first()


def _check_bounds(token: ApiToken, own: ApiToken | None, written: Collection[str] = BOUNDED) -> None:
    """Raise Invalid, Forbidden where one of the `written` fields gives the token more than the caller's own has.

    A read-only token writes none.
    """
    if own is None:
        return
    ends = own.expires_at
    if "expires_at" in written and ends is not None and (token.expires_at is None or token.expires_at > ends):
        raise Invalid("prolonged", _("a token can't outlive the one that it is made with"), "/expires_at")
    if "allowed_networks" in written and not _covers(own.allowed_networks, token.allowed_networks):
        raise Forbidden("address_not_allowed", _("the token that you use is bound to fewer networks"))
    bound = own.tenant_id is not None and not role_can(own.user.role, "read_all_tenants")
    if "tenant" in written and bound and token.user.tenant_id is None and token.tenant_id != own.tenant_id:
        raise Forbidden("tenant_not_allowed", _("the token that you use is bound to another tenant"))


def _covers(outer: Sequence[str], inner: Sequence[str]) -> bool:
    """Return whether every address of the inner networks lies in the outer ones; no networks stand for everywhere."""
    if not outer:
        return True
    return bool(inner) and all(any(_within(ip_network(one), ip_network(other)) for other in outer) for one in inner)


def _within(one: IPv4Network | IPv6Network, other: IPv4Network | IPv6Network) -> bool:
    return one.version == other.version and one.subnet_of(other)  # type: ignore[arg-type]  # the versions agree
