"""The admin site: times in the billing zone, a page security policy, and the choice of language."""

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any
from urllib.parse import unquote, urlencode

from csp.decorators import csp
from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from unfold.sites import UnfoldAdminSite

from .languages import language_choose
from .login_form import LoginForm, SecondFactorNeeded
from .sign_in import next_page, second_factor, second_factor_ask

__all__ = ["Site"]

with_page_policy = csp(settings.PAGES_SECURITY_POLICY)


def _in_local_time(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a view show and read times in the billing zone; everything outside of the admin is in UTC."""

    @wraps(view)
    def local(*args: Any, **kwargs: Any) -> HttpResponseBase:
        with timezone.override(settings.BILLING_ZONE):
            response = view(*args, **kwargs)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response

    return local


def _without_nul(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let a view answer 400 to an address with a NUL, which no row holds and PostgreSQL can't compare."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if "\x00" in request.path or "\x00" in unquote(request.META.get("QUERY_STRING", "")):
            raise BadRequest("a NUL character")
        return view(request, *args, **kwargs)

    return checked


def _sign_in_urls() -> Iterator[URLPattern]:
    """Yield the addresses of the ways to sign in that the settings turn on."""
    if settings.SECOND_FACTOR != "off":
        yield path("second-factor/", second_factor, name="second_factor")
    if settings.OIDC_ISSUER:
        from . import oidc  # noqa: PLC0415 - others need not have its libraries in memory

        yield path("oidc/", oidc.begin, name="oidc")
        yield path("oidc/callback/", oidc.finish, name="oidc_callback")


class Site(UnfoldAdminSite):
    """The admin site; its pages may load what their templates need, from this server alone."""

    enable_nav_sidebar = True
    login_form = LoginForm

    def get_urls(self) -> list[URLPattern | URLResolver]:
        return [path("language/", language_choose, name="language"), *_sign_in_urls(), *super().get_urls()]

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Callable[..., Any]:
        return with_page_policy(_without_nul(_in_local_time(super().admin_view(view, cacheable))))

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        context = dict(extra_context or {})
        if settings.OIDC_ISSUER:
            context["oidc"] = f"{reverse('admin:oidc')}?{urlencode({'next': next_page(request)})}"
        try:
            return with_page_policy(partial(super().login, extra_context=context))(request)
        except SecondFactorNeeded as needed:
            return second_factor_ask(request, needed.user)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the context without colours: they stand in a style sheet, as style elements are not allowed."""
        return super().each_context(request) | {
            "colors": None,
            "border_radius": None,
            "site_subheader": _("times in %(zone)s") % {"zone": settings.BILLING_ZONE},
        }
