"""The collector for Zabbix, against a server that answers as Zabbix 7.0 does, with its payloads and its errors."""

import json
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from django.utils import timezone

from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.inventory.models import Idc
from metrics_ingest.collector import Ask, Record
from metrics_ingest.collectors.zabbix import Zabbix, ZabbixConfig
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.services import source_create
from metrics_ingest.sources.collecting import source_collect
from tests.outbound.peers import Behaviour, Exchange, Peer, drip, json_reply, loopback_allowed, peer, raw_reply

TOKEN = "3159081342df61cc30b09b0ac7b53e1a0ff8ae17d5a92e22c4b6a3e4ff0e3a33"
GROUPS = {"Edge routers": ["10645", "10646"], "Web servers": ["10700"]}
HOSTS = [
    {"hostid": "10645", "host": "gz-01-r1", "name": "Guangzhou 1, router 1",
     "tags": [{"tag": "idc", "value": "gz-01", "automatic": "0"}, {"tag": "rack", "value": "", "automatic": "0"}]},
    {"hostid": "10646", "host": "moon-r1", "name": "Moon", "tags": [{"tag": "idc", "value": "moon", "automatic": "0"}]},
    {"hostid": "10700", "host": "gz-01-web", "name": "Web", "tags": []},
]  # fmt: skip


def item(number: int, hostid: str, key: str, carrier: str, value: str, **fields: str) -> dict[str, Any]:
    """One item as Zabbix shows it: all numbers are texts."""
    tags = [{"tag": "component", "value": "network"}, {"tag": "carrier", "value": carrier}]
    read = {"lastvalue": value, "lastclock": str(int(timezone.now().timestamp()) - 20)}
    return {"itemid": str(number), "hostid": hostid, "key_": key, "value_type": "3", **read, "tags": tags, **fields}


def fleet() -> list[dict[str, Any]]:
    """Ports of two routers; one was never read, one is a text, one belongs to an IDC that nobody knows."""
    return [
        item(47510, "10645", 'net.if.out["ifHCOutOctets.1"]', "ct", "200000000"),
        item(47511, "10645", 'net.if.out["ifHCOutOctets.2"]', "blue", "400000000.5", value_type="0"),
        item(47512, "10645", 'net.if.out["ifHCOutOctets.3"]', "cm", "0", lastclock="0"),
        item(47513, "10645", 'net.if.in["ifHCInOctets.1"]', "ct", "7"),
        item(47514, "10645", 'net.if.out.alias["ifAlias.1"]', "ct", "to China Telecom", value_type="4"),
        item(47520, "10646", 'net.if.out["ifHCOutOctets.1"]', "ct", "1"),
        item(47530, "10700", 'net.if.out["eth0"]', "ct", "3"),
    ]


def refusal(code: int, message: str, data: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message, "data": data}, "id": 1}


def zabbix(exchange: Exchange) -> None:
    """Answer a call of the API; whatever Zabbix would not take is answered with an error, in an HTTP 200."""
    call = exchange.server.calls[-1]
    if exchange.path != "/zabbix/api_jsonrpc.php" or exchange.headers["Content-Type"] != "application/json-rpc":
        raw_reply(b"", 412)(exchange)
    elif exchange.headers["Authorization"] != f"Bearer {TOKEN}":
        json_reply(refusal(-32602, "Invalid params.", "Not authorized."))(exchange)
    else:
        found = {"item.get": items_found, "host.get": hosts_found}[call["method"]](call["params"])
        json_reply({"jsonrpc": "2.0", "result": found, "id": call["id"]})(exchange)


def items_found(params: dict[str, Any]) -> list[dict[str, Any]]:
    found = fleet()
    if "group" in params:
        found = [each for each in found if each["hostid"] in GROUPS.get(params["group"], [])]
    if "search" in params:
        assert params["searchWildcardsEnabled"]
        assert params["searchByAny"]
        patterns = [key.replace("[", "[[]") for key in params["search"]["key_"]]
        found = [each for each in found if any(fnmatchcase(each["key_"], pattern) for pattern in patterns)]
    for tag in params.get("tags", []):
        values = [tag["value"]] if tag["operator"] == "1" else None
        found = [each for each in found if has_tag(each, tag["tag"], values)]
    return [each for each in found if int(each["value_type"]) in params["filter"]["value_type"]]


def has_tag(found: dict[str, Any], name: str, values: list[str] | None) -> bool:
    return any(tag["tag"] == name and (values is None or tag["value"] in values) for tag in found["tags"])


def hosts_found(params: dict[str, Any]) -> list[dict[str, Any]]:
    return [host for host in HOSTS if host["hostid"] in params["hostids"]]


MAPPING = {
    "idc": "host_tags.idc",
    "line": "tags.carrier",
    "values": {"bandwidth_mbps": {"value": "value", "scale": 1e-6}},
    "lines": {"blue": "cu"},
}


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Peer]:
    settings.SOURCE_SECRETS = ["env:SOURCE_ZABBIX@127.0.0.1"]
    monkeypatch.setenv("SOURCE_ZABBIX", TOKEN)
    with loopback_allowed(settings), peer(zabbix) as running:
        yield running


@pytest.fixture
def source(idc: Idc, server: Peer) -> Callable[..., Source]:
    def make(**config: Any) -> Source:
        chosen = config or {"keys": ["net.if.out[*"], "group": "Edge routers"}
        return source_create(
            code="ports",
            kind="zabbix",
            schedule="60",
            config={"url": f"http://127.0.0.1:{server.server_address[1]}/zabbix/", "timeout_seconds": 60, **chosen},
            mapping=MAPPING,
            secret_ref="env:SOURCE_ZABBIX",
        )

    return make


def collected(source: Source) -> Run:
    run = source_collect(source_id=source.pk, clock=timezone.now)
    assert run is not None
    return run


def records(source: Source) -> list[Record]:
    """What the source's collector finds."""
    config = convert(source.config, ZabbixConfig)
    return list(Zabbix(config).collect(Ask(now=timezone.now(), timeout=60, secret=TOKEN)))


def test_it_works(source: Callable[..., Source], server: Peer) -> None:
    run = collected(source())
    assert (run.state, run.fetched, run.stored, run.unmatched) == ("succeeded", 3, 2, 1), run.error
    assert dict(Latest.objects.values_list("line__code", "value")) == {"ct": 200.0, "cu": 400.0000005}
    assert run.unmatched_names == [{"idc": "moon", "line": "ct", "count": 1}]
    assert 15 < (timezone.now() - Latest.objects.first().at).total_seconds() < 600
    assert [call["method"] for call in server.calls] == ["item.get", "host.get"]
    assert server.calls[1]["params"]["hostids"] == ["10645", "10646"]


@pytest.mark.parametrize(
    ("chosen", "keys"),
    [
        ({"keys": ['net.if.in["ifHCInOctets.1"]', 'net.if.out["eth0"]']}, ["net.if.in", "net.if.out"]),
        ({"group": "Web servers"}, ["net.if.out"]),
        ({"tags": {"carrier": "blue"}}, ["net.if.out"]),
        ({"tags": {"component": "network", "carrier": None}}, ["net.if.in"] + ["net.if.out"] * 4),
    ],
)
def test_items_are_chosen(source: Callable[..., Source], chosen: dict[str, Any], keys: list[str]) -> None:
    assert sorted(record["key"].partition("[")[0] for record in records(source(**chosen))) == keys


def test_a_record_has_the_host_and_its_tags(source: Callable[..., Source]) -> None:
    (record,) = records(source(tags={"carrier": "blue"}))
    assert record["at"].isdigit()
    assert {**record, "at": ""} == {
        "host": "gz-01-r1",
        "name": "Guangzhou 1, router 1",
        "host_tags": {"idc": "gz-01", "rack": ""},
        "key": 'net.if.out["ifHCOutOctets.2"]',
        "tags": {"component": "network", "carrier": "blue"},
        "value": "400000000.5",
        "at": "",
    }


def test_a_wrong_token_is_said_and_not_shown(source: Callable[..., Source], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_ZABBIX", "wrong0token")
    run = collected(source())
    assert (run.state, run.error["code"]) == ("failed", "query_refused")
    assert "Invalid params. Not authorized." in str(run.error)
    assert "wrong0token" not in json.dumps(run.error)


UNUSABLE: dict[str, tuple[Behaviour, str]] = {
    "an error of a parameter": (
        json_reply(refusal(-32602, "Invalid params.", 'Invalid parameter "/1": unexpected parameter "auth".')),
        "query_refused",
    ),
    "its database is away": (json_reply(refusal(-32500, "Application error.", "SQL error")), "query_refused"),
    "an answer without a result": (json_reply({"jsonrpc": "2.0", "id": 1}), "query_refused"),
    "a number of items": (json_reply({"jsonrpc": "2.0", "result": "12", "id": 1}), "bad_reply"),
    "items of another shape": (json_reply({"jsonrpc": "2.0", "result": [{"itemid": "1"}], "id": 1}), "bad_reply"),
    "the page for logging in": (raw_reply(b"<!DOCTYPE html><html><title>Zabbix</title></html>"), "bad_reply"),
    "a list without end": (raw_reply(b'{"result": [' + b" " * (17 << 20) + b"]}"), "too_large"),
    "a slow answer": (drip, "too_slow"),
    "nothing found": (json_reply({"jsonrpc": "2.0", "result": [], "id": 1}), "nothing_found"),
}


@pytest.mark.parametrize(("behave", "code"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_can_not_be_used_fails_the_run(
    source: Callable[..., Source], server: Peer, behave: Behaviour, code: str
) -> None:
    server.behave = behave
    run = collected(source(tags={"carrier": None}, timeout_seconds=1 if code == "too_slow" else 60))
    assert (run.state, run.error["code"]) == ("failed", code)
    assert not Latest.objects.exists()


def test_fifty_thousand_items_are_read(source: Callable[..., Source], server: Peer) -> None:
    """Some nine megabytes of JSON."""
    many = [item(number, "10700", f"net.if.out[{number}]", "nobody", "1") for number in range(50_000)]

    def behave(exchange: Exchange) -> None:
        method = exchange.server.calls[-1]["method"]
        json_reply({"jsonrpc": "2.0", "result": many if method == "item.get" else HOSTS, "id": 1})(exchange)

    server.behave = behave
    run = collected(source(keys=["*"]))
    assert (run.fetched, run.unmatched) == (50_000, 50_000)


def test_something_must_be_chosen(source: Callable[..., Source]) -> None:
    with pytest.raises(Invalid) as caught:
        source(keys=[])
    assert [(error.pointer, error.code) for error in caught.value.errors] == [("/config/keys", "required")]
