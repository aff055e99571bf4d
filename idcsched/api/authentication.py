"""Who is asking: a bearer token, or the session of somebody logged in to the admin."""

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

from .addresses import client_address

__all__ = ["BearerAuthentication", "SessionPrincipal"]


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. `request.auth` becomes the Principal.

    A token that was revoked a moment ago, by whatever process, writes nothing any more; it may read until the feed's
    next beat. `writes`: whether requests that are not safe by their method write.
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
        scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")  # `headers` parses them all
        if scheme.lower() != self.keyword:
            return None
        now = timezone.now()
        principal = caller(text=text.strip(), address=client_address(request), now=now)
        token_use.note(principal.token_id, now)
        return _user(principal.user_id, principal.username, principal.role), principal

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


@lru_cache(maxsize=1000)
def _user(key: int, username: str, role: Role) -> User:
    """Who is named in logs and by DRF; nobody changes or saves it, so that one will do for all requests."""
    return User(pk=key, username=username, role=role)


class SessionPrincipal(SessionAuthentication):
    """Browsers use the Django session, with its CSRF check."""

    def authenticate(self, request: Request) -> tuple[User, Principal] | None:
        found = super().authenticate(request)
        return None if found is None else (found[0], scoped(principal_of(found[0])))

    def enforce_csrf(self, request: Request) -> None:
        """On Django's own request: DRF's would parse the body in search of a form's field, and leave none to read."""
        super().enforce_csrf(request._request)  # type: ignore[arg-type]  # noqa: SLF001
