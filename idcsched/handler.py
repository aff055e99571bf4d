"""Django's handler, less what an answer that is given at once has no use for.

Django looks after the connections and caches of a thread before and after each request, and tells it under which
addresses the application stands. Who answers at once (`at_once.py`) holds no connection, asks no cache and stands at
the root, so that nothing of this would find anything to do. All other requests are answered as Django answers them.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch
from django.utils.log import log_response

from idcsched.at_once import answering_at_once
from idcsched.environs import Environ

__all__ = ["AtOnceRequest", "Handler"]


class AtOnceRequest(WSGIRequest):
    """What `WSGIRequest` makes of a request to an application at the root whose body is there, whole.

    `environ` is as `environs.py` makes it; of its path nobody has percent-encoded anything that is no ASCII.
    """

    def __init__(self, environ: Environ) -> None:
        self.environ = self.META = environ
        self.path = self.path_info = environ["PATH_INFO"]
        self.method = environ["REQUEST_METHOD"].upper()
        self._set_content_type_params(environ)  # type: ignore[attr-defined]  # Django's stubs leave it out
        self._stream = environ["wsgi.input"]
        self._read_started = False
        self.resolver_match = None


class Handler(WSGIHandler):
    """A WSGI application: pieces of a body, or Django's response, which is closed when it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, ResolverMatch] = {}

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Any:
        if not answering_at_once() or not environ["PATH_INFO"].isascii() or _others_listen():
            return super().__call__(environ, start_response)
        request = AtOnceRequest(environ)
        response: Any = self._middleware_chain(request)  # type: ignore[attr-defined]  # likewise
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            log_response("%s: %s", response.reason_phrase, request.path, response=response, request=request)
        start_response(f"{response.status_code} {response.reason_phrase}", _headers(response))
        held = response._resource_closers  # noqa: SLF001  # Django's handlers do the same
        held.append(request.close)
        if response.streaming:
            return response
        for let_go in held:  # as `close` would, which tells Django's listeners besides
            with suppress(Exception):
                let_go()
        return [response.content]

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """The view of an address without arguments, of which there are so many and no more, is looked for once."""
        known = self._known.get(request.path_info)
        if known is None or hasattr(request, "urlconf"):
            found = super().resolve_request(request)
            if not found.args and not found.kwargs and not hasattr(request, "urlconf"):
                self._known[request.path_info] = found
            return found
        request.resolver_match = known
        return known


def _others_listen() -> bool:
    """Whether somebody besides Django is to be told that a request begins or ends."""
    return _others_among(len(request_started.receivers), len(request_finished.receivers))


@cache
def _others_among(*_connected: int) -> bool:
    """The same, of so many who are connected: they do so when they are loaded, and are looked at once."""
    references = [reference for _, reference, *_ in (*request_started.receivers, *request_finished.receivers)]
    return not all(listener.__module__.startswith("django.") for each in references if (listener := each()))


def _headers(response: HttpResponseBase) -> list[tuple[str, str]]:
    found = [*response.headers._store.values()]  # noqa: SLF001  # looking each up by its name costs twenty times as much
    if response.cookies:
        found += [("Set-Cookie", cookie.output(header="")) for cookie in response.cookies.values()]
    return found
