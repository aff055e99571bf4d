"""Sources go on being measured, with nothing lost and nothing doubled, when workers are killed, Redis is flushed, beat
stops or a source answers slowly.
"""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import pytest
from redis import Redis

from idcsched.demo.processes import Child
from tests.e2e.collecting import LINES, Collecting, collecting, measured, waiting_first
from tests.e2e.installation import wait_for
from tests.outbound.peers import Exchange, Peer, drip, peer

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

WORKER = ("worker", "--concurrency", "2")
BEAT = ("beat", "--pidfile=")
RUNS = (
    "SELECT source.code, run.state, run.started_at FROM metrics_ingest_run AS run JOIN metrics_ingest_source AS source"
)
RUNS += " ON source.id = run.source_id ORDER BY run.id"
SWEEP = "from metrics_ingest.tasks import sources_sweep; sources_sweep.apply()"
TIME_IS_OVER = "UPDATE metrics_ingest_source SET claimed_until = now() - interval '1 second' WHERE claim IS NOT NULL"
AN_HOUR_AGO = (
    "UPDATE django_celery_beat_periodictask SET last_run_at = last_run_at - interval '1 hour'",
    "UPDATE metrics_ingest_source SET due_at = due_at - interval '1 hour', started_at = started_at - interval '1 hour'",
)
ANNOUNCEMENTS = """
from metrics_ingest.models import Source
from metrics_ingest.sources.periodic import source_announce
for source in Source.objects.all():
    for _ in range(20):
        source_announce(source.pk)
"""


@pytest.fixture
def house(tmp_path: Path, postgresql_server: str) -> Iterator[Collecting]:
    with collecting(tmp_path, postgresql_server) as made:
        yield made


@pytest.fixture
def server() -> Iterator[Peer]:
    with peer(measured) as found:
        yield found


def states(house: Collecting, code: str) -> Counter[str]:
    return Counter(state for source, state, _ in house.rows(RUNS) if source == code)


def killed(child: Child) -> None:
    os.killpg(child.process.pid, signal.SIGKILL)
    child.process.wait()


def test_a_worker_killed_in_the_middle_of_a_run(house: Collecting, server: Peer) -> None:
    """A worker is killed at five random moments: the source is being asked, its answer is being stored, or just was."""
    seed = int.from_bytes(os.urandom(2))
    moments = Random(seed)
    server.behave = waiting_first(0.2)
    house.source("lines", server)
    with house.running(*BEAT):
        for turn in range(5):
            asked = len(server.calls)
            worker = house.start(*WORKER)
            wait_for(lambda asked=asked: len(server.calls) > asked, f"the source to be asked, turn {turn}", seconds=40)
            sleep(moments.uniform(0, 0.5))
            killed(worker)
            house.do(TIME_IS_OVER)
            house.installation.python(SWEEP)
            house.check()
        before = states(house, "lines")["succeeded"]
        with house.running(*WORKER):
            wait_for(lambda: states(house, "lines")["succeeded"] > before + 1, "it to go on", seconds=40)
    house.check()
    found = states(house, "lines")
    assert found["lost"], f"no kill hit a run: {found}, seed {seed}"
    assert not found["failed"]


def test_redis_flushed_and_restarted_under_load(house: Collecting, server: Peer) -> None:
    codes = [f"s{number}" for number in range(4)]
    for code in codes:
        house.source(code, server)
    with house.kept_running(*WORKER) as kept, house.running(*BEAT) as beat:
        wait_for(
            lambda: kept() and all(states(house, code)["succeeded"] for code in codes), "all to be asked", seconds=60
        )
        for turn in range(20):
            if turn % 10 == 5:
                house.broker.stop()
                sleep(3)
                house.broker.start()
            with Redis.from_url(house.broker.url) as client:
                client.flushall()
            sleep(0.7)
            kept()  # Celery gives up for good where Redis goes away under an acknowledgement
        before = {code: states(house, code)["succeeded"] for code in codes}
        wait_for(
            lambda: kept() and all(states(house, code)["succeeded"] > before[code] + 1 for code in codes),
            "all again",
            seconds=120,
        )
        assert beat.running, beat.last_words()
    house.check()
    assert {state for _, state, _ in house.rows(RUNS)} == {"succeeded"}
    assert max(gaps(house)) < timedelta(seconds=60), "what no message announces, the sweep finds"


def gaps(house: Collecting) -> list[timedelta]:
    """The times between the runs of each source."""
    begun: dict[str, Any] = {}
    found = []
    for code, _, at in house.rows(RUNS):
        found += [at - begun[code]] if code in begun else []
        begun[code] = at
    return found


def test_an_hour_without_beat_is_one_run_a_source(house: Collecting, server: Peer) -> None:
    """After an hour without beat, and with twenty messages for each source in the queue, each source is asked once."""
    codes = [f"s{number}" for number in range(3)]
    for code in codes:
        house.source(code, server, schedule=120)
    with house.running(*WORKER), house.running(*BEAT):
        wait_for(lambda: all(states(house, code)["succeeded"] for code in codes), "all to be asked", seconds=60)
    for statement in AN_HOUR_AGO:
        house.do(statement)
    house.installation.python(ANNOUNCEMENTS)
    server.calls.clear()
    with house.running(*WORKER), house.running(*BEAT):
        wait_for(lambda: set(server.calls) == {f"/{code}" for code in codes}, "all again", seconds=60)
        sleep(30)  # the sweep has passed by then
    assert sorted(server.calls) == [f"/{code}" for code in codes]
    house.check()


def test_a_source_that_drips_delays_no_other(house: Collecting, server: Peer) -> None:
    def behave(exchange: Exchange) -> None:
        (drip if exchange.path == "/slow" else measured)(exchange)

    server.behave = behave
    house.source("slow", server, timeout=20)
    with house.running(*WORKER), house.running(*BEAT):
        wait_for(lambda: "/slow" in server.calls, "the slow one to be asked", seconds=60)
        house.source("quick", server)
        wait_for(lambda: states(house, "slow")["failed"] > 1, "the slow one to have had its time, twice", seconds=90)
    quick = [at for code, _, at in house.rows(RUNS) if code == "quick"]
    assert max(later - earlier for earlier, later in pairwise(quick)) < timedelta(seconds=10)
    assert len(quick) > 4
    assert states(house, "quick") == {"succeeded": len(quick)}
    house.check()
    stored = house.rows("SELECT samples_stored FROM metrics_ingest_source WHERE code = 'quick'")
    assert stored == [(LINES * len(quick),)]
