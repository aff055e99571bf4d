"""An answer that is given at once is what Django would answer, without what it does around it for nothing."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from io import BytesIO
from typing import Any, NamedTuple

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt

from idcsched.at_once import nobody_waits
from idcsched.handler import AtOnceRequest, Handler

closed: list[str] = []


@csrf_exempt
def told(request: HttpRequest, **named: str) -> HttpResponse:
    response = HttpResponse(f"{request.method} {request.path} {request.read().decode()} {named}")
    response.set_cookie("a", "1")
    response.set_cookie("b", "2", httponly=True)
    response._resource_closers += [lambda: closed.append("first"), lambda: 1 / 0, lambda: closed.append("second")]
    return response


@csrf_exempt
def in_pieces(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(iter([b"a", b"b"]))


@csrf_exempt
def fails(request: HttpRequest) -> HttpResponse:
    raise ValueError("a bug")


urlpatterns = [
    path("api/told/", told),
    path("api/told/<str:name>/", told),
    path("api/in_pieces/", in_pieces),
    path("api/fails/", fails),
    re_path("^api/(?P<rest>rest.*)$", told),
]
pytestmark = [
    pytest.mark.urls(__name__),
    pytest.mark.usefixtures("db"),
]  # Django looks after connections around each request


class Answer(NamedTuple):
    status: str
    headers: list[tuple[str, str]]
    body: bytes


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture(autouse=True)
def _nothing_closed() -> Iterator[None]:
    yield
    closed.clear()


def asked(address: str, *, method: str = "POST", body: bytes = b"", content_type: str = "text/plain") -> dict[str, Any]:
    return {
        "REQUEST_METHOD": method,
        "PATH_INFO": address,
        "SCRIPT_NAME": "",
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "HTTP_HOST": "localhost",
        "HTTP_X_REQUEST_ID": "asked-twice",
        "HTTP_AUTHORIZATION": "Bearer nobody",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.url_scheme": "http",
    }


def answered(handler: Handler, environ: dict[str, Any], *, at_once: bool = True) -> Answer:
    said: list[Any] = []
    with nobody_waits() if at_once else nullcontext():
        pieces = handler(environ, lambda status, headers: said.extend((status, headers)))
        body = b"".join(pieces)
        if close := getattr(pieces, "close", None):
            close()
    return Answer(*said, body)


ADDRESSES = [
    "/api/told/",
    "/api/told/you/",
    "/api/rest/of/it",
    "/api/in_pieces/",
    "/api/nowhere/",
    "/api/fails/",
    "/api/told",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_works(address: str, handler: Handler) -> None:
    ordinary, first, again = (
        answered(handler, asked(f"/api/{address}", body=b"body"), at_once=at_once) for at_once in (False, True, True)
    )
    assert first == ordinary
    assert again == ordinary, "and once more, when it is known"


def test_what_is_wrong_is_logged_all_the_same(handler: Handler, caplog: pytest.LogCaptureFixture) -> None:
    assert answered(handler, asked("/api/nowhere/")).status == "404 Not Found"
    assert answered(handler, asked("/api/fails/")).status == "500 Internal Server Error"
    assert [record.getMessage() for record in caplog.records] == [
        "Not Found: /api/nowhere/",
        "Internal Server Error: /api/fails/",
    ]


def test_what_the_answer_held_is_let_go(handler: Handler) -> None:
    answered(handler, asked("/api/told/"))
    assert closed == ["first", "second"]


def test_the_cookies_are_sent(handler: Handler) -> None:
    found = answered(handler, asked("/api/told/")).headers
    assert [value for name, value in found if name == "Set-Cookie"] == [" a=1; Path=/", " b=2; HttpOnly; Path=/"]


@pytest.mark.parametrize("signal", [request_started, request_finished])
def test_whoever_listens_is_told_when_a_request_begins_and_ends(signal: Any, handler: Handler) -> None:
    heard: list[type] = []

    def listener(sender: type, **_: Any) -> None:
        heard.append(sender)

    answered(handler, asked("/api/told/"))
    signal.connect(listener)
    try:
        assert answered(handler, asked("/api/told/")).status == "200 OK"
    finally:
        signal.disconnect(listener)
    assert heard == [Handler]


CONTENT_TYPES = [
    "",
    "application/json",
    " Application/JSON ",
    "text/plain; charset=latin-1",
    "a/b; charset=nowhere; c=d",
]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@pytest.mark.parametrize("method", ["GET", "POST", "post"])
def test_the_request_is_the_one_that_django_makes(content_type: str, method: str) -> None:
    mine, djangos = (
        vars(kind(asked("/api/told//you/", method=method, body=b"body", content_type=content_type)))
        for kind in (AtOnceRequest, WSGIRequest)
    )
    assert mine.pop("_stream").read() == djangos.pop("_stream").read() == b"body"
    for found in (mine, djangos):
        del found["environ"]["wsgi.input"]
    assert mine == djangos
