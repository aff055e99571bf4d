"""The sources in the console: their health with the real error, a test that stores nothing, and a run by hand."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.audit.models import Change
from idcsched.inventory.models import Region, RegionScope
from idcsched.inventory.services import region_create
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.services import Sample, samples_store
from metrics_ingest.sources.collecting import source_collect
from tests.console.conftest import Browser
from tests.metrics_ingest.conftest import idc, loopback, make_source  # noqa: F401 - fixtures
from tests.outbound.peers import closed_port, json_reply, peer

LIST = "/console/sources/"
PAGE = f"{LIST}loads/"
MakeSource = Callable[..., Source]
MIXED = [{"site": "gz-01", "cpu": 0.5}, {"site": "gz-01", "cpu": "<b>x</b>"}, {"site": "moon", "cpu": 1}]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The messages to the workers, which are not sent: a test passes them on itself."""
    messages: list[dict[str, Any]] = []

    def announce(task: str, source_id: int, *, expires: float, **named: Any) -> None:
        messages.append({"source_id": source_id, **named})

    monkeypatch.setattr("metrics_ingest.sources.periodic.announce", announce)
    return messages


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def fail(source: Source, times: int) -> None:
    for number in range(times):
        later = timezone.now() - timedelta(hours=times - number)
        Source.objects.update(due_at=later)
        source_collect(source_id=source.pk, clock=partial(lambda at: at, later))


def test_it_works(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    client = browser("operator")
    with peer(json_reply(MIXED)) as server:
        source = make_source(server.url)
        assert "It has not been asked yet." in text(client.get(PAGE))
        page = text(client.post(PAGE, {"do": "test"}))
        assert "3 fetched, 1 would be stored, 1 refused, 1 under names that match no IDC or line" in page
        assert "this is no number: &lt;b&gt;x&lt;/b&gt;" in page
        assert not Latest.objects.exists()
        assert not Run.objects.exists()
        source_collect(source_id=source.pk, clock=timezone.now)
    page = text(client.get(PAGE))
    assert "<strong>moon</strong>" in page
    assert "succeeded" in page
    assert '<strong>cpu_load</strong> <span class="quiet">CPU load</span>' in page
    assert "answering" in text(client.get(LIST))


def test_a_source_that_is_left_to_rest_is_asked_all_the_same(
    browser: Browser,
    make_source: MakeSource,  # noqa: F811
    sent: list[dict[str, Any]],
) -> None:
    source, client = make_source(f"http://127.0.0.1:{closed_port()}/"), browser("operator")
    fail(source, 4)
    assert text(client.get(LIST)).count("not asked again just now") == 1
    assert "failed 4 × in a row" in text(client.get(LIST))
    page = text(client.post(PAGE, {"do": "test"}))
    assert 'role="alert">http://127.0.0.1' in page
    assert "Connection refused" in page

    assert "its run appears below" in text(client.post(PAGE, {"do": "run"}, follow=True))
    (message,) = sent
    run = source_collect(clock=timezone.now, **message)
    assert run is not None
    page = text(client.get(PAGE))
    assert "failed 5 × in a row" in page
    assert page.index("Connection refused") < page.index("not asked again just now")


def test_a_source_that_is_off_is_tested_and_not_run(
    browser: Browser,
    make_source: MakeSource,  # noqa: F811
    sent: list[dict[str, Any]],
) -> None:
    make_source(enabled=False)
    client = browser("operator")
    assert "switched off" in text(client.get(LIST))
    answer = client.post(PAGE, {"do": "run"})
    assert answer.status_code == 409
    assert "the source is switched off" in text(answer)
    assert not sent
    assert client.post(PAGE, {"do": "test"}).status_code == 200


def test_those_who_may_not_write_sources_look_only(
    browser: Browser,
    client: Client,
    make_source: MakeSource,  # noqa: F811
    sent: list[dict[str, Any]],
) -> None:
    make_source()
    region_create(code="B")
    scoped = browser("operator")
    RegionScope.objects.create(user=User.objects.get(username="operator"), region=Region.objects.get(code="B"))
    for somebody in (browser("viewer"), scoped):
        assert "Run now" not in text(somebody.get(PAGE))
        for do in ("run", "test"):
            answer = somebody.post(PAGE, {"do": do})
            assert answer.status_code == 409
            assert 'role="alert"' in text(answer)
    assert not sent
    assert client.get(PAGE).status_code == 302
    Source.objects.update(regions=["B"])
    assert "Run now" in text(scoped.get(PAGE))
    assert scoped.get(f"{LIST}nonsense/").status_code == 404


def test_stale_values_are_counted_by_metric(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    make_source()
    now = timezone.now()
    samples_store(samples=[Sample(idc="gz-01", metric="cpu_load", value=0.5, at=now)], now=now)
    answer: Any = browser("viewer").get(PAGE)
    (row,) = answer.context["metrics"]
    assert (row["metric"].code, row["count"], row["stale"]) == ("cpu_load", 1, 0)
    Latest.objects.update(at=now - timedelta(days=9))
    answer = browser("viewer").get(PAGE)
    assert answer.context["metrics"][0]["stale"] == 1


def test_it_takes_a_bounded_number_of_queries(
    browser: Browser,
    make_source: MakeSource,  # noqa: F811
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    for number in range(10):
        source = make_source(code=f"loads-{number}", enabled=True)
        fail(source, 1)
    client = browser("operator")
    with django_assert_max_num_queries(9):
        client.get(LIST)
    with django_assert_max_num_queries(11):
        client.get(f"{LIST}loads-1/")
    assert not Change.objects.filter(via="console").exists()
