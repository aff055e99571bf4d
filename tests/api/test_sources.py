"""`/api/v1/sources/`: sources are written, tried with one call, and their runs are read."""

from collections.abc import Callable, Iterator
from time import sleep
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from idcsched.inventory.services import idc_create, region_create
from metrics_ingest.collector import Ask, Collector, Record
from metrics_ingest.collectors.web import WebConfig
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.sources.collecting import source_collect
from metrics_ingest.sources.kinds import kinds
from tests.api.conftest import Api
from tests.outbound.peers import Peer, json_reply, loopback_allowed, peer, raw_reply

ROWS = [{"site": "gz-01", "cpu": 0.5}, {"site": "moon", "cpu": 0.5}, {"site": "gz-01", "cpu": None}]


@pytest.fixture
def server(settings: Any) -> Iterator[Peer]:
    with loopback_allowed(settings), peer(json_reply(ROWS)) as found:
        yield found


@pytest.fixture
def operator(api: Callable[..., Api], db: None) -> Api:
    region_create(code="A")
    idc_create(code="gz-01", region="A")
    return api("operator")


@pytest.fixture
def document(server: Peer) -> dict[str, Any]:
    return {
        "code": "loads",
        "kind": "http_json",
        "schedule": 60,
        "config": {"url": server.url, "timeout_seconds": 60},
        "mapping": {"idc": "site", "values": {"cpu_load": "cpu"}},
    }


class Telepathy(Collector):
    """A kind of source without a check of its own."""

    kind = "telepathy"
    Config = WebConfig

    def collect(self, ask: Ask) -> Iterator[Record]:
        yield from ()


def collected() -> Run:
    run = source_collect(source_id=Source.objects.get().pk, clock=timezone.now)
    assert run is not None
    return run


def test_it_works(operator: Api, document: dict[str, Any]) -> None:
    made = operator.post("/sources/", document, status=201)
    assert {name: made[name] for name in document} == document
    assert (made["secret_ref"], made["enabled"], made["running"], made["failures"]) == ("", True, False, 0)
    collected()
    (run,) = operator.get("/sources/loads/runs/")["results"]
    assert (run["state"], run["fetched"], run["stored"], run["refused"], run["unmatched"]) == ("succeeded", 2, 1, 0, 1)
    assert run["unmatched_names"] == [{"idc": "moon", "line": None, "count": 1}]
    assert run["error"] is None
    assert run["seconds"] >= 0
    assert operator.get("/sources/loads/")["succeeded_at"]


def test_it_is_changed_and_deleted(operator: Api, document: dict[str, Any]) -> None:
    operator.post("/sources/", document, status=201)
    changed = operator.call("PATCH", "/sources/loads/", {"schedule": "*/5 * * * *", "enabled": False}, status=200)
    assert (changed["schedule"], changed["enabled"]) == ("*/5 * * * *", False)
    operator.call("DELETE", "/sources/loads/", status=204)
    assert operator.get("/sources/")["count"] == 0


def test_trying_it_shows_what_would_be_stored_and_stores_nothing(operator: Api, document: dict[str, Any]) -> None:
    operator.post("/sources/", document | {"enabled": False}, status=201)
    tried = operator.post("/sources/loads/test/", {}, status=200)
    assert (tried["fetched"], tried["storable"], tried["refused"], tried["unmatched"]) == (2, 1, 0, 1)
    assert tried["samples"][0]["idc"] == "gz-01"
    assert tried["unmatched_names"] == [{"idc": "moon", "line": None, "count": 1}]
    assert tried["error"] is None
    assert not Latest.objects.exists()
    assert not Run.objects.exists()


def test_trying_one_that_fails_says_why(operator: Api, server: Peer, document: dict[str, Any]) -> None:
    operator.post("/sources/", document, status=201)
    server.behave = raw_reply(b"not found", 404)
    tried = operator.post("/sources/loads/test/", {}, status=200)
    assert (tried["fetched"], tried["error"]["code"]) == (0, "bad_status")
    assert "404" in tried["error"]["detail"]


def test_what_a_broken_source_brought_last_goes_stale(operator: Api, server: Peer, document: dict[str, Any]) -> None:
    operator.post("/sources/", document, status=201)
    operator.call("PATCH", "/metrics/cpu_load/", {"max_age_seconds": 1}, status=200)
    collected()
    server.behave = raw_reply(b"", 500)
    Source.objects.update(due_at=timezone.now())
    assert collected().state == "failed"
    sleep(1.1)
    answer = operator.schedule(region="A", explain="full")
    assert {"cpu_load"} == {each["metric"] for each in answer["stale"] if each["age_seconds"] is not None}


def test_a_run_that_failed_says_why_in_the_readers_language(
    operator: Api, server: Peer, document: dict[str, Any]
) -> None:
    operator.post("/sources/", document, status=201)
    server.behave = raw_reply(b"", 404)
    collected()
    texts = [
        operator.get("/sources/loads/runs/", Accept_Language=language)["results"][0]["error"]["detail"]
        for language in ("en", "zh-hans")
    ]
    assert "answered 404" in texts[0]
    assert texts[0] != texts[1]


def test_asking_now_makes_it_due(operator: Api, document: dict[str, Any]) -> None:
    operator.post("/sources/", document, status=201)
    collected()
    asked = operator.post("/sources/loads/run/", {}, status=202)
    assert asked["due_at"] < timezone.now().isoformat()
    assert collected().stored == 1


def test_asking_one_that_is_off_is_a_conflict(operator: Api, document: dict[str, Any]) -> None:
    operator.post("/sources/", document | {"enabled": False}, status=201)
    assert operator.refused("POST", "/sources/loads/run/", {}, status=409) == ("source_disabled", [])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"schedule": "often"}, ("invalid_schedule", ["/schedule"])),
        ({"schedule": 1.5}, ("wrong_type", ["/schedule"])),
        ({"schedule": True}, ("wrong_type", ["/schedule"])),
        ({"kind": "pigeon"}, ("unknown_kind", ["/kind"])),
        ({"config": []}, ("wrong_type", ["/config"])),
        ({"config": {"url": "http://a/", "x": 1}}, ("unknown_field", ["/config/x"])),
        ({"mapping": "x"}, ("wrong_type", ["/mapping"])),
        ({"mapping": None}, ("required", ["/mapping"])),
        ({"mapping": {"idc": "a"}}, ("values_or_metric", ["/mapping/values"])),
        ({"secret_ref": "hunter2"}, ("invalid_secret_ref", ["/secret_ref"])),
        ({"failures": 3}, ("unknown_field", ["/failures"])),
        ({"code": ""}, ("required", ["/code"])),
    ],
)
def test_nonsense_is_refused(
    operator: Api, document: dict[str, Any], change: dict[str, Any], expected: tuple[str, list[str]]
) -> None:
    assert operator.refused("POST", "/sources/", document | change, status=400) == expected


def test_who_may_not_write_may_look(api: Callable[..., Api], operator: Api, document: dict[str, Any]) -> None:
    operator.post("/sources/", document, status=201)
    portal = api("portal")
    assert portal.get("/sources/loads/")["code"] == "loads"
    for method, path in (
        ("PATCH", "/sources/loads/"),
        ("POST", "/sources/loads/run/"),
        ("POST", "/sources/loads/test/"),
    ):
        portal.refused(method, path, {}, status=403)


def test_lists_take_a_steady_number_of_queries(
    operator: Api, document: dict[str, Any], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        operator.post("/sources/", document | {"code": f"loads-{number}"}, status=201)
    with django_assert_max_num_queries(8):
        assert operator.get("/sources/")["count"] == 5


def test_the_kinds_that_there_are_are_listed(operator: Api) -> None:
    listed = {each["kind"]: each for each in operator.get("/collectors/")["results"]}
    assert {"prometheus", "http_json", "csv", "sql", "zabbix"} == set(listed)
    assert listed["sql"]["description"].startswith("Asks a PostgreSQL")
    assert listed["prometheus"]["mapping"] == {"at": "at"}


OPEN: dict[str, tuple[dict[str, Any], str]] = {
    "a header for secrets": ({"headers": {"X-Token": "s3cret"}}, "/config/headers/X-Token"),
    "in capitals": ({"headers": {"X-API-KEY": "s3cret"}}, "/config/headers/X-API-KEY"),
    "written together": ({"headers": {"AccessToken": "s3cret"}}, "/config/headers/AccessToken"),
    "one word of several": ({"headers": {"X-ApiKey-Id": "s3cret"}}, "/config/headers/X-ApiKey-Id"),
    "a cookie": ({"headers": {"cookie": "sid=s3cret"}}, "/config/headers/cookie"),
    "the header that `auth` names": (
        {"headers": {"x-site": "s3cret"}, "auth": {"kind": "header", "name": "X-Site"}},
        "/config/headers/x-site",
    ),
    "a parameter for secrets": ({"url": "https://a.example/?site=1&key=s3cret"}, "/config/url"),
    "behind a semicolon": ({"url": "https://a.example/?site=1;key=s3cret"}, "/config/url"),
    "encoded": ({"url": "https://a.example/?%74oken=s3cret"}, "/config/url"),
    "the parameter that `auth` names": (
        {"url": "https://a.example/?site=s3cret", "auth": {"kind": "parameter", "name": "site"}},
        "/config/url",
    ),
}


@pytest.mark.parametrize("case", OPEN)
def test_no_secret_is_kept_where_everybody_reads_it(operator: Api, document: dict[str, Any], case: str) -> None:
    config, pointer = OPEN[case]
    operator.post("/sources/", document, status=201)
    changes = {"config": document["config"] | config}
    assert operator.refused("PATCH", "/sources/loads/", changes, status=400) == ("secret_in_config", [pointer])
    assert operator.get("/sources/loads/")["config"] == document["config"]


@pytest.mark.parametrize("kind", ["prometheus", "csv", "telepathy"])
def test_no_kind_keeps_one(operator: Api, document: dict[str, Any], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source with a secret in its address is refused, even if its kind has no check of its own."""
    monkeypatch.setitem(kinds().classes, "telepathy", Telepathy)  # type: ignore[index]
    config = {"url": "https://a.example/?key=s3cret"} | ({"query": "up"} if kind == "prometheus" else {})
    refused = operator.refused("POST", "/sources/", document | {"kind": kind, "config": config}, status=400)
    assert refused == ("secret_in_config", ["/config/url"])


def test_other_headers_and_parameters_are_kept(operator: Api, document: dict[str, Any]) -> None:
    config = {
        "url": "https://a.example/monkey/token?site=key&author=me&max_tokens=5",
        "headers": {"X-Scope-OrgID": "1", "User-Agent": "token", "X-Author": "me"},
        "auth": {"kind": "header", "name": "X-Token"},
    }
    made = operator.post("/sources/", document | {"config": config}, status=201)
    assert made["config"] == config
