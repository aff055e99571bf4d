"""What docker-compose.yml starts holds out: idle connections, unfinished uploads, a hanging database, keyed orders."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPException
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from statistics import median
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import pytest

from idcsched.demo.processes import stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, wait_for
from tests.servers import free_port, nginx, paused, postgresql

pytestmark = [pytest.mark.long, pytest.mark.timeout(100)]

IDLE, UPLOADS = 2_000, 200
ALIVE_WITHIN = 1.0
REFUSED_WITHIN = 10.0
DEAREST = 1.5
"""The highest ratio of orders without keys to orders with keys that are placed in the same time.

It was 2.5 while the key was claimed in a transaction of its own; a busy machine makes it higher.
"""
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
    """The web server gave no proper answer: the error with which these tests fail."""


class Web:
    """The site as clients see it, by the proxy; `behind` is the web process's own port, which Prometheus asks."""

    def __init__(self, port: int, behind: int, token: str) -> None:
        self.port, self.behind, self.token = port, behind, token

    def ask(
        self, method: str, path: str, body: Any = None, *, within: float = 30, port: int | None = None, **headers: str
    ) -> int:
        """The status of the answer; raises Unanswered where none comes within so many seconds."""
        began = monotonic()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", port or self.port, timeout=within)) as connection:
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


@pytest.fixture(scope="module")
def database() -> Iterator[postgresql.Server]:
    """A PostgreSQL server that nobody else asks."""
    with postgresql.restartable() as server:
        yield server


@pytest.fixture(scope="module")
def site(database: postgresql.Server, tmp_path_factory: pytest.TempPathFactory) -> Site:
    found = Installation(tmp_path_factory.mktemp("strained"), DATABASE_URL=database.url)
    found.migrate()
    return found, found.python(SITE)


@pytest.fixture(scope="module")
def web(site: Site) -> Iterator[Web]:
    """A web server, and the proxy in front of it."""
    (installation, token), port = site, free_port()
    child = installation.start("web", *web_command(port=port))
    try:
        with nginx.in_front_of(port) as proxied:
            web = Web(proxied, port, token)
            wait_for(lambda: web.alive or not child.running, "the web server", seconds=60)
            assert child.running, child.last_words()
            assert web.ask("POST", "/api/v1/schedule/", ASKED) == 200
            yield web
    finally:
        stop(child)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process hold as many connections as the tests need."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    setrlimit(RLIMIT_NOFILE, (max(soft, 2 * IDLE), hard))
    yield
    setrlimit(RLIMIT_NOFILE, (soft, hard))


def test_idle_connections_keep_nobody_out(web: Web, many_files: None) -> None:
    with ExitStack() as idle:
        for _ in range(IDLE):
            with suppress(OSError):  # the server may refuse them, or cut them off
                idle.enter_context(socket.create_connection(("127.0.0.1", web.port), timeout=1))
        assert web.ask("GET", "/health/live/", within=ALIVE_WITHIN) == 200
        assert web.ask("POST", "/api/v1/schedule/", ASKED, within=ALIVE_WITHIN) == 200


def test_unfinished_uploads_keep_nobody_out(web: Web) -> None:
    sized = "Content-Length: 100000\r\n\r\n{"
    begun = [
        ("/api/v1/regions/", f"Authorization: Bearer {web.token}\r\n{sized}"),
        ("/api/v1/schedule/", "Transfer-Encoding: chunked\r\n\r\n1000\r\n{"),
        ("/api/v1/providers/x/outcomes/", sized),
        ("/admin/login/", sized),
    ]
    with ExitStack() as uploads:
        for number in range(UPLOADS):
            upload = uploads.enter_context(socket.create_connection(("127.0.0.1", web.port), timeout=5))
            path, rest = begun[number % len(begun)]
            upload.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{rest}".encode())
        assert web.ask("GET", "/health/live/", within=ALIVE_WITHIN) == 200
        assert web.ask("POST", "/api/v1/schedule/", ASKED, within=ALIVE_WITHIN) == 200
        assert web.ask("POST", "/api/v1/schedule/", ORDERED, within=ALIVE_WITHIN) == 201


@pytest.mark.postgresql
def test_a_database_that_hangs_is_said_in_time(database: postgresql.Server, web: Web) -> None:
    asked = [("POST", "/api/v1/schedule/", ORDERED), ("GET", "/api/v1/status/", None), ("GET", "/health/ready/", None)]
    try:
        with paused(database.pid), ThreadPoolExecutor(len(asked) + 1) as clients:
            waiting = [clients.submit(web.ask, *each, within=REFUSED_WITHIN) for each in asked]
            scraped = clients.submit(web.ask, "GET", "/metrics", within=REFUSED_WITHIN, port=web.behind)
            sleep(1)
            assert web.ask("GET", "/health/live/", within=ALIVE_WITHIN) == 200
            assert web.ask("POST", "/api/v1/schedule/", ASKED, within=ALIVE_WITHIN) == 200
            assert [each.result() for each in waiting] == [503] * len(asked)
            assert scraped.result() == 200
    finally:
        wait_for(lambda: web.ask("POST", "/api/v1/schedule/", ORDERED) == 201, "the database again")


@pytest.mark.postgresql
def test_a_key_costs_an_order_half_as_much_again_at_the_most(web: Web) -> None:
    ordered(web, keys=True), ordered(web, keys=False)
    ratios = [ordered(web, keys=False) / ordered(web, keys=True) for _ in range(ROUNDS)]
    if median(ratios) > DEAREST:
        raise Unanswered(f"without a key so many times the orders: {', '.join(f'{each:.2f}' for each in ratios)}")


def ordered(web: Web, *, keys: bool) -> int:
    """Return how many orders the clients place together in one round."""

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
