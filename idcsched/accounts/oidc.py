"""Signing in by OpenID Connect: the provider says who somebody is, and the provider's groups give the role."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from csp.decorators import csp
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from joserfc.errors import JoseError
from requests.adapters import BaseAdapter

from idcsched.audit.context import origin_set
from idcsched.audit.models import Via
from idcsched.framework.errors import IdcschedError
from idcsched.language.wording import explained
from idcsched.outbound.client import Request, fetch
from idcsched.outbound.errors import OutboundError

from . import services
from .models import User
from .roles import Role
from .sign_in import enter, next_page

__all__ = ["begin", "finish"]

logger = logging.getLogger(__name__)

NEXT: Final = "oidc_next"
CALL_SECONDS: Final = 5.0
REFUSALS: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED})
UNBELIEVABLE: Final = (AuthlibBaseError, JoseError, LookupError, RuntimeError, TypeError, ValueError)
"""What is raised about an answer that is not what OpenID Connect says, or not for this sign-in."""


class OutboundAdapter(BaseAdapter):
    """Sends the calls of the library `requests` by the project's own client, which keeps to OUTBOUND_HOSTS."""

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        body: Any = request.body or b""
        call = Request(
            url=request.url or "",
            method=request.method or "GET",
            headers={name: str(value) for name, value in request.headers.items()},
            content=body.encode() if isinstance(body, str) else body,
            also=REFUSALS,
        )
        reply = fetch(call, timeout=CALL_SECONDS)
        response = requests.Response()
        response.status_code, response.url, response.request = reply.status, call.url, request
        response.headers.update(reply.headers)
        response._content = reply.content  # noqa: SLF001 - the only way to give one that has been read
        return response

    def close(self) -> None:
        """Do nothing: the client is shared by the process."""


class OutboundSession(OAuth2Session):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.trust_env = False
        for scheme in ("https://", "http://"):
            self.mount(scheme, OutboundAdapter())


class Provider(DjangoOAuth2App):
    client_cls = OutboundSession

    def load_server_metadata(self) -> dict[str, Any]:
        """Return what the provider says of itself, but for the permission to leave tokens unsigned."""
        metadata: dict[str, Any] = super().load_server_metadata()
        algorithms = metadata.get("id_token_signing_alg_values_supported", ["RS256"])
        metadata["id_token_signing_alg_values_supported"] = [name for name in algorithms if name != "none"]
        return metadata


provider: Final = Provider(
    DjangoIntegration("oidc"),
    client_id=settings.OIDC_CLIENT_ID,
    client_secret=settings.OIDC_CLIENT_SECRET or None,
    server_metadata_url=settings.OIDC_ISSUER.rstrip("/") + "/.well-known/openid-configuration",
    client_kwargs={"scope": " ".join(["openid", *settings.OIDC_SCOPES]), "code_challenge_method": "S256"},
)


@require_GET
@never_cache
@csp(settings.PAGES_SECURITY_POLICY)
def begin(request: HttpRequest) -> HttpResponse:
    """Send somebody to the provider to sign in there."""
    request.session[NEXT] = next_page(request)
    try:
        return provider.authorize_redirect(request, request.build_absolute_uri(reverse("admin:oidc_callback")))
    except (OutboundError, *UNBELIEVABLE) as error:
        return _failed(request, error)


@require_GET
@never_cache
@csp(settings.PAGES_SECURITY_POLICY)
def finish(request: HttpRequest) -> HttpResponse:
    """Sign in whoever comes back from the provider with a proof of who they are and a group that has a role."""
    try:
        claims = _claims(request)
    except (OutboundError, *UNBELIEVABLE) as error:
        return _failed(request, error)
    account = {"name": claims.get(settings.OIDC_USERNAME_CLAIM) or claims["sub"]}
    try:
        user = _user(request, claims, str(account["name"]))
    except IdcschedError as error:
        detail = _("Your account is %(name)s, but it could not become a user here, or be changed: %(reason)s.")
        return _refused(request, HTTPStatus.CONFLICT, detail % {**account, "reason": explained(error)})
    if user is None:
        detail = _("Your account is %(name)s, but none of its groups has a role here. Ask an administrator for one.")
        return _refused(request, HTTPStatus.FORBIDDEN, detail % account)
    if not user.is_active:
        detail = _("Your account is %(name)s, but an administrator has switched this user off.")
        return _refused(request, HTTPStatus.FORBIDDEN, detail % account)
    wanted = request.session.pop(NEXT, reverse("admin:index"))
    enter(request, user)
    return redirect(wanted)


def _claims(request: HttpRequest) -> Mapping[str, Any]:
    """Return what the provider says of the user, in the ID token and when asked; raises one of UNBELIEVABLE."""
    expected = {"iss": settings.OIDC_ISSUER, "aud": settings.OIDC_CLIENT_ID}
    options = {claim: {"essential": True, "value": value} for claim, value in expected.items()}
    token = provider.authorize_access_token(request, claims_options=options)
    claims = token["userinfo"]
    if "userinfo_endpoint" not in provider.server_metadata:
        return claims
    more = provider.userinfo(token=token)
    if more.get("sub") != claims["sub"]:
        raise ValueError("the provider speaks of somebody else when asked")
    return {**more, **claims}


def _user(request: HttpRequest, claims: Mapping[str, Any], name: str) -> User | None:
    """Return the user with these claims, made or brought up to date; None for one without a role."""
    request_id = str(getattr(request, "request_id", ""))
    with origin_set(actor=name, via=Via.ADMIN, request_id=request_id, message="OpenID Connect"):
        return services.user_provided(
            subject=str(claims["sub"]),
            username=name,
            role=_role(claims.get(settings.OIDC_GROUPS_CLAIM)),
            email=str(claims.get("email") or ""),
            first_name=str(claims.get("given_name") or ""),
            last_name=str(claims.get("family_name") or ""),
        )


def _role(groups: Any) -> Role | None:
    """Return the most powerful role that one of the groups gives."""
    listed = groups if isinstance(groups, list) else [groups]
    roles = [Role(settings.OIDC_ROLES[group]) for group in map(str, listed) if group in settings.OIDC_ROLES]
    return max(roles, key=lambda role: role.rank, default=None)


def _failed(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.warning("a sign-in by OpenID Connect failed: %s: %s", type(error).__name__, error)
    if isinstance(error, OutboundError):
        detail = _("The provider of your account does not answer as it should. Try again soon.")
        return _refused(request, HTTPStatus.BAD_GATEWAY, detail)
    detail = _("What came back from the provider of your account is not valid for this sign-in. Begin again.")
    return _refused(request, HTTPStatus.BAD_REQUEST, detail)


def _refused(request: HttpRequest, status: HTTPStatus, detail: str) -> HttpResponse:
    context = {"status": int(status), "title": _("You are not signed in"), "detail": detail}
    return render(request, "administration/error.html", context, status=status)
