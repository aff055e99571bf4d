"""`check_collector` accepts every built-in collector, and refuses one that breaks a rule."""

from collections.abc import Callable, Iterator, Mapping
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from idcsched.framework.errors import FieldError, IdcschedError
from metrics_ingest.collector import Ask, Collector, Config, Record
from metrics_ingest.collectors.web import WebConfig
from metrics_ingest.sources.kinds import kinds
from metrics_ingest.testing import check_collector

VECTOR = {"resultType": "vector", "result": [{"metric": {"site": "gz-01"}, "value": [1.7e9, "1"]}]}

ITEM_AND_HOST = {"hostid": "1", "host": "gz-01", "key_": "net.if.in[1]", "lastvalue": "1", "lastclock": "1700000000"}


def to_postgresql(address: str) -> dict[str, Any]:
    place = urlsplit(address)
    said = {"database": "d", "user": "u", "query": "SELECT 1", "sslmode": "disable"}
    return {"host": place.hostname, "port": place.port, **said}


BUILT_IN: dict[str, tuple[Callable[[str], Mapping[str, Any]], Any]] = {
    "csv": (lambda address: {"url": address}, b"site,cpu\ngz-01,0.5\n"),
    "http_json": (lambda address: {"url": address}, [{"site": "gz-01", "cpu": 0.5}]),
    "prometheus": (lambda address: {"url": address, "query": "up"}, {"status": "success", "data": VECTOR}),
    "sql": (to_postgresql, None),
    "zabbix": (lambda address: {"url": address, "keys": ["net.if.*"]}, {"result": [ITEM_AND_HOST]}),
}


class Ports(Collector):
    """Asks for a list of objects."""

    kind = "ports"
    Config = WebConfig

    def collect(self, ask: Ask) -> Iterator[Record]:
        found = msgspec.json.decode(ask.fetch(self.config.url).content)
        yield from found


class Loose(Config, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A configuration that accepts any field."""

    url: str


class Thawed(Config, frozen=False, kw_only=True, forbid_unknown_fields=True):
    url: str


def check(collector: type[Collector]) -> None:
    check_collector(collector, config=lambda address: {"url": address}, good=[{"port": 1}])


def ports(**members: Any) -> type[Collector]:
    """Return a variant of `Ports` with some of its members replaced."""
    return type("Ports", (Ports,), {"__doc__": "A variant.", **members})


def sleeping(self: Collector, ask: Ask) -> Iterator[Record]:
    sleep(60)
    yield {}


def swallowing(self: Collector, ask: Ask) -> Iterator[Record]:
    try:
        yield from Ports.collect(self, ask)  # type: ignore[arg-type]
    except IdcschedError:
        return


def remembering(self: Any, ask: Ask) -> Iterator[Record]:
    self.last = ask.now
    yield from Ports.collect(self, ask)


def growing(self: Any, ask: Ask) -> Iterator[Record]:
    Growing.asked += 1
    yield {"asked": Growing.asked}


class Growing:
    asked = 0


BROKEN: dict[str, tuple[type[Collector], str]] = {
    "a bad answer raises what json raises": (Ports, "one of this project's errors"),
    "what goes wrong is swallowed": (ports(collect=swallowing), "it raises on a server that"),
    "its time is nothing to it": (ports(collect=sleeping), "it ends when its time is over"),
    "it remembers": (ports(collect=remembering), "changes nothing of itself"),
    "it finds something else each time": (ports(collect=growing), "it finds the same"),
    "its records are none": (ports(collect=lambda self, ask: [7]), "mappings by text"),
    "it finds nothing": (ports(collect=lambda self, ask: []), "finds something"),
    "it is not described": (ports(__doc__=None), "docstring"),
    "its kind is no name": (ports(kind="Lots of ports"), "lower-case identifier"),
    "unknown fields are taken": (ports(Config=Loose), "an unknown field"),
    "its configuration may be changed": (ports(Config=Thawed), "frozen"),
    "it complains of what is right": (ports(check=lambda self: [FieldError("/url", "no", "no")]), "`check` finds"),
}


@pytest.mark.parametrize("kind", kinds().classes)
def test_it_works(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics_ingest.testing.GRACE", 30.0)
    configure, good = BUILT_IN[kind]
    check_collector(kinds().classes[kind], config=configure, good=good)


@pytest.mark.parametrize(("collector", "law"), BROKEN.values(), ids=BROKEN)
def test_whoever_breaks_a_law_is_caught(collector: type[Collector], law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grace is short only for the collector that ignores its timeout, since the check waits for it in vain."""
    monkeypatch.setattr("metrics_ingest.testing.GRACE", 1.0 if collector.collect is sleeping else 30.0)
    with pytest.raises(AssertionError, match=law):
        check(collector)
