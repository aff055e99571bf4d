"""Many portals, several web processes that are killed, connections that are dropped: nothing is ever oversold.

Beside the database's own constraint an auditor reads the log of events alone, in the order of their commits.
"""

import os
import random
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event
from time import monotonic, sleep, time
from urllib.error import URLError
from urllib.request import urlopen
from uuid import UUID

import psycopg2
import pytest

from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.crowd import Answer, Portal
from tests.e2e.event_log import Book, at_one_moment, in_order_of_commit, rows_of, told_apart
from tests.e2e.installation import Installation, wait_for
from tests.e2e.refusals import Auditor
from tests.servers import free_port
from tests.servers.postgresql import FAST, running

pytestmark = pytest.mark.long

IDCS, FEWER = 20, 5
LIMITS = {"bandwidth_mbps": 900.0, "cpu": 20.0}
THREADS = 8
DROPPED = 3
"""Connections that break at once; each may be that of all threads of a web process."""
FLEET = """
from django.utils import timezone
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
region_create(code="A"); isp_create(code="ct")
codes = {idcs}
for code in codes:
    idc_create(code=code, region="A", stock_cpu={cpu}, lines=[{{"isp": "ct", "purchased_mbps": 1000}}])
now = timezone.now()
samples_store(samples=[Sample(idc=c, line="ct", metric="bandwidth_mbps", value=0, at=now) for c in codes], now=now)
entries = [{{"name": name, "plugin": name}} for name in ("available", "network_flow", "resource")]
entries[1] |= {{"weight": 1, "on_missing": "last"}}
profile_create(code="plain", body={{"plugins": entries, "pick": {{"kind": "near_best", "epsilon": 30}}}})
tenant = tenant_create(code="crowd", default_profile="plain")
print(token_issue(user=user_create(username="portal", role="portal", tenant=tenant), name="t").text)
"""
SWEEP = """
import time
from django.db import Error, close_old_connections
from django.utils import timezone
from idcsched.placement.services import placements_expire, waiting_try
while True:
    try:
        placements_expire(now=timezone.now()); waiting_try(now=timezone.now())
    except Error as error:
        print("swept in vain:", error)
    close_old_connections()
    time.sleep(0.3)
"""


class Town:
    """The web processes and the sweepers of one installation, any of which may die."""

    def __init__(self, installation: Installation, idcs: Sequence[str], *, webs: int) -> None:
        installation.environment["WEB_THREADS"] = str(THREADS)
        self.idcs = idcs
        self.installation, self.ports = installation, [free_port() for _ in range(webs)]
        self.webs = {port: self._web(port) for port in self.ports}
        self.sweepers = [self._sweeper() for _ in range(2)]
        self.killed = self.dropped = 0
        self.deaths: dict[int, list[float]] = defaultdict(list)

    def ready(self) -> None:
        for port in self.ports:
            wait_for(lambda port=port: _answers(port), f"port {port}", seconds=60)  # type: ignore[misc]

    def kill(self, chance: random.Random) -> None:
        """Kill a web process or a sweeper by SIGKILL, and start another in its place."""
        self.killed += 1
        if chance.random() < 0.2:
            _kill(self.sweepers.pop())
            self.sweepers.append(self._sweeper())
            return
        port = chance.choice(self.ports)
        self.deaths[port].append(time())
        _kill(self.webs[port])
        self.webs[port] = self._web(port)

    def stop(self) -> None:
        stop(*self.webs.values(), *self.sweepers)

    def _web(self, port: int) -> Child:
        return self.installation.start(f"web-{port}", *web_command(port=port))

    def _sweeper(self) -> Child:
        return self.installation.start("sweeper", sys.executable, "manage.py", "shell", "--command", SWEEP)


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health/ready/", timeout=5) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def _kill(child: Child) -> None:
    """Kill the process and all that it has started."""
    os.killpg(child.process.pid, signal.SIGKILL)
    child.process.wait()


@contextmanager
def town(folder: Path, *, webs: int, idcs: int, **settings: str) -> Iterator[tuple[Town, str]]:
    installation = Installation(folder, THROTTLE="off", RECORD_INPUTS="0", **settings)
    installation.manage("migrate", "--verbosity", "0")
    codes = [f"idc{number:02}" for number in range(idcs)]
    token = installation.python(FLEET.format(idcs=codes, cpu=LIMITS["cpu"])).splitlines()[-1]
    found = Town(installation, codes, webs=webs)
    try:
        found.ready()
        yield found, token
    finally:
        found.stop()


def hammer(found: Town, token: str, url: str, *, clients: int, seconds: float, seed: int) -> list[Answer]:
    """Return what portals were answered while processes were killed and connections cut; audit the database, too."""
    over, chance = Event(), random.Random(seed)
    portals = [Portal(found.ports, token, random.Random(seed + number)) for number in range(clients)]
    with ThreadPoolExecutor(clients) as pool:
        work = [pool.submit(portal.work, over) for portal in portals]
        try:
            until = monotonic() + seconds
            while monotonic() < until:
                sleep(chance.uniform(0.5, 1.5))
                audit_moment(url)
                if url.startswith("postgresql"):
                    drop_connections(url, chance)
                    found.dropped += DROPPED
                if chance.random() < 0.3:
                    found.kill(chance)
        finally:
            over.set()
        for each in work:
            each.result()
    return [answer for portal in portals for answer in portal.answers]


def drop_connections(url: str, chance: random.Random) -> None:
    """Cut some of the database's connections, chosen at random."""
    with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() ORDER BY md5(pid::text || %s) LIMIT %s) AS unlucky",
            [str(chance.random()), DROPPED],
        )


def audit_moment(url: str) -> Book:
    """Assert for one moment that no limit is exceeded and that log and ledger agree; return the log's book."""
    with at_one_moment(url) as cursor:
        events = in_order_of_commit(cursor, postgresql=url.startswith("postgresql"))
        ledger = rows_of(cursor)
    book = Book(LIMITS).read(events)
    assert not book.complaints, book.complaints[:5]
    assert not told_apart(book, ledger)
    return book


def check_answers(answers: Sequence[Answer], book: Book, stored: Mapping[str, set[str]]) -> None:
    """Every answer says what is stored, and every refusal has stored nothing."""
    for answer in answers:
        for told in answer.placements:
            states = book.states[told["id"]]
            assert states[told["version"] - 1] == told["state"], (answer, states)
            if told["idc"] is not None and answer.what not in {"confirm", "release"}:
                assert book.places[told["id"]] == told["idc"]
        if answer.request_id:
            _check_stored(answer, stored[answer.request_id])


def _check_stored(answer: Answer, stored: set[str]) -> None:
    told = {each["id"] for each in answer.placements}
    if not answer.settled or answer.what == "recommend":
        assert len(stored) in {0, answer.wanted}, (answer, stored)
    else:
        assert told <= stored, answer
        assert len(stored) == (answer.wanted if told else 0), (answer, stored)


def stored_by_request(url: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    with at_one_moment(url) as cursor:
        cursor.execute("SELECT request_id, id FROM placement_placement")
        for request_id, placement in cursor.fetchall():
            found[request_id].add(str(UUID(str(placement))))
    return found


def check_in_the_end(found: Town, url: str, answers: Sequence[Answer]) -> None:
    book = audit_moment(url)
    print(Counter((answer.what, answer.status, answer.code) for answer in answers), f"{found.killed} killed")
    check_answers(answers, book, stored_by_request(url))
    untrue = Auditor(book, found.idcs, found.deaths).complaints(answers)
    for answer in untrue:
        print("UNTRUE", answer, "deaths", found.deaths[answer.port])
    assert not untrue, f"{len(untrue)} untrue answers, printed above"
    away = sum(answer.status == 503 for answer in answers)
    assert away <= found.dropped * THREADS, f"{away} were told that the database is away"
    assert found.installation.manage("ledger_audit").strip() == "The ledger agrees with the placements."
    fullest = max(amount / LIMITS[what] for (_, _, what), amount in book.most.items())
    assert fullest > 0.9, "nobody came near a limit: nothing was tried"


@pytest.mark.timeout(300)
@pytest.mark.usefixtures(
    "postgresql_server"
)  # skips where there is none; what it starts can't be asked for commit times
def test_it_works(tmp_path: Path) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(running({**FAST, "track_commit_timestamp": "on", "max_connections": "200"}))
        found, token = stack.enter_context(town(tmp_path, webs=4, idcs=IDCS, DATABASE_URL=url))
        answers = hammer(found, token, url, clients=64, seconds=60, seed=1)
        sleep(2)
        assert Counter(answer.status for answer in answers)[201] > 300
        assert found.killed >= 3  # a slow machine brings fewer about in the same time
        check_in_the_end(found, url, answers)


@pytest.mark.promise
@pytest.mark.timeout(600)
def test_smaller_on_sqlite(tmp_path: Path) -> None:
    with town(tmp_path, webs=2, idcs=FEWER) as (found, token):
        url = f"sqlite:///{found.installation.database}"
        answers = hammer(found, token, url, clients=8, seconds=20, seed=2)
        sleep(2)
        assert Counter(answer.status for answer in answers)[201] > 20
        check_in_the_end(found, url, answers)
