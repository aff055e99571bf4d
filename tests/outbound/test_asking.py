"""A decision's questions are asked all at once, and every one gets a reply, if only one that says what went wrong."""

import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from pytest_django.fixtures import Settings

from idcsched.framework.external import Query
from idcsched.outbound.asking import ask
from tests.outbound.peers import Exchange, Peer, closed_port, in_turn, json_reply, loopback_allowed, peer, raw_reply


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> Iterator[None]:
    with loopback_allowed(settings):
        yield


def query(server: Peer | str, name: str = "judge", **fields: Any) -> Query:
    url = server if isinstance(server, str) else server.url
    return Query(plugin=name, url=url, **{"body": {"idcs": ["a"]}, "timeout_seconds": 60.0, **fields})


def test_it_works() -> None:
    with peer(json_reply({"banned": []})) as server:
        replies = ask([asked := query(server)])
    assert server.calls == [{"idcs": ["a"]}]
    reply = replies["judge"]
    assert (reply.plugin, reply.document, reply.error) == ("judge", {"banned": []}, None)
    assert reply.asked == asked.fingerprint
    assert reply.seconds > 0


def test_nothing_to_ask() -> None:
    assert ask([]) == {}


def test_all_are_asked_at_once() -> None:
    everybody = threading.Barrier(8)

    def together(exchange: Exchange) -> None:
        everybody.wait(30)  # nobody is answered before all are there
        json_reply({})(exchange)

    with peer(together) as server:
        replies = ask([query(server, str(number)) for number in range(8)])
    assert {name: reply.error for name, reply in replies.items()} == {str(number): None for number in range(8)}


def test_ones_failure_leaves_the_other_its_reply() -> None:
    with peer(json_reply(["fine"])) as server:
        replies = ask([query(server, "up"), query(f"http://127.0.0.1:{closed_port()}/", "down")])
    assert replies["up"].document == ["fine"]
    assert replies["down"].document is None
    assert "could not be reached" in str(replies["down"].error)


def test_the_querys_own_terms_hold() -> None:
    with peer(in_turn(json_reply({}, 503), json_reply({}))) as server:
        assert ask([query(server, retries=1)])["judge"].error is None
    with peer(lambda exchange: exchange.wait(30) and None) as server:
        error = ask([query(server, timeout_seconds=0.2)])["judge"].error
    assert "gave no whole reply in 0.2 s" in str(error)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"body": {"a": object()}}, "object is unsupported", id="a question that is no JSON"),
        pytest.param({"url": "gopher://x/"}, "only http and https", id="no address"),
        pytest.param({"url": "http://10.0.0.1/"}, "OUTBOUND_HOSTS", id="an address that may not be called"),
    ],
)
def test_it_never_raises(fields: dict[str, Any], said: str) -> None:
    reply = ask([Query(**{"plugin": "judge", "url": "", "body": {}, "timeout_seconds": 1.0, **fields})])["judge"]
    assert said in str(reply.error)


def test_a_reply_can_be_kept() -> None:
    """A reply that cannot be recorded counts as an error, because the decision could not be replayed with it."""
    with peer(raw_reply(b'{"scores": {"a": 123456789012345678901234567890}}')) as server:
        reply = ask([query(server)])["judge"]
    assert "more than 64 bits" in str(reply.error)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(reply), type=type(reply)) == reply
