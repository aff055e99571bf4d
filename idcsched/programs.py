"""Programs, which say by a token who they are, go past what is for browsers.

Sessions, their users and messages, content policies, forms and files protect and serve people at pages; a portal's
request has no use for them, and they would cost as much as the rest of its way. What every answer must have it has on
either way: an allowed host, the request's id, a language, and the headers of Django's security middlewares.
"""

from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from itertools import product
from typing import Final, TypeAlias, cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

from idcsched.api.middleware import HEADER, request_id_given

__all__ = ["Programs", "brings_token"]

TOKENS_FOR: Final = "/api/"
LONG: Final = 500
"""Characters of an `Accept-Language` or a `Host` that nobody sends in earnest: of longer ones none is remembered."""
HOSTS: Final = 100
"""So many are remembered: a server that answers to any could be told of ever more."""
VARY: Final = ("Accept-Language",)
KEPT_HEADER: Final = HEADER.lower()
Answering: TypeAlias = Callable[[HttpRequest], HttpResponseBase]
Headers: TypeAlias = dict[str, tuple[str, str]]
"""As Django keeps them: by their names in lower case, with their names as they are sent."""


def brings_token(request: HttpRequest) -> bool:
    """Whether a program asks."""
    return "HTTP_AUTHORIZATION" in request.META and request.path_info.startswith(TOKENS_FOR)


class Programs:
    """The first middleware: browsers go on through all the others, programs straight to the view."""

    def __init__(self, get_response: Answering) -> None:
        self.get_response = get_response
        self._view = _behind(get_response)
        self._common = CommonMiddleware(self._view)
        self._answered = cast("Answering", convert_exception_to_response(self._where_the_host_is_allowed))
        self._hosts: set[str] = set()
        languages = [code for code, _ in settings.LANGUAGES]
        self._always = {
            (secure, language): _always(secure=secure, language=language)
            for secure, language in product((False, True), languages)
        }

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        secure = request.is_secure()
        if not brings_token(request) or (settings.SECURE_SSL_REDIRECT and not secure):
            return self.get_response(request)
        name = request_id_given(request)
        accepted = request.META.get("HTTP_ACCEPT_LANGUAGE", "")
        language = _known_language(accepted) if len(accepted) <= LONG else _negotiated(accepted)
        translation.activate(language)
        request.LANGUAGE_CODE = language
        response = self._answered(request)
        if response.status_code == HTTPStatus.NOT_FOUND:  # perhaps for want of the closing slash
            response = self._common.process_response(request, response)
        _complete(response, self._always[secure, language], name)
        return response

    def _where_the_host_is_allowed(self, request: HttpRequest) -> HttpResponseBase:
        host = request.META.get("HTTP_HOST", "")
        if host not in self._hosts:
            request.get_host()  # raises for one that is not ours
            if host and len(host) <= LONG and len(self._hosts) < HOSTS:
                self._hosts.add(host)
        return self._view(request)


def _behind(get_response: Answering) -> Answering:
    """What the innermost middleware calls: each keeps the next, and Django's wrappers show what they wrap."""
    while inner := getattr(get_response, "get_response", None):
        get_response = inner
    return getattr(get_response, "__wrapped__", get_response)


def _always(*, secure: bool, language: str) -> Headers:
    """What is put on every answer; Django's middlewares are asked once."""
    scheme = "https" if secure else "http"
    request = WSGIRequest({"REQUEST_METHOD": "GET", "wsgi.url_scheme": scheme, "wsgi.input": BytesIO()})
    response = HttpResponse()
    for middleware in (SecurityMiddleware, XFrameOptionsMiddleware):
        middleware(lambda _: response).process_response(request, response)
    del response.headers["Content-Type"]
    response.headers["Vary"] = VARY[0]
    response.headers["Content-Language"] = language
    return _kept(response)


def _complete(response: HttpResponseBase, headers: Headers, request_id: str) -> None:
    """Put on an answer what it does not say itself, and which request it answers."""
    kept = _kept(response)
    varies = "vary" in kept
    if isinstance(response, HttpResponse):
        kept.setdefault("content-length", ("Content-Length", str(len(response.content))))
    for name, said in headers.items():
        kept.setdefault(name, said)
    kept[KEPT_HEADER] = (HEADER, request_id)
    if varies:
        patch_vary_headers(response, VARY)


def _kept(response: HttpResponseBase) -> Headers:
    """The headers themselves: one by one each would be checked as an unknown text must be."""
    return response.headers._store  # noqa: SLF001


def _negotiated(accepted: str) -> str:
    """The language, as Django finds it; the same header means the same every time."""
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    return translation.get_language_from_request(request)


_known_language: Final = lru_cache(maxsize=1000)(_negotiated)
