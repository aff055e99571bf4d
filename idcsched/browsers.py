"""Middleware that only browsers need is left out for requests that bring a token.

Sessions, their users and messages, and content policies protect and serve people at pages. A portal's request has no
use for them, and they would cost as much as the rest of the way to an answer.
Each class here is Django's own, which its system checks look for.
"""

from functools import lru_cache
from typing import Any

from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

from idcsched.accounts.languages import OwnLanguageMiddleware

__all__ = [
    "Authentication",
    "ContentPolicy",
    "Language",
    "Messages",
    "OwnLanguage",
    "Session",
    "brings_token",
]

TOKENS_FOR = "/api/"


def brings_token(request: HttpRequest) -> bool:
    """Whether a program asks, which says by a token who it is."""
    return "HTTP_AUTHORIZATION" in request.META and request.path_info.startswith(TOKENS_FOR)


class _ForBrowsers:
    """The middleware, unless a program asks."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if brings_token(request) else super().__call__(request)  # type: ignore[misc]


class ContentPolicy(_ForBrowsers, CSPMiddleware):
    pass


class Session(_ForBrowsers, SessionMiddleware):
    pass


class Authentication(_ForBrowsers, AuthenticationMiddleware):
    pass


class OwnLanguage(_ForBrowsers, OwnLanguageMiddleware):
    pass


class Messages(_ForBrowsers, MessageMiddleware):
    pass


class Language(LocaleMiddleware):
    """The language asked for, which for a program its `Accept-Language` alone says."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if not brings_token(request):
            return super().__call__(request)
        language = _negotiated(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))
        translation.activate(language)
        request.LANGUAGE_CODE = language
        response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ("Accept-Language",))
        return response


@lru_cache(maxsize=1000)
def _negotiated(accepted: str) -> str:
    """As Django finds it; the same header means the same every time."""
    asking = HttpRequest()
    asking.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    return translation.get_language_from_request(asking)
