"""Which hosts may be called: a listed name allows its public addresses; any other address must itself be listed."""

import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import pytest

from idcsched.config.env import Environment, host_list
from idcsched.outbound.client import Client
from idcsched.outbound.errors import HostRefused, NoConnection, TooSlow
from idcsched.outbound.hosts import AllowedHosts, is_public, resolve
from tests.outbound.peers import json_reply, peer

Names = dict[str, list[str]]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> tuple[Names, list[str]]:
    """The addresses of made-up names, which the test fills in, and the list of names that were looked up."""
    known: Names = {}
    looked_up: list[str] = []
    really = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host not in known:
            return really(host, port, *args, **options)
        looked_up.append(host)
        return [found for address in known[host] for found in really(address, port, *args, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known, looked_up


def admits(listed: list[str], host: str, address: str) -> bool:
    try:
        return AllowedHosts.of(listed).admitted(host, [ip_address(address)]) != []
    except HostRefused:
        return False


PUBLIC, PRIVATE = "93.184.215.14", "10.1.2.3"


def test_it_works() -> None:
    assert admits(["*"], "example.com", PUBLIC)
    assert not admits(["*"], "example.com", PRIVATE)


@pytest.mark.parametrize(
    ("listed", "host", "address", "may"),
    [
        pytest.param(["example.com"], "example.com", PUBLIC, True, id="a name that is listed"),
        pytest.param(["Example.COM"], "EXAMPLE.com.", PUBLIC, True, id="… however it is written"),
        pytest.param(["example.com"], "idc.example.com", PUBLIC, False, id="not its sub-domains"),
        pytest.param([".example.com"], "idc.example.com", PUBLIC, True, id="its sub-domains with a dot"),
        pytest.param([".example.com"], "example.com", PUBLIC, True, id="… and itself"),
        pytest.param([".example.com"], "badexample.com", PUBLIC, False, id="not what merely ends so"),
        pytest.param(["example.com"], "example.com", PRIVATE, False, id="a listed name that leads inside"),
        pytest.param([".example.com", "*"], "example.com", "127.0.0.1", False, id="… or to this machine"),
        pytest.param(["10.0.0.0/8"], "idc.internal", PRIVATE, True, id="a network that is listed"),
        pytest.param(["10.0.0.0/8"], PRIVATE, PRIVATE, True, id="an address in it"),
        pytest.param(["10.1.2.3"], PRIVATE, PRIVATE, True, id="an address that is listed"),
        pytest.param(["10.0.0.0/8"], "example.com", PUBLIC, False, id="nobody else then"),
        pytest.param(["10.0.0.0/8", "*"], "example.com", PUBLIC, True, id="unless everybody is"),
        pytest.param(["::1"], "localhost", "127.0.0.1", False, id="one family is not the other"),
        pytest.param([], "example.com", PUBLIC, False, id="nobody at all"),
    ],
)
def test_who_may_be_called(listed: list[str], host: str, address: str, *, may: bool) -> None:
    assert admits(listed, host, address) is may


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "239.1.1.1",
        "255.255.255.255",
        "240.0.0.1",
        "198.18.0.1",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%1",
        "fc00::1",
        "fec0::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "2002:a00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "2001:db8::1",
        "2001::1",
    ],
)
def test_what_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:21f::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"])
def test_what_is_public(address: str) -> None:
    assert is_public(ip_address(address))


def test_a_name_that_leads_inside_is_not_called(
    make_client: Callable[..., Client], names: tuple[Names, list[str]]
) -> None:
    names[0]["rebinding.example"] = ["127.0.0.1"]
    with peer(json_reply({})) as server:
        url = server.url.replace("127.0.0.1", "rebinding.example")
        with pytest.raises(HostRefused, match=r"rebinding\.example \(127\.0\.0\.1\) may not be called: OUTBOUND_HOSTS"):
            make_client(["*", "rebinding.example"]).post_json(url, {}, timeout=60, retries=3)
    assert server.connections == 0


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "localhost"])
def test_other_ways_to_say_this_machine(make_client: Callable[..., Client], host: str) -> None:
    with peer(json_reply({})) as server:
        url = server.url.replace("127.0.0.1", host)
        with pytest.raises(HostRefused):
            make_client(["*"]).post_json(url, {}, timeout=60)
    assert server.connections == 0


def test_the_address_that_was_checked_is_the_one_that_is_dialled(
    make_client: Callable[..., Client], names: tuple[Names, list[str]]
) -> None:
    names[0]["judge.example"] = ["127.0.0.1"]
    with peer(json_reply({})) as server:
        url = server.url.replace("127.0.0.1", "judge.example")
        make_client().post_json(url, {}, timeout=60)
    assert names[1] == ["judge.example"], "looked up once, so that no second answer can differ"
    assert server.seen_headers[0]["Host"].startswith("judge.example:")


def test_of_several_addresses_the_admitted_ones_are_tried_in_turn(
    make_client: Callable[..., Client], names: tuple[Names, list[str]]
) -> None:
    names[0]["judge.example"] = ["10.255.255.1", "127.77.0.1", "127.0.0.1"]  # not allowed, nobody there, the peer
    with peer(json_reply({})) as server:
        url = server.url.replace("127.0.0.1", "judge.example")
        assert make_client().post_json(url, {}, timeout=60).status == 200


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a" * 64, "a..b"])
def test_a_name_that_leads_nowhere(make_client: Callable[..., Client], name: str) -> None:
    with pytest.raises(NoConnection, match="leads nowhere"):
        make_client(["*"]).post_json(f"http://{name}/", {}, timeout=60)


def test_a_resolver_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    over, answered = threading.Event(), threading.Event()

    def look_up(*_: object, **__: object) -> list[Any]:
        over.wait(600)
        answered.set()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(TooSlow, match="not resolved in time"):
        resolve("slow.example", 80, within=0.1)
    assert not answered.is_set()
    over.set()
    assert answered.wait(100), "the lookup that was left behind has found its end"


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("*", ["*"]),
        ("Idc.Example.com, .example.org", ["idc.example.com", ".example.org"]),
        ("10.0.0.0/8,192.0.2.7,::1", ["10.0.0.0/8", "192.0.2.7/32", "::1/128"]),
        ("localhost,host_1", ["localhost", "host_1"]),
    ],
)
def test_the_setting(text: str, listed: list[str]) -> None:
    assert host_list.convert(text) == listed


@pytest.mark.parametrize(
    "text",
    ["10.0.0.1/8", "10.0.0", "999.1.1.1", "http://example.com", "example.com:80", "a,,b", "*.example.com", "a b"],
)
def test_a_wrong_setting_is_said(text: str) -> None:
    environment = Environment({"OUTBOUND_HOSTS": text})
    assert environment.read("OUTBOUND_HOSTS", host_list, default=["*"], help="") == ["*"]
    assert [problem.variable for problem in environment.problems] == ["OUTBOUND_HOSTS"]
