"""The middlewares for people at pages; requests to the API with a token bypass them."""

from typing import Any

from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest

from idcsched.accounts.languages import OwnLanguageMiddleware
from idcsched.web.compression import CompressionMiddleware

__all__ = [
    "Authentication",
    "Compression",
    "ContentSecurityPolicy",
    "Messages",
    "OwnLanguage",
    "Session",
]


class _ForBrowsers:
    """Mixin that lets API requests with a token bypass a middleware: they have no session, CSRF token or page."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if "HTTP_AUTHORIZATION" in request.META and request.path_info.startswith("/api/"):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]  # the middleware that this class is mixed into


class ContentSecurityPolicy(_ForBrowsers, CSPMiddleware):
    pass


class Compression(_ForBrowsers, CompressionMiddleware):
    pass


class Session(_ForBrowsers, SessionMiddleware):
    pass


class Authentication(_ForBrowsers, AuthenticationMiddleware):
    pass


class OwnLanguage(_ForBrowsers, OwnLanguageMiddleware):
    pass


class Messages(_ForBrowsers, MessageMiddleware):
    pass
