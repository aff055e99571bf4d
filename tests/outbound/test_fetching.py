"""Documents of other kinds are fetched compressed or not, and their size is limited either way."""

import gzip
from collections.abc import Callable

import pytest

from idcsched.outbound.client import Client, Request
from idcsched.outbound.errors import BadReply, BadStatus, NoConnection, OutboundError, ServerFailed, TooLarge, TooSlow
from tests.outbound.peers import (
    Behaviour,
    Exchange,
    drip,
    hang_up,
    huge,
    in_turn,
    peer,
    raw_reply,
    redirect,
    silent,
    zipped_bomb,
)

ROWS = b"idc,value\r\n" + b"gz-01,1\r\n" * 10_000


def packed(data: bytes) -> Behaviour:
    return raw_reply(data, Content_Encoding="gzip", Content_Type="text/csv")


def short(exchange: Exchange) -> None:
    """Promises more than it sends."""
    exchange.head(200, Content_Length=100)
    exchange.wfile.write(b"half")
    exchange.close_connection = True


def test_it_works(client: Client) -> None:
    with peer(raw_reply(ROWS, Content_Type="text/csv")) as server:
        reply = client.fetch(Request(url=server.url, headers={"X-Token": "t"}), timeout=60)
    assert (reply.status, reply.content, reply.content_type) == (200, ROWS, "text/csv")
    assert server.calls == ["/judge?site=secret"]
    assert server.seen_headers[0]["X-Token"] == "t"
    assert server.seen_headers[0]["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("data", [gzip.compress(ROWS), gzip.compress(ROWS[:7]) + gzip.compress(ROWS[7:])])
def test_a_packed_reply_is_unpacked(client: Client, data: bytes) -> None:
    with peer(packed(data)) as server:
        assert client.fetch(Request(url=server.url), timeout=60).content == ROWS


BAD: dict[str, tuple[Behaviour, type[OutboundError]]] = {
    "says gzip and is not": (packed(b"idc,value"), BadReply),
    "packed and broken off": (packed(gzip.compress(ROWS)[:-20]), BadReply),
    "packed otherwise": (raw_reply(b"x", Content_Encoding="br"), BadReply),
    "packed twice": (raw_reply(gzip.compress(b"x"), Content_Encoding="gzip, gzip"), BadReply),
    "a bomb": (zipped_bomb, TooLarge),
    "200 MB": (huge, TooLarge),
    "a byte now and then": (drip, TooSlow),
    "silence": (silent, TooSlow),
    "hung up": (hang_up, NoConnection),
    "less than promised": (short, NoConnection),
    "500": (raw_reply(b"", 500), ServerFailed),
    "a redirect": (redirect("http://127.0.0.1/elsewhere"), BadStatus),
    "404": (raw_reply(b"", 404), BadStatus),
}


@pytest.mark.parametrize(("behave", "expected"), BAD.values(), ids=BAD)
def test_what_is_wrong_has_a_name(client: Client, behave: Behaviour, expected: type[OutboundError]) -> None:
    with peer(behave) as server, pytest.raises(expected):
        client.fetch(Request(url=server.url, max_bytes=1024 * 1024), timeout=0.5 if expected is TooSlow else 60)


def test_statuses_that_are_asked_for_come_back(client: Client) -> None:
    with peer(raw_reply(b'{"error": "bad query"}', 400)) as server:
        reply = client.fetch(Request(url=server.url, also=frozenset({400})), timeout=60)
    assert (reply.status, reply.content) == (400, b'{"error": "bad query"}')


def test_what_may_help_is_tried_again(make_client: Callable[..., Client]) -> None:
    with peer(in_turn(raw_reply(b"", 503), raw_reply(b"there"))) as server:
        assert make_client().fetch(Request(url=server.url), timeout=60, retries=2).content == b"there"
    assert len(server.calls) == 2
