"""`zabbix`: the last values of a Zabbix's items, by its JSON-RPC API, with an API token.

A record is one item with its last value and its host: `{"host": "gz-01-r1", "name": "Guangzhou 1, router 1",
"host_tags": {"idc": "gz-01"}, "key": "net.if.out[ge-0/0/1]", "tags": {"carrier": "ct"}, "value": "1.5e9",
"at": "1700000000"}`. Of a tag that stands there several times, the last one counts. Items without a value, and those
whose values are texts, make no record.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.client import origin_of
from metrics_ingest.collector import Ask, Collector, Record
from metrics_ingest.collectors.web import WebConfig, web_check, web_decoded, web_fetch
from metrics_ingest.sources.mapping import MAX_VALUES

__all__ = ["Zabbix", "ZabbixConfig"]

JSON = "application/json"
FLOAT, UNSIGNED = 0, 3
EQUALS, EXISTS = "1", "4"
NEVER = "0"
"""The `lastclock` of an item that has no value."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=2048)]


class ZabbixConfig(WebConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`url` is that of the frontend, such as `https://noc.example.com/zabbix`. Items are asked for that have one of the
    `keys`, in which `*` stands for any text, belong to a host of the `group`, and have all of the `tags`; null: with
    any value."""

    keys: Annotated[list[Name], msgspec.Meta(max_length=100)] = []
    group: Name | None = None
    tags: Annotated[dict[Name, Name | None], msgspec.Meta(max_length=50)] = {}


class Tag(msgspec.Struct, frozen=True):
    tag: str
    value: str = ""


class Host(msgspec.Struct, frozen=True):
    hostid: str
    host: str
    name: str = ""
    tags: list[Tag] = []


class Item(msgspec.Struct, frozen=True, rename={"key": "key_"}):
    hostid: str
    key: str
    lastvalue: str
    lastclock: str
    tags: list[Tag] = []


class Refusal(msgspec.Struct, frozen=True):
    message: str = ""
    data: str = ""


class Answer(msgspec.Struct, frozen=True):
    result: msgspec.Raw = msgspec.Raw()
    error: Refusal | None = None


class Zabbix(Collector):
    """Asks a Zabbix for the last values of its items."""

    kind = "zabbix"
    Config = ZabbixConfig
    mapping = {"at": "at"}
    config: ZabbixConfig

    def check(self) -> Iterable[FieldError]:
        yield from web_check(self.config)
        if not (self.config.keys or self.config.group or self.config.tags):
            yield FieldError("/keys", "required", _("say which items: by `keys`, `group` or `tags`"))

    def collect(self, ask: Ask) -> Iterator[Record]:
        items = [item for item in self._result(ask, "item.get", self._selection(), Item) if item.lastclock != NEVER]
        if not items:
            return
        hosts = {host.hostid: host for host in self._result(ask, "host.get", _hosts_of(items), Host)}
        for item in items:
            if (host := hosts.get(item.hostid)) is not None:
                named = {"host": host.host, "name": host.name, "host_tags": _by_name(host.tags)}
                read = {"key": item.key, "tags": _by_name(item.tags), "value": item.lastvalue, "at": item.lastclock}
                yield named | read

    def _selection(self) -> dict[str, Any]:
        """Return the parameters of `item.get`."""
        chosen: dict[str, Any] = {
            "output": ["hostid", "key_", "lastvalue", "lastclock"],
            "selectTags": ["tag", "value"],
            "monitored": True,
            "filter": {"value_type": [FLOAT, UNSIGNED]},
            "sortfield": "itemid",
            "limit": MAX_VALUES + 1,
        }
        if self.config.keys:
            chosen |= {"search": {"key_": self.config.keys}, "searchWildcardsEnabled": True, "searchByAny": True}
        if self.config.group:
            chosen["group"] = self.config.group
        if self.config.tags:
            chosen["tags"] = [
                {"tag": name, "value": value or "", "operator": EXISTS if value is None else EQUALS}
                for name, value in self.config.tags.items()
            ]
        return chosen

    def _result(self, ask: Ask, method: str, params: dict[str, Any], kind: Any) -> list[Any]:
        """Call a method of the API and return its list; raises Unavailable if Zabbix refuses, or an OutboundError."""
        address = f"{self.config.url.rstrip('/')}/api_jsonrpc.php"
        call = msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params, "id": 1})
        reply = web_fetch(
            ask, self.config, address, method="POST", accept=JSON, content=call, content_type=f"{JSON}-rpc"
        )
        origin = origin_of(address)
        answer = web_decoded(reply.content, Answer, origin, "Zabbix")
        if answer.error is not None or not bytes(answer.result):
            said = answer.error or Refusal()
            reason = f"{said.message} {said.data}".strip()[:500]
            raise Unavailable("query_refused", _("{origin} says: {reason}"), origin=origin, reason=reason)
        result: list[Any] = web_decoded(bytes(answer.result), list[kind], origin, "Zabbix")
        return result


def _hosts_of(items: Iterable[Item]) -> dict[str, Any]:
    """Return the parameters of `host.get` for the hosts of these items."""
    ids = sorted({item.hostid for item in items})
    return {"hostids": ids, "output": ["hostid", "host", "name"], "selectTags": ["tag", "value"]}


def _by_name(tags: Iterable[Tag]) -> dict[str, str]:
    return {tag.tag: tag.value for tag in tags}
