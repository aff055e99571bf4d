"""The authentication of callers, by a bearer token or by the session of a user who is logged in to the admin."""

from functools import lru_cache

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, Role, principal_of
from idcsched.accounts.token_use import token_use
from idcsched.inventory.scope import scoped
from idcsched.scheduling.callers import caller
from idcsched.scheduling.live import live

__all__ = ["BearerAuthentication", "SessionPrincipal"]


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. `request.auth` becomes the Principal.

    The feed is read before a write, so that a token which any process revoked a moment ago can't write; such a token
    may read until the feed is next read. `writes`: whether unsafe methods count as writes.
    """

    keyword = "bearer"

    def __init__(self, *, writes: bool = True) -> None:
        self._writes = writes

    def authenticate(self, request: Request) -> tuple[User, Principal] | None:
        if self._writes and request.method not in SAFE_METHODS:
            live.catch_up()
        return self.known(request)

    def known(self, request: Request) -> tuple[User, Principal] | None:
        """Return the user and the Principal of the request's token, as the live picture has them."""
        scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")  # `headers` would parse all headers
        if scheme.lower() != self.keyword:
            return None
        now = timezone.now()
        principal = caller(text=text.strip(), address=request.META.get("REMOTE_ADDR", ""), now=now)
        token_use.note(principal.token_id, now)
        return _user(principal.user_id, principal.username, principal.role), principal

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


@lru_cache(maxsize=1000)
def _user(key: int, username: str, role: Role) -> User:
    """Return the user that DRF and logs name; it is never changed or saved, so that all requests share one object."""
    return User(pk=key, username=username, role=role)


class SessionPrincipal(SessionAuthentication):
    """Browsers authenticate by the Django session, with its CSRF check."""

    def authenticate(self, request: Request) -> tuple[User, Principal] | None:
        authenticated = super().authenticate(request)
        return None if authenticated is None else (authenticated[0], scoped(principal_of(authenticated[0])))

    def enforce_csrf(self, request: Request) -> None:
        """Check CSRF on Django's request: DRF's would parse the body for a form's field, and leave nothing to read."""
        super().enforce_csrf(request._request)  # type: ignore[arg-type]  # noqa: SLF001
