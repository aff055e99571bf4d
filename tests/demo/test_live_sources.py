"""The running demo is measured by sources of its own, which ask its web server."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from idcsched.demo.source import measured_now, samples_at, slot_start
from idcsched.demo.sources import sources_point_to
from idcsched.demo.traffic import slot_of
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.sources.collecting import source_collect
from tests.outbound.peers import Exchange, Peer, json_reply, loopback_allowed, peer


def measurements(exchange: Exchange) -> None:
    json_reply(measured_now(timezone.now(), {}))(exchange)


@pytest.fixture
def server(settings: Any) -> Iterator[Peer]:
    """A server that answers as the demo's web server does at the address of measurements."""
    with loopback_allowed(settings), peer(measurements) as found:
        yield found


def address(server: Peer) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


@pytest.mark.usefixtures("db")
def test_it_works(loaded: datetime, server: Peer) -> None:
    sources_point_to(address(server))
    for source in Source.objects.all():
        assert source_collect(source_id=source.pk, clock=timezone.now)
    runs = {run.source.code: run for run in Run.objects.select_related("source")}
    assert {code: run.state for code, run in runs.items()} == {"demo-lines": "succeeded", "demo-sites": "succeeded"}
    assert {run.refused + run.unmatched for run in runs.values()} == {0}
    assert runs["demo-lines"].stored == 68
    newest = Latest.objects.filter(metric__code="bandwidth_mbps", line__isnull=False)
    assert {run.started_at for run in runs.values()} >= {row.at for row in newest}
    assert server.calls == ["/demo/measurements/"] * 2


@pytest.mark.usefixtures("db")
def test_they_ask_where_the_server_listens_this_time(loaded: datetime, server: Peer) -> None:
    sources_point_to("http://127.0.0.1:1")
    Source.objects.update(enabled=False, schedule="600")
    sources_point_to(address(server))
    sources = Source.objects.all()
    assert {source.config["url"] for source in sources} == {f"{address(server)}/demo/measurements/"}
    assert {(source.enabled, source.schedule) for source in sources} == {(False, "600")}


def test_water_levels_move_between_five_minutes() -> None:
    start = slot_start(slot_of(datetime(2031, 5, 7, 12, tzinfo=UTC).timestamp()))
    levels = [measured_now(start + timedelta(seconds=seconds), {})["lines"][0]["out_mbps"] for seconds in (0, 150, 300)]
    (first, *_), (last, *_) = list(samples_at(start, {})), list(samples_at(start + timedelta(minutes=5), {}))
    assert levels[0] == first.value
    assert levels[2] == last.value
    assert min(levels[0], levels[2]) <= levels[1] <= max(levels[0], levels[2])
