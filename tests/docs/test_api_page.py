"""docs/api.md: every call that it shows is made, in order, and answered as it shows."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.api.conftest import (  # noqa: F401 - fixtures
    Api,
    admin,
    anonymous,
    api,
    portal,
    seed,
    seeded,
    seeded_first,
    tenant,
    user,
)
from tests.docs.pages import page

PAGE = page("api.md")
EXCHANGE = re.compile(
    r"^```sh\n(?P<call>curl .*?)^```\n\n\*\*(?P<status>\d{3})\*\*\n\n```json\n(?P<answer>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Call(NamedTuple):
    """What a curl line asks for."""

    method: str
    path: str
    headers: dict[str, str]
    body: str | None


def read(line: str, known: dict[str, str]) -> Call:
    """The call, its variables filled in as a shell would."""
    filled = line.replace("\\\n", " ")
    for name, value in known.items():
        filled = filled.replace(f"${name}", value)
    method, body, path, headers = "", None, "", {}
    words = iter(shlex.split(filled)[1:])
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words)
        elif word != "-s":
            path = word
    return Call(method or ("POST" if body else "GET"), path, headers, body)


def differs(shown: Any, found: Any, at: str = "") -> Iterator[str]:
    """Where the answer is not what is shown; it may have more fields."""
    if shown == "…":
        return
    if isinstance(shown, dict) and isinstance(found, dict):
        for name, value in shown.items():
            yield from differs(value, found.get(name, "nothing"), f"{at}/{name}")
    elif isinstance(shown, list) and isinstance(found, list) and len(shown) == len(found):
        for index, pair in enumerate(zip(shown, found, strict=True)):
            yield from differs(*pair, f"{at}/{index}")
    elif shown != found:
        yield f"{at}: {found!r} instead of {shown!r}"


@pytest.fixture
def called(seed: Api, portal: Api) -> list[tuple[re.Match[str], int, Any]]:  # noqa: F811
    """Each exchange of the page with the status and the document that it got."""
    seed.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["portal.example"]}, status=200)
    known, done = {"API": "", "TOKEN": portal.client.defaults["HTTP_AUTHORIZATION"].removeprefix("Bearer ")}, []
    for exchange in EXCHANGE.finditer(PAGE):
        call = read(exchange["call"], known)
        headers = {name.replace("-", "_"): value for name, value in call.headers.items() if name != "Content-Type"}
        response = Api(type(portal.client)(SERVER_NAME="localhost")).raw(call.method, call.path, call.body, **headers)
        answer = json.loads(response.content)
        known |= {"COMMIT_TOKEN": answer["commit_token"]} if answer.get("commit_token") else {}
        known |= {"PLACEMENT": answer["id"]} if answer.get("state") == "reserved" else {}
        done.append((exchange, response.status_code, answer))
    return done


def test_it_works(called: list[tuple[re.Match[str], int, Any]]) -> None:
    assert len(called) >= 10
    for exchange, status, answer in called:
        assert status == int(exchange["status"]), f"{exchange['call']}\n{answer}"
        found = list(differs(json.loads(exchange["answer"]), answer))
        assert not found, exchange["call"] + "\n" + "\n".join(found)


def test_no_call_is_left_out() -> None:
    assert PAGE.count("curl -s") == len(EXCHANGE.findall(PAGE))
