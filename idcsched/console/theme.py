"""Light or dark: what a cookie remembers of the browser's user, so that the first byte of a page knows it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

__all__ = ["theme_choose", "theme_of"]

COOKIE = "theme"
THEMES = ("light", "dark")
YEAR = 365 * 24 * 3600


def theme_of(request: HttpRequest) -> str:
    """Return the theme that was chosen in this browser, or nothing: it is the system's, which `theme.js` asks for."""
    chosen = request.COOKIES.get(COOKIE, "")
    return chosen if chosen in THEMES else ""


@require_POST
def theme_choose(request: HttpRequest) -> HttpResponse:
    """Remember the theme in a cookie, then redirect to `next`, a page of this server."""
    after = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(after, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    response = HttpResponseRedirect(after if here else reverse("console:overview"))
    if (chosen := request.POST.get("theme", "")) in THEMES:
        response.set_cookie(COOKIE, chosen, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE)
    return response
