"""The language of the pages: the user's own, else the browser's cookie, else what the browser asks for."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import translation
from django.utils.translation import check_for_language
from django.views.decorators.http import require_POST
from django.views.i18n import LANGUAGE_QUERY_PARAMETER, set_language

from idcsched.audit.context import origin_set

from .models import User
from .services import user_update

__all__ = ["OwnLanguageMiddleware", "language_choose"]


class OwnLanguageMiddleware:
    """Middleware that activates the language which the logged-in user has chosen; without a session it does nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = translation.get_language()  # as LocaleMiddleware does
        return self.get_response(request)


@require_POST
def language_choose(request: HttpRequest) -> HttpResponse:
    """Remember the language in a cookie and in the logged-in user's row, then redirect to `next`."""
    language = request.POST.get(LANGUAGE_QUERY_PARAMETER, "")
    user = request.user
    known = language in dict(settings.LANGUAGES) and check_for_language(language)
    if isinstance(user, User) and known and user.language != language:
        request_id = str(getattr(request, "request_id", ""))
        with origin_set(actor=user.get_username(), via="admin", request_id=request_id):
            user_update(user=User.objects.get(pk=user.pk), changes={"language": language})
    return set_language(request)
