"""A call to the outside ends in a document or a typed refusal, in time and in little memory, whatever the peer does."""

import gzip
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import httpcore
import pytest

from idcsched.outbound import client as client_module
from idcsched.outbound import network
from idcsched.outbound.client import MAX_BYTES, Client, Request
from idcsched.outbound.errors import (
    BadReply,
    BadStatus,
    CircuitOpen,
    HostRefused,
    NoConnection,
    OutboundError,
    ServerFailed,
    TooLarge,
    TooSlow,
)
from tests.outbound.peers import (
    CERTIFICATE,
    Behaviour,
    Exchange,
    closed_port,
    drip,
    drip_headers,
    hang_up,
    huge,
    in_turn,
    json_reply,
    mute,
    peer,
    raw_reply,
    redirect,
    silent,
    zipped_bomb,
)

FINE = json_reply({"fine": True})


def another_protocol(exchange: Exchange) -> None:
    exchange.wfile.write(b"220 mail\r\n\r\n")


def test_it_works(client: Client) -> None:
    with peer(FINE) as server:
        response = client.post_json(server.url, {"question": ["ä", 1]}, timeout=5)
    assert (response.status, response.document) == (200, {"fine": True})
    assert server.calls == [{"question": ["ä", 1]}]
    assert server.seen_headers[0]["Content-Type"] == "application/json"


def test_a_connection_is_used_again(client: Client) -> None:
    with peer(FINE) as server:
        for _ in range(3):
            client.post_json(server.url, {}, timeout=5)
    assert (len(server.calls), server.connections) == (3, 1)


def test_a_kept_connection_that_the_peer_has_closed_is_no_failure(client: Client) -> None:
    def once(exchange: Exchange) -> None:
        FINE(exchange)
        exchange.close_connection = True

    with peer(once) as server:
        client.post_json(server.url, {}, timeout=5)
        time.sleep(0.1)
        client.post_json(server.url, {}, timeout=5)
    assert server.connections == 2


@pytest.mark.parametrize(
    ("behave", "error", "said"),
    [
        pytest.param(json_reply({}, 404), BadStatus, "answered 404", id="a status of 4xx"),
        pytest.param(json_reply({}, 429), ServerFailed, "answered 429", id="too many requests"),
        pytest.param(json_reply({}, 500), ServerFailed, "answered 500", id="a status of 5xx"),
        pytest.param(redirect("http://127.0.0.1:1/"), BadStatus, "answered 307", id="a redirect"),
        pytest.param(raw_reply(b"<html>"), BadReply, "no JSON", id="no JSON"),
        pytest.param(raw_reply(b""), BadReply, "no JSON", id="nothing at all"),
        pytest.param(raw_reply(b'{"a": NaN}'), BadReply, "no JSON", id="NaN"),
        pytest.param(raw_reply(b'{"a": 1} {'), BadReply, "no JSON", id="more than JSON"),
        pytest.param(raw_reply(b"[" * 1_000_000), BadReply, "no JSON", id="nested without end"),
        pytest.param(raw_reply(b"1" * 5000), BadReply, "no JSON", id="a number of 5000 digits"),
        pytest.param(raw_reply(b'"\xff"'), BadReply, "no JSON", id="no UTF-8"),
        pytest.param(raw_reply(gzip.compress(b"{}"), Content_Encoding="gzip"), BadReply, "packed", id="packed"),
        pytest.param(hang_up, NoConnection, "could not be reached", id="hung up on"),
        pytest.param(another_protocol, NoConnection, "illegal", id="not HTTP"),
        pytest.param(raw_reply(b"{}", X_Long="x" * 200_000), NoConnection, "reached", id="an endless header"),
    ],
)
def test_what_is_no_success_is_said(client: Client, behave: Behaviour, error: type[OutboundError], said: str) -> None:
    with peer(behave) as server, pytest.raises(error, match=said) as caught:
        client.post_json(server.url, {}, timeout=5)
    assert "secret" not in str(caught.value)
    assert len(server.calls) == 1


def test_what_a_peer_sends_does_not_fill_the_log(client: Client) -> None:
    endless = b"x" * 50_000 + b"\r\n\r\n"
    with peer(lambda exchange: exchange.wfile.write(endless)) as server, pytest.raises(NoConnection) as caught:
        client.post_json(server.url, {}, timeout=5)
    assert len(str(caught.value)) < 300


def test_nobody_listens(client: Client) -> None:
    with pytest.raises(NoConnection, match="could not be reached"):
        client.post_json(f"http://127.0.0.1:{closed_port()}/", {}, timeout=5)


@pytest.mark.parametrize("behave", [silent, drip, drip_headers], ids=["silent", "a drip", "a drip of headers"])
def test_the_deadline_is_for_the_whole_call(client: Client, behave: Behaviour) -> None:
    """Each of the three peers goes on for ever: what ends the call is its deadline."""
    with peer(behave) as server, pytest.raises(TooSlow, match="no whole reply in"):
        client.post_json(server.url, {}, timeout=0.3)


def test_a_peer_that_does_not_read_meets_the_deadline_too(client: Client) -> None:
    with mute() as address, pytest.raises(TooSlow):
        client.post_json(f"http://{address}/", "x" * 50_000_000, timeout=0.5)


def test_a_handshake_that_never_ends_meets_the_deadline_too(client: Client) -> None:
    with mute() as address, pytest.raises(TooSlow):
        client.post_json(f"https://{address}/", {}, timeout=0.3)


def test_no_more_is_read_than_the_limit(client: Client) -> None:
    with peer(huge) as server:
        tracemalloc.start()
        with pytest.raises(TooLarge, match="more than 4194304 bytes"):
            client.post_json(server.url, {}, timeout=20)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 5 * MAX_BYTES


def test_a_limit_of_ones_own(client: Client) -> None:
    with peer(json_reply("x" * 98)) as server:
        assert client.post_json(server.url, {}, timeout=5, max_bytes=100).document == "x" * 98
        with pytest.raises(TooLarge):
            client.post_json(server.url, {}, timeout=5, max_bytes=99)


def test_nothing_is_unpacked(client: Client) -> None:
    with peer(zipped_bomb) as server, pytest.raises(BadReply, match="packed"):
        client.post_json(server.url, {}, timeout=20)
    assert server.seen_headers[0]["Accept-Encoding"] == "identity"


def test_a_redirect_is_not_followed(client: Client) -> None:
    with peer(FINE) as target, peer(redirect(target.url)) as server, pytest.raises(BadStatus):
        client.post_json(server.url, {}, timeout=5)
    assert target.calls == []


def test_a_failure_that_may_pass_is_tried_again(client: Client) -> None:
    with peer(in_turn(json_reply({}, 500), hang_up, FINE)) as server:
        assert client.post_json(server.url, {}, timeout=5, retries=2).document == {"fine": True}
    assert len(server.calls) == 3


@pytest.mark.parametrize(
    ("behave", "retries", "calls"),
    [
        pytest.param(json_reply({}, 500), 0, 1, id="not unless that is wanted"),
        pytest.param(json_reply({}, 500), 2, 3, id="no more often than is wanted"),
        pytest.param(json_reply({}, 400), 2, 1, id="not what will be the same again"),
        pytest.param(raw_reply(b"<html>"), 2, 1, id="not what can't be read"),
        pytest.param(huge, 2, 1, id="not what is too much"),
    ],
)
def test_how_often_it_is_tried(client: Client, behave: Behaviour, retries: int, calls: int) -> None:
    with peer(behave) as server, pytest.raises(OutboundError):
        client.post_json(server.url, {}, timeout=20, retries=retries)
    assert len(server.calls) == calls


def test_retries_end_at_the_deadline_with_what_was_wrong(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcsched.outbound.client.BACKOFF_SECONDS", 1000.0)
    monkeypatch.setattr("random.uniform", lambda _least, most: most)
    with peer(json_reply({}, 503)) as server, pytest.raises(ServerFailed, match="answered 503"):
        client.post_json(server.url, {}, timeout=20, retries=3)
    assert len(server.calls) == 1, "the next would come after two thousand seconds"


def test_retries_come_out_of_a_budget(make_client: Callable[..., Client]) -> None:
    client = make_client(failures=1000, retries_saved=2.0, retries_earned=0.0)
    with peer(json_reply({}, 500)) as server:
        for _ in range(4):
            with pytest.raises(ServerFailed):
                client.post_json(server.url, {}, timeout=5, retries=1)
    assert len(server.calls) == 4 + 2


def test_a_peer_that_keeps_failing_is_left_to_rest(make_client: Callable[..., Client]) -> None:
    client = make_client(failures=3, rest_seconds=3)
    with peer(in_turn(*[json_reply({}, 500)] * 3, FINE)) as server:
        for _ in range(3):
            with pytest.raises(ServerFailed):
                client.post_json(server.url, {}, timeout=5)
        with pytest.raises(CircuitOpen, match=r"answered 500 \(not asked again just now"):
            client.post_json(server.url, {}, timeout=5, retries=3)
        assert len(server.calls) == 3

        while len(server.calls) == 3:
            with suppress(CircuitOpen):
                assert client.post_json(server.url, {}, timeout=5).document == {"fine": True}
            time.sleep(0.05)
        assert client.post_json(server.url, {}, timeout=5).document == {"fine": True}


def test_what_failed_is_said_also_where_the_circuit_opens_before_the_next_attempt(
    make_client: Callable[..., Client],
) -> None:
    client = make_client(failures=2)
    with peer(json_reply({}, 500)) as server, pytest.raises(ServerFailed):
        client.post_json(server.url, {}, timeout=5, retries=5)
    assert len(server.calls) == 2


def test_a_trial_asks_whom_others_leave_to_rest_and_ends_that(make_client: Callable[..., Client]) -> None:
    client = make_client(failures=1)
    with peer(in_turn(hang_up, FINE)) as server:
        with pytest.raises(NoConnection):
            client.post_json(server.url, {}, timeout=5)
        with pytest.raises(CircuitOpen):
            client.post_json(server.url, {}, timeout=5)
        assert client.fetch(Request(url=server.url, trial=True), timeout=5).status == 200
        assert client.post_json(server.url, {}, timeout=5).document == {"fine": True}


def test_one_origins_trouble_is_not_anothers(make_client: Callable[..., Client]) -> None:
    client = make_client(failures=1)
    with peer(hang_up) as bad, peer(FINE) as good:
        with pytest.raises(NoConnection):
            client.post_json(bad.url, {}, timeout=5)
        with pytest.raises(CircuitOpen):
            client.post_json(bad.url, {}, timeout=5)
        assert client.post_json(good.url, {}, timeout=5).document == {"fine": True}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "idcs.example.com/judge",
        "ftp://idcs.example.com/",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "http://user:password@idcs.example.com/",
        "http://idcs.example.com:port/",
        "http://idcs.example.com:99999/",
        "http://idcs.example.com:0/",
        "http://[::1/",
        "http://idcs.example.com/a b",
        "http://idcs.example.com/\r\nX-Evil: 1",
        "http://机房.example.com/",
    ],
)
def test_what_is_no_address_is_not_called(client: Client, url: str) -> None:
    with pytest.raises(HostRefused):
        client.post_json(url, {}, timeout=5)


def test_certificates_are_verified(client: Client) -> None:
    with peer(FINE, tls=True) as server, pytest.raises(NoConnection, match="certificate"):
        client.post_json(server.url, {}, timeout=5)
    assert server.calls == []


@pytest.mark.parametrize(("host", "well"), [("localhost", True), ("127.0.0.1", False)], ids=str)
def test_a_certificate_is_for_its_host(
    make_client: Callable[..., Client], monkeypatch: pytest.MonkeyPatch, host: str, *, well: bool
) -> None:
    """The client connects to the address that was checked, but the certificate must still be that of the host."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    client = make_client(["127.0.0.0/8", "::1"])
    with peer(FINE, tls=True) as server:
        url = server.url.replace("localhost", host)
        if well:
            assert client.post_json(url, {}, timeout=5).document == {"fine": True}
        else:
            with pytest.raises(NoConnection, match="certificate"):
                client.post_json(url, {}, timeout=5)


def test_proxies_of_the_environment_are_not_asked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(FINE) as server, peer(FINE) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        client.post_json(server.url, {}, timeout=5)
    assert (len(server.calls), proxy.calls) == (1, [])


def test_what_can_not_be_said_in_json_is_the_callers_mistake(client: Client) -> None:
    document: Any = {"a": object()}
    with pytest.raises(TypeError):
        client.post_json("http://127.0.0.1:1/", document, timeout=5)


def test_a_deadline_that_has_passed_leaves_no_time_to_wait() -> None:
    with network.deadline(0.0), pytest.raises(httpcore.TimeoutException):
        network.seconds_left()


def test_a_forked_process_has_a_client_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test replaces the cache of clients: `_after_fork` clears it, and nobody would close the clients of other
    tests.
    """
    monkeypatch.setattr(client_module, "_client", lru_cache(client_module._client.__wrapped__))
    of_the_parent = client_module.shared_client(("*",))
    assert client_module.shared_client(("*",)) is of_the_parent
    client_module._after_fork()
    assert client_module.shared_client(("*",)) is not of_the_parent
