"""The collector for Prometheus, against a real server that scrapes a real exporter."""

from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any

import pytest
from django.utils import timezone
from prometheus_client import CollectorRegistry, Gauge

from idcsched.inventory.models import Idc
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.services import source_create
from metrics_ingest.sources.collecting import source_collect
from metrics_ingest.sources.trying import source_try
from tests.outbound.peers import json_reply, loopback_allowed, peer
from tests.servers import Unavailable, prometheus

MAPPING = {
    "idc": "labels.site",
    "line": "labels.carrier",
    "values": {"bandwidth_mbps": {"value": "value", "scale": 8e-6}},
    "lines": {"blue": "cu"},
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A Prometheus that has scraped an exporter of three interfaces, one of an IDC that nobody knows."""
    registry = CollectorRegistry()
    speed = Gauge("if_octets_per_second", "Octets.", ["site", "carrier"], registry=registry)
    for labels, octets in ((("gz-01", "ct"), 25e6), (("gz-01", "blue"), 50e6), (("moon", "ct"), 1.0)):
        speed.labels(*labels).set(octets)
    Gauge("not_a_number", "NaN.", ["site"], registry=registry).labels("gz-01").set(float("nan"))
    try:
        with prometheus.exporting(registry) as found:
            yield found
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def source(idc: Idc, settings: Any, address: str) -> Iterator[Callable[..., Source]]:
    def make(mapping: dict[str, Any] = MAPPING, url: str = address, **config: Any) -> Source:
        settled = {"url": url, "query": "if_octets_per_second", **config}
        return source_create(code="prom", kind="prometheus", schedule="60", config=settled, mapping=mapping)

    with loopback_allowed(settings):
        yield make


def collected(source: Source) -> Run:
    run = source_collect(source_id=source.pk, clock=timezone.now)
    assert run is not None
    return run


def test_it_works(source: Callable[..., Source]) -> None:
    run = collected(source())
    assert (run.state, run.fetched, run.stored, run.unmatched) == ("succeeded", 3, 2, 1), run.error
    values = dict(Latest.objects.values_list("line__code", "value"))
    assert values == {"ct": 200.0, "cu": 400.0}
    assert run.unmatched_names == [{"idc": "moon", "line": "ct", "count": 1}]
    age = timezone.now() - Latest.objects.first().at
    assert -1 < age.total_seconds() < 600


def test_a_range_brings_what_was_missed(source: Callable[..., Source]) -> None:
    ranging = source(range={"seconds": 60, "step_seconds": 1})
    deadline = monotonic() + 200
    while (tried := source_try(source=ranging, now=timezone.now())).storable < 2 and monotonic() < deadline:
        sleep(0.5)  # the first scrape may be younger than the last whole second
    assert tried.error is None
    assert tried.storable >= 2
    assert {sample.value for sample in tried.samples} <= {200.0, 400.0}


def test_a_value_that_is_none_is_refused(source: Callable[..., Source]) -> None:
    mapping = {"idc": "labels.site", "values": {"cpu_load": "value"}}
    run = collected(source(mapping=mapping, query="not_a_number"))
    assert (run.error["code"], run.refusals[0]["code"]) == ("nothing_stored", "not_finite")


def test_an_expression_that_forgets_a_label_stores_no_guess(source: Callable[..., Source]) -> None:
    mapping = {"idc": "labels.site", "values": {"cpu_load": {"value": "value", "scale": 1e-9}}}
    run = collected(source(mapping=mapping, query='if_octets_per_second{site="gz-01"}'))
    assert run.refusals[0]["code"] == "ambiguous"
    assert not Latest.objects.exists()


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("rate(", "query_refused", "parse error"),
        ("1 + 1", "not_a_vector", "scalar"),
        ("no_such_metric", "nothing_found", ""),
    ],
)
def test_a_query_that_gives_nothing_says_why(source: Callable[..., Source], query: str, code: str, said: str) -> None:
    run = collected(source(query=query))
    assert (run.state, run.error["code"]) == ("failed", code)
    assert said in str(run.error)


@pytest.mark.parametrize(
    "document", [{}, [], {"status": "success"}, {"status": "success", "data": {"resultType": "vector", "result": [7]}}]
)
def test_what_is_no_answer_of_prometheus_is_refused(source: Callable[..., Source], document: Any) -> None:
    with peer(json_reply(document)) as server:
        run = collected(source(url=f"http://127.0.0.1:{server.server_address[1]}"))
    assert run.error["code"] in {"bad_reply", "query_refused"}
