"""Samples to latest values and history, beside a bare COPY and merge into the same tables; and roll-ups in time."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from itertools import count
from time import monotonic, sleep
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import psycopg2

from bench.peers.copy_merge import LINES, METRICS, SLOTS, CopyMerge
from bench.row import Row, Sides, Workshop
from idcsched.demo.processes import start, stop
from idcsched.demo.supervisor import web_command
from tests.servers import free_port, postgresql, scratch_folder

SLOT_SECONDS = 300
SAMPLES = 100_000
DAYS_AGO = {"push": 4, "http": 3, "collect": 2}


class Ingesting:
    """Our side, and a connection to the same database for the other."""

    def __init__(self, program: Any, url: str) -> None:
        self._program, self.url = program, url

    def does(self, word: str, slot: int) -> float:
        """The seconds that it took."""
        print(word, slot, file=self._program.stdin, flush=True)
        said = self._program.stdout.readline()
        if not said:
            raise RuntimeError(f"our side ended while it was to {word}")
        return float(said)


@contextmanager
def ingesting() -> Iterator[Ingesting]:
    """On a PostgreSQL with its safety on, and a web server of one worker."""
    with postgresql.running({}) as url, scratch_folder() as folder:
        port = free_port()
        environment = os.environ | {
            "DATABASE_URL": url,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "idcsched.settings",
            "THROTTLE": "off",
        }
        command = [sys.executable, "-m", "bench.peers.ingesting", str(port)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as program:
            try:
                assert program.stdout is not None
                if not program.stdout.readline().startswith("ready"):
                    raise RuntimeError("our side did not start")
                server = start("web", web_command(port=port), log=folder / "web.log", environment=environment)
                try:
                    _wait(port)
                    yield Ingesting(program, url)
                finally:
                    stop(server)
            finally:
                program.kill()


def _wait(port: int) -> None:
    until = monotonic() + 60
    while monotonic() < until:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health/live/", timeout=5) as response:
                if response.status == HTTPStatus.OK:
                    return
        except (URLError, OSError):
            sleep(0.1)
    raise RuntimeError("the web server does not answer")


def beside_copy(word: str, workshop: Workshop) -> Sides:
    """Both take turns over one day's slots, so that each finds rows to change and brings newer values."""
    ours = workshop.shared(ingesting)
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS_AGO[word])
    at_once = word == "collect"
    metrics = [f"m{number}" for number in range(METRICS)] if at_once else ["bandwidth_mbps"]
    bare = CopyMerge(psycopg2.connect(ours.url), metrics, midnight.timestamp())
    slots = count(step=1 if at_once else SLOTS)

    def theirs() -> float:
        first = next(slots)
        return SAMPLES / sum(bare.store(first + later) for later in range(1 if at_once else SLOTS))

    return Sides(lambda: SAMPLES / ours.does(word, next(slots)), theirs)


def rolled_up(workshop: Workshop) -> Sides:
    """A tenth of the five minutes after which it is due again."""
    ours, slots = workshop.shared(ingesting), count()
    ours.does("history", 0)
    return Sides(lambda: ours.does("refresh", next(slots)), SLOT_SECONDS / 10)


ROWS = (
    Row(
        name="ingest",
        title=f"100,000 samples, pushed {LINES:,} at a time, beside a bare COPY and merge",
        unit="/s",
        better="more",
        set_up=partial(beside_copy, "push"),
    ),
    Row(
        name="ingest_http",
        title="… through the API, one worker",
        unit="/s",
        better="more",
        set_up=partial(beside_copy, "http"),
    ),
    Row(
        name="ingest_collect",
        title="100,000 samples of one time, as a collector brings them",
        unit="/s",
        better="more",
        set_up=partial(beside_copy, "collect"),
    ),
    Row(
        name="ingest_rollups_10k_s",
        title="roll-ups of 10,000 lines for one new slot, beside a tenth of the slot's time",
        unit="s",
        set_up=rolled_up,
    ),
)
