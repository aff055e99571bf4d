"""An installation on PostgreSQL and a Redis of its own that asks sources, with many lines to be measured."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg2

from idcsched.demo.processes import Child, stop
from tests.e2e.installation import Installation
from tests.outbound.peers import Behaviour, Exchange, Peer, json_reply
from tests.servers import redis

__all__ = ["LINES", "Collecting", "collecting", "measured", "waiting_first"]

IDCS, LINES_EACH = 20, 100
LINES = IDCS * LINES_EACH
CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
WORLD = f"""
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create
region_create(code="A")
isp = isp_create(code="ct")
for idc in range({IDCS}):
    row = idc_create(code=f"i{{idc}}", region="A")
    Line.objects.bulk_create(Line(idc=row, code=f"l{{n}}", isp=isp, purchased_mbps=10_000) for n in range({LINES_EACH}))
"""
SOURCE = """
from metrics_ingest.services import source_create
source_create(
    code="{code}", kind="http_json", schedule="{schedule}", config={{"url": "{url}", "timeout_seconds": {timeout}}},
    mapping={{"idc": "i", "line": "l", "values": {{"bandwidth_mbps": "v"}}}},
)
"""


class Collecting:
    """An installation with its database and broker, which sources are added to."""

    def __init__(self, installation: Installation, broker: redis.Server, database: Any) -> None:
        self.installation, self.broker, self._database = installation, broker, database

    def source(self, code: str, server: Peer, *, schedule: int = 5, timeout: float = 3) -> None:
        """Create a source that asks the server's `/{code}` for the bandwidth of all lines."""
        url = f"http://127.0.0.1:{server.server_address[1]}/{code}"
        self.installation.python(SOURCE.format(code=code, url=url, schedule=schedule, timeout=timeout))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._database.cursor() as cursor:
            cursor.execute(sql)
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found

    def do(self, sql: str) -> None:
        with self._database.cursor() as cursor:
            cursor.execute(sql)

    @contextmanager
    def running(self, name: str, *options: str) -> Iterator[Child]:
        """A worker or a beat, stopped at the end if it still runs."""
        child = self.start(name, *options)
        try:
            yield child
        finally:
            stop(child, grace=20)

    @contextmanager
    def kept_running(self, name: str, *options: str) -> Iterator[Callable[[], bool]]:
        """Run a process; each call of the returned function starts it again if it has ended, as compose does."""
        children = [self.start(name, *options)]

        def kept() -> bool:
            if not children[-1].running:
                children.append(self.start(name, *options))
            return True

        try:
            yield kept
        finally:
            stop(children[-1], grace=20)

    def start(self, name: str, *options: str) -> Child:
        return self.installation.start(name, *CELERY, name, *options)

    def check(self) -> None:
        """Nothing is half stored, nothing is counted twice, no source was asked by two at once."""
        newest = self.rows("SELECT DISTINCT at FROM metrics_ingest_latest")
        said = self.rows("SELECT max(started_at) FROM metrics_ingest_run WHERE state = 'succeeded'")
        assert newest == [row for row in said if row[0]], "the latest values are those of the last run that succeeded"
        days = 'SELECT day, count(DISTINCT "values"), count(*) FROM metrics_ingest_sampleday GROUP BY day'
        assert all(row[1:] == (1, LINES) for row in self.rows(days)), "every line has the history of every other"
        assert not self.rows(DIFFERENT), "each source's figures are the sums over its runs"
        assert not self.rows(AT_ONCE), "a source was asked by two at once"
        assert not self.rows(UNCLAIMED), "a run goes on that holds no claim"


DIFFERENT = """
    SELECT source.code FROM metrics_ingest_source AS source
    LEFT JOIN metrics_ingest_run AS run ON run.source_id = source.id GROUP BY source.id
    HAVING source.runs_total <> count(run.id) OR source.samples_stored <> coalesce(sum(run.stored), 0)
    OR source.runs_failed <> count(run.id) FILTER (WHERE run.state IN ('failed', 'lost'))
"""
AT_ONCE = """
    SELECT one.id, other.id FROM metrics_ingest_run AS one JOIN metrics_ingest_run AS other
    ON one.source_id = other.source_id AND one.id < other.id AND one.finished_at > other.started_at
"""
UNCLAIMED = """
    SELECT run.id FROM metrics_ingest_run AS run JOIN metrics_ingest_source AS source ON source.id = run.source_id
    WHERE run.state = 'running' AND source.claim IS DISTINCT FROM run.claim
"""


@contextmanager
def collecting(folder: Path, postgresql_server: str) -> Iterator[Collecting]:
    """An installation with neither sources nor processes."""
    name = f"collecting_{uuid4().hex}"
    with closing(psycopg2.connect(postgresql_server)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
    url = urlunsplit(urlsplit(postgresql_server)._replace(path=f"/{name}"))
    with redis.restartable() as broker, closing(psycopg2.connect(url)) as database:
        database.autocommit = True
        variables = {"DATABASE_URL": url, "REDIS_URL": f"{broker.url}/0", "OUTBOUND_HOSTS": "127.0.0.0/8"}
        installation = Installation(folder, **variables)
        installation.manage("migrate", "--verbosity", "0")
        installation.python(WORLD)
        yield Collecting(installation, broker, database)


def measured(exchange: Exchange) -> None:
    """Answer with a value for all lines, the same for each: how many times the server was asked."""
    value = len(exchange.server.calls)
    json_reply([{"i": f"i{i}", "l": f"l{n}", "v": value} for i in range(IDCS) for n in range(LINES_EACH)])(exchange)


def waiting_first(seconds: float) -> Behaviour:
    """Return a behaviour that waits and then answers as `measured`."""

    def behave(exchange: Exchange) -> None:
        exchange.wait(seconds)
        measured(exchange)

    return behave
