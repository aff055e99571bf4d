"""What HTTP itself promises: methods, addresses, forms and bodies; each refusal is a problem document."""

import json
from itertools import product
from typing import Any

import pytest
from django.db import OperationalError
from django.http import HttpResponse

from idcsched.api import repeated_keys
from idcsched.framework.errors import Invalid
from tests.api.conftest import Api

WAYS = {"/idcs/": {"code": "n", "region": "A"}, "/schedule/": {"region": "A", "profile": "seed-example"}}
"""An ordinary endpoint, and scheduling, which reads its requests by a shorter way: both must read a body alike."""

LISTS, OBJECTS = b"[" * 100_000 + b"]" * 100_000, b'{"k":' * 100_000 + b"1" + b"}" * 100_000


def code(response: HttpResponse, status: int) -> str:
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")
    assert response.headers["X-Request-ID"]
    problem = json.loads(response.content)
    assert set(problem) >= {"type", "title", "status", "detail", "code", "errors"}
    return str(problem["code"])


@pytest.mark.parametrize("path", WAYS)
def test_it_works(seed: Api, path: str) -> None:
    assert seed.raw("POST", path, json.dumps(WAYS[path])).status_code in {200, 201}


def broken(path: str, extra: bytes) -> bytes:
    return json.dumps(WAYS[path]).encode()[:-1] + b", " + extra + b"}"


@pytest.mark.parametrize(
    ("extra", "expected", "pointers"),
    [
        pytest.param(b'"region": "B"', "repeated_key", ["/region"], id="a key twice"),
        pytest.param(rb'"\u0072egion": "B"', "repeated_key", ["/region"], id="a key twice, once escaped"),
        pytest.param(b'"labels": {"a/b": "1", "c": "2", "a/b": "1"}', "repeated_key", ["/labels/a~1b"], id="inside"),
        pytest.param(b'"x": [{"k": 1}, {"k": 1, "k": 2}]', "repeated_key", ["/x/1/k"], id="in a list"),
        pytest.param(b'"x": {"k": 1, "k": 2}, nonsense', "repeated_key", [""], id="in what is not JSON further on"),
        pytest.param(b'"labels": {"x": "\xff"}', "malformed_json", [""], id="not UTF-8"),
        pytest.param(b'"labels": {"x": "\xed\xa0\x80"}', "malformed_json", [""], id="half a surrogate pair in UTF-8"),
        pytest.param(rb'"labels": {"x": "\ud800"}', "malformed_json", [""], id="half a surrogate pair, escaped"),
        pytest.param(rb'"labels": {"x": "\u0000"}', "nul_character", [""], id="a NUL"),
        pytest.param(rb'"labels": {"x": "\\\u0000"}', "nul_character", [""], id="a NUL behind a backslash"),
        pytest.param(rb'"y": "\\u0000"', "unknown_field", ["/y"], id="no NUL, though it looks so"),
        pytest.param(b'"labels": {"x": "\x00"}', "malformed_json", [""], id="a NUL as it is"),
        pytest.param(b'"client": {"latitude": NaN, "longitude": 1}', "malformed_json", [""], id="NaN"),
        pytest.param(b'"client": {"latitude": -Infinity, "longitude": 1}', "malformed_json", [""], id="an infinity"),
        pytest.param(b'"client": {"latitude": 01, "longitude": 1}', "malformed_json", [""], id="01"),
        pytest.param(
            b'"machines": [{"params": {"k": ' + LISTS + b"}}]",
            "too_deep",
            [""],
            id="deep nesting",
        ),
        pytest.param(
            b'"machines": [{"params": ' + OBJECTS + b"}]",
            "too_deep",
            [""],
            id="deep objects",
        ),
    ],
)
def test_a_body_that_can_not_be_meant(seed: Api, extra: bytes, expected: str, pointers: list[str]) -> None:
    for path in WAYS:
        response = seed.raw("POST", path, broken(path, extra))

        assert code(response, 400) == expected
        assert [error["pointer"] for error in json.loads(response.content)["errors"]] == pointers
    assert "n" not in [idc["code"] for idc in seed.get("/idcs/")["results"]]


LONG = b"k" * 300_000


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"%s": 1}' % LONG, id="an unknown field"),
        pytest.param(
            b'{"%s": {%s}}' % (LONG, b",".join([b'"%d": 1, "%d": 1' % (n, n) for n in range(100)])), id="keys"
        ),
        pytest.param(b'{"region": "A", "labels": {"%s": 1}}' % LONG, id="a label"),
        pytest.param(b'{"region": "A", "explain": "%s"}' % LONG, id="a choice"),
        pytest.param(b"{%s}" % b",".join([b'"%d": 1' % n for n in range(3000)]), id="thousands of fields"),
    ],
)
def test_what_is_long_is_not_said_again_at_length(seed: Api, body: bytes) -> None:
    for path in WAYS:
        response = seed.raw("POST", path, body)
        assert code(response, 400)
        assert len(response.content) < 150_000


def test_a_long_key_is_not_copied_for_each_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pointer is built for the 20,000 members below a long key, only for the repeated key `x`, which is refused."""
    written: list[str] = []
    monkeypatch.setattr(repeated_keys, "pointer_token", lambda step: written.append(step) or step)
    below = b",".join([b'"%d": 1' % n for n in range(20_000)])
    with pytest.raises(Invalid):
        repeated_keys.refuse_repeated_keys(b'{"%s": {%s}, "x": 1, "x": 1}' % (LONG, below))
    assert written == ["x"]


NUMBERS = ["1" + "0" * 400, "9" * 5000, "1e400", "-1e309", "1" * 20]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/idcs/", '{"code": "n", "region": "A", "latitude": NUMBER}'),
        ("/idcs/", '{"code": "n", "region": "A", "stock": {"cpu": NUMBER}}'),
        ("/lines/", '{"idc": "a", "isp": "ct", "purchased_mbps": NUMBER}'),
        ("/metrics/", '{"code": "n", "direction": "lower", "scope": "idc", "max_age_seconds": NUMBER}'),
        ("/affinities/", '{"idc": "a", "kind": "prefer", "weight": NUMBER}'),
        ("/tenants/", '{"code": "n", "quota_machines": NUMBER}'),
        ("/samples/", '[{"idc": "a", "metric": "x", "value": NUMBER}]'),
        ("/schedule/", '{"region": "A", "machines": [{"count": NUMBER}]}'),
    ],
)
def test_numbers_beyond_all_sense(seed: Api, path: str, body: str) -> None:
    for number in NUMBERS:
        assert code(seed.raw("POST", path, body.replace("NUMBER", number)), 400)


TEXTS = ["a%00b", "%00", "%ff", "%ed%a0%80", "..%2f..", "%0a", "%e4%b8%ad", "a" * 5000]


@pytest.mark.parametrize("text", TEXTS)
def test_addresses_hold_any_text(seed: Api, text: str) -> None:
    for path in (
        *("/idcs/TEXT/", "/taints/TEXT/", "/decisions/TEXT/", "/users/TEXT/", "/TEXT/", "/idcs/?q=TEXT"),
        *("/idcs/?code=TEXT", "/idcs/?TEXT=1", "/idcs/?region=TEXT", "/idcs/?ordering=TEXT", "/idcs/?limit=TEXT"),
        *("/decisions/?cursor=TEXT", "/decisions/?tenant__ic=TEXT", "/samples/?idc=TEXT&metric=x"),
        *("/samples/?idc=a&metric=TEXT", "/samples/?idc=a&metric=x&line=TEXT"),
    ):
        response = seed.raw("GET", path.replace("TEXT", text))

        if response.status_code != 200:
            assert response.status_code in {400, 404}
            assert code(response, response.status_code)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/idcs/", "GET, POST, PATCH, HEAD, OPTIONS"),
        ("/idcs/a/", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"),
        ("/schedule/", "POST, OPTIONS"),
        ("/changes/", "GET, HEAD, OPTIONS"),
        ("/me/", "GET, HEAD, OPTIONS"),
    ],
)
def test_methods(seed: Api, path: str, allowed: str) -> None:
    answered = seed.raw("OPTIONS", path)
    assert (answered.status_code, answered.headers["Allow"]) == (200, allowed)
    assert json.loads(answered.content)["methods"] == allowed.split(", ")
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} - set(allowed.split(", ")):
        refused = seed.raw(method, path, "{}" if method in {"POST", "PUT", "PATCH"} else None)
        assert code(refused, 405) == "method_not_allowed"
        assert refused.headers["Allow"] == allowed


def test_head_says_what_get_would_but_for_the_body(seed: Api) -> None:
    for path in ("/idcs/", "/idcs/a/", "/me/", "/status/", "/decisions/"):
        read, asked = seed.raw("GET", path), seed.raw("HEAD", path)

        assert (asked.status_code, asked.content) == (200, b"")
        assert asked.headers["Content-Type"] == read.headers["Content-Type"]
        assert asked.headers.get("ETag") == read.headers.get("ETag")


def test_a_write_without_the_closing_slash_is_told_so(seed: Api) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        response = seed.raw(method, "/idcs", json.dumps(WAYS["/idcs/"]))

        assert code(response, 404) == "slash_missing"
        assert "/api/v1/idcs/" in json.loads(response.content)["detail"]


def test_a_reader_without_it_is_sent_on(seed: Api) -> None:
    for method in ("GET", "HEAD"):
        response = seed.raw(method, "/idcs?q=a&limit=1")

        assert (response.status_code, response.headers["Location"]) == (301, "/api/v1/idcs/?q=a&limit=1")


def test_where_nothing_is(seed: Api) -> None:
    for method, path in product(("GET", "POST", "DELETE"), ("/nothing", "/nothing/", "/idcs/a/b/", "/taints/x/", "//")):
        assert code(seed.raw(method, path), 404) == "not_found"


def test_forms_of_an_answer(seed: Api) -> None:
    for path, body in WAYS.items():
        for accepted in ("application/json", "*/*", "application/*", "text/html;q=0.9, */*;q=0.1"):
            assert seed.raw("POST", path, json.dumps(body), Accept=accepted).status_code in {200, 201, 409}
        for accepted in ("text/html", "application/xml", "image/*"):
            response = seed.raw("POST", path, json.dumps(body), Accept=accepted)
            assert code(response, 406) == "not_acceptable"


def test_a_body_of_another_form(seed: Api) -> None:
    for path, form in product(WAYS, ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "")):
        response = seed.raw("POST", path, json.dumps(WAYS[path]), content_type=form)

        assert code(response, 415) == "unsupported_media_type"


def test_a_body_that_is_too_large(seed: Api) -> None:
    for path in WAYS:
        assert code(seed.raw("POST", path, b'"' + b"a" * 5 * 1024 * 1024 + b'"'), 413) == "body_too_large"


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that makes the list of ISPs raise an error, because no input would."""
    from idcsched.api.views.inventory import IspViewSet  # noqa: PLC0415  # beside what is done to it

    def broken(error: Exception) -> None:
        def fail(*args: Any, **kwargs: Any) -> None:
            raise error

        monkeypatch.setattr(IspViewSet, "get_queryset", fail)

    return broken


def test_a_bug_is_a_500_that_says_where_to_look(seed: Api, breaking: Any) -> None:
    seed.client.raise_request_exception = False
    breaking(RuntimeError("a secret"))
    response = seed.raw("GET", "/isps/", X_Request_ID="mine-1")

    assert code(response, 500) == "internal_error"
    assert b"mine-1" in response.content
    assert b"secret" not in response.content


def test_a_database_that_is_away_is_a_503_for_a_while(seed: Api, breaking: Any) -> None:
    breaking(OperationalError("connection refused on 10.0.0.1"))
    response = seed.raw("GET", "/isps/")

    assert code(response, 503) == "database_unavailable"
    assert int(response.headers["Retry-After"]) > 0
    assert b"10.0.0.1" not in response.content
