"""The web server holds out: idle connections, workers that die, a database that hangs, orders that are sent once only.

Each of these is known to fail; whoever mends it takes its mark away.
"""

import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from statistics import median
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import psycopg2
import pytest

from bench.processes import family
from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, wait_for
from tests.servers import free_port, postgresql

pytestmark = [pytest.mark.long, pytest.mark.timeout(100)]

IDLE = 2_000
ALIVE_WITHIN = 5.0
BACK_WITHIN = 15.0
REFUSED_WITHIN = 10.0
DEAREST = 1.2
ROUNDS, ROUND_SECONDS, CLIENTS = 5, 1.5, 16

SITE = """
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, region_create
tenant_create(code="shop")
region_create(code="A")
idc_create(code="a", region="A", stock_cpu=1e9)
user = user_create(username="root", role="admin")
print(token_issue(user=user, name="test", tenant="shop").text)
"""
ASKED = {"region": "A", "machines": [{"count": 1, "cpu": 1}]}
ORDERED = {**ASKED, "action": "reserve"}


Site = tuple[Installation, str]
"""An installation with an IDC that has room, and the token of somebody who orders there."""


class Unanswered(AssertionError):
    """The web server did not answer as it should: what these tests are known to fail with."""


class Web:
    """A running web server of the site."""

    def __init__(self, child: Child, port: int, token: str) -> None:
        self.child, self.port, self.token = child, port, token

    def ask(self, method: str, path: str, body: Any = None, *, within: float = 30, **headers: str) -> int:
        """The status of the answer; raises Unanswered where none comes within so many seconds."""
        began = monotonic()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=within)) as connection:
            try:
                connection.request(method, path, None if body is None else json.dumps(body).encode(), sent)
                response = connection.getresponse()
                response.read()
            except (OSError, HTTPException) as error:
                after = monotonic() - began
                raise Unanswered(f"{method} {path}: {type(error).__name__} after {after:.1f} s") from error
            return response.status

    @property
    def alive(self) -> bool:
        with suppress(Unanswered):
            return self.ask("GET", "/health/live/", within=2) == 200
        return False

    @property
    def workers(self) -> list[int]:
        """The processes that the server has started, oldest first."""
        return sorted(pid for pid in family(self.child.process.pid) if pid != self.child.process.pid)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of a PostgreSQL server that nobody else asks."""
    with postgresql.running() as url:
        yield url


@pytest.fixture(scope="module")
def site(database: str, tmp_path_factory: pytest.TempPathFactory) -> Site:
    found = Installation(tmp_path_factory.mktemp("strained"), DATABASE_URL=database)
    found.migrate()
    return found, found.python(SITE)


@pytest.fixture(scope="module")
def web(site: Site) -> Iterator[Web]:
    with serving(site) as found:
        yield found


@contextmanager
def serving(site: Site) -> Iterator[Web]:
    """A web server as `make run` starts it."""
    (installation, token), port = site, free_port()
    child = installation.start("web", *web_command(port=port, workers=1))
    web = Web(child, port, token)
    try:
        wait_for(lambda: web.alive or not child.running, "the web server", seconds=60)
        assert child.running, child.last_words()
        assert web.ask("POST", "/api/v1/schedule/", ASKED) == 200
        yield web
    finally:
        pids = list(family(child.process.pid))
        stop(child)
        for pid in pids:
            with suppress(ProcessLookupError):  # as it should be
                os.kill(pid, signal.SIGKILL)


@contextmanager
def frozen(url: str) -> Iterator[None]:
    """The database server does nothing meanwhile, and its connections stay as they are."""
    with closing(psycopg2.connect(url)) as connection:
        backend = Path(f"/proc/{connection.info.backend_pid}/status").read_text(encoding="ascii")
    (server,) = (int(line.split()[1]) for line in backend.splitlines() if line.startswith("PPid:"))
    pids = list(family(server))
    for pid in pids:
        with suppress(ProcessLookupError):  # a session that has just ended
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process may hold so many connections."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    setrlimit(RLIMIT_NOFILE, (max(soft, 2 * IDLE), hard))
    yield
    setrlimit(RLIMIT_NOFILE, (soft, hard))


@pytest.mark.xfail(
    strict=True, raises=Unanswered, reason="who connects and sends nothing is waited for as long as they like"
)
def test_idle_connections_keep_nobody_out(web: Web, many_files: None) -> None:
    with ExitStack() as idle:
        for _ in range(IDLE):
            with suppress(OSError):  # the server may refuse them, or cut them off
                idle.enter_context(socket.create_connection(("127.0.0.1", web.port), timeout=1))
        assert web.ask("GET", "/health/live/", within=ALIVE_WITHIN) == 200
        assert web.ask("POST", "/api/v1/schedule/", ASKED, within=ALIVE_WITHIN) == 200


@pytest.mark.xfail(
    strict=True, raises=Unanswered, reason="the server gives up where a worker dies soon after it was started anew"
)
def test_a_worker_that_dies_twice_comes_back(site: Site) -> None:
    with serving(site) as web:
        first = web.workers
        os.kill(first[-1], signal.SIGKILL)
        wait_for(lambda: set(web.workers) - set(first), "a new worker")
        os.kill(web.workers[-1], signal.SIGKILL)
        until = monotonic() + BACK_WITHIN
        while not web.alive:
            if monotonic() > until:
                raise Unanswered(f"nobody is back after {BACK_WITHIN:g} s: {web.child.last_words(3)}")
            sleep(0.2)
        assert web.ask("POST", "/api/v1/schedule/", ASKED) == 200


@pytest.mark.postgresql
@pytest.mark.xfail(
    strict=True, raises=Unanswered, reason="an answer of the database's is waited for without an end of our own"
)
def test_a_database_that_hangs_is_said_in_time(database: str, web: Web) -> None:
    asked = [("POST", "/api/v1/schedule/", ORDERED), ("GET", "/api/v1/status/", None), ("GET", "/health/ready/", None)]
    try:
        with frozen(database), ThreadPoolExecutor(len(asked)) as clients:
            waiting = [clients.submit(web.ask, *each, within=REFUSED_WITHIN) for each in asked]
            sleep(1)
            assert web.ask("GET", "/health/live/", within=ALIVE_WITHIN) == 200
            assert web.ask("POST", "/api/v1/schedule/", ASKED, within=ALIVE_WITHIN) == 200
            assert [each.result() for each in waiting] == [503] * len(asked)
    finally:
        wait_for(lambda: web.ask("POST", "/api/v1/schedule/", ORDERED) == 201, "the database again")


@pytest.mark.postgresql
@pytest.mark.xfail(
    strict=True,
    raises=Unanswered,
    reason="a key is claimed in a transaction of its own, and its order is taken by itself in another",
)
def test_a_key_costs_an_order_a_fifth_more_at_the_most(web: Web) -> None:
    ordered(web, keys=True), ordered(web, keys=False)
    ratios = [ordered(web, keys=False) / ordered(web, keys=True) for _ in range(ROUNDS)]
    if median(ratios) > DEAREST:
        raise Unanswered(f"without a key so many times the orders: {', '.join(f'{each:.2f}' for each in ratios)}")


def ordered(web: Web, *, keys: bool) -> int:
    """How many orders a few clients bring in together, each one after the other, for a moment."""

    def client() -> int:
        done, until = 0, monotonic() + ROUND_SECONDS
        with closing(HTTPConnection("127.0.0.1", web.port, timeout=30)) as connection:
            while monotonic() < until:
                headers = {"Authorization": f"Bearer {web.token}", "Content-Type": "application/json"}
                headers |= {"Idempotency-Key": str(uuid4())} if keys else {}
                connection.request("POST", "/api/v1/schedule/", json.dumps(ORDERED).encode(), headers)
                response = connection.getresponse()
                response.read()
                assert response.status == 201
                done += 1
        return done

    with ThreadPoolExecutor(CLIENTS) as clients:
        return sum(each.result() for each in [clients.submit(client) for _ in range(CLIENTS)])
