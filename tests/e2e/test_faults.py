"""What docs/faults.md promises, on one installation of which one part after the other is stopped, paused or killed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import psycopg2
import pytest
from redis import Redis

from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, wait_for
from tests.outbound.peers import json_reply, peer, silent
from tests.servers import debian, free_port, nginx, paused, postgresql, redis

pytestmark = [pytest.mark.long, pytest.mark.postgresql, pytest.mark.timeout(150)]

PORTALS = 6
IN_FLIGHT = 8
"""Orders at a time: more than a web process has places."""
LEFT_ALONE = 2.0
"""Seconds after which nginx asks a server again that did not answer; `fail_timeout` in its configuration, and more."""
AT_ONCE = 1.0
"""Seconds within which a recommendation is answered, whatever is away."""
CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
WORKER = (*CELERY, "worker", "--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "WARNING")
BEAT = (*CELERY, "beat", "--pidfile=", "--loglevel", "WARNING")
SITE = """
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.provisioning.services import provider_create
tenant_create(code="shop")
provider_create(code="vm", kind="simulated", config={"up_after_seconds": 0})
for region, stock in (("A", 1e9), ("B", 4)):
    region_create(code=region)
    idc_create(code=region.lower(), region=region, stock_cpu=stock, provider="vm")
user = user_create(username="root", role="admin")
print(token_issue(user=user, name="test", tenant="shop").text)
"""
ASKED = {"region": "A", "machines": [{"count": 1, "cpu": 1}]}
RESERVED = {**ASKED, "action": "reserve"}
PROVISIONED = {**ASKED, "action": "provision"}
NO_SIGN_OF_LIFE = "UPDATE work_heartbeat SET at = at - interval '1 minute' WHERE trade = %s"
"""Makes a heartbeat a minute older: a process counts as missing after three quarters of a minute."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    document: dict[str, Any]
    headers: dict[str, str]
    seconds: float

    @property
    def code(self) -> str:
        return str(self.document.get("code", ""))


class Site:
    """A web process, a worker and beat, on a PostgreSQL and a Redis of their own."""

    def __init__(self, folder: Path, database: postgresql.Server, broker: redis.Server) -> None:
        self.database, self.broker, self.port = database, broker, free_port()
        variables = {"DATABASE_URL": database.url, "REDIS_URL": f"{broker.url}/0", "OUTBOUND_HOSTS": "127.0.0.0/8"}
        self.installation = Installation(folder, THROTTLE="100000/minute", **variables)
        self.installation.migrate()
        self.token = self.installation.python(SITE)
        self.web = self.start_web(self.port)
        self.worker = self.installation.start("worker", *WORKER)
        self.beat = self.installation.start("beat", *BEAT)

    def start_web(self, port: int, **variables: str) -> Child:
        command = ["env", *(f"{name}={value}" for name, value in variables.items()), *web_command(port=port)]
        return self.installation.start("web", *command)

    def ask(
        self, method: str, path: str, body: Any = None, *, port: int | None = None, within: float = 30, key: str = ""
    ) -> Answer:
        """The answer; raises OSError or HTTPException where none comes within so many seconds."""
        began = monotonic()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers |= {"Idempotency-Key": key} if key else {}
        with closing(HTTPConnection("127.0.0.1", port or self.port, timeout=within)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
            response = connection.getresponse()
            content = response.read()
        is_json = "json" in response.headers["Content-Type"]
        document = json.loads(content) if is_json else {"text": content.decode()}
        return Answer(
            response.status,
            document,
            {name.lower(): value for name, value in response.headers.items()},
            monotonic() - began,
        )

    def schedule(
        self, body: Any = ASKED, *, port: int | None = None, within: float = 30, key: str = "", **fields: Any
    ) -> Answer:
        return self.ask("POST", "/api/v1/schedule/", {**body, **fields}, port=port, within=within, key=key)

    def recommended(self, **fields: Any) -> Answer:
        """Return a recommendation, which must come within a second whatever fails."""
        answer = self.schedule(within=AT_ONCE, **fields)
        assert answer.status == 200, answer
        return answer

    def state(self, order: Answer) -> str:
        return str(self.ask("GET", f"/api/v1/placements/{order.document['id']}/").document["state"])

    def ready(self, port: int | None = None) -> Answer:
        return self.ask("GET", "/health/ready/", port=port)

    def causes(self, port: int | None = None) -> list[str]:
        answer = self.ask("GET", "/api/v1/status/", port=port)
        assert answer.status == 200, answer
        causes: list[str] = answer.document["degraded_because"]
        return causes

    def is_well(self) -> bool:
        """Whether all parts work: an order is taken and its machine started, and nothing is degraded."""
        try:
            order = self.schedule(PROVISIONED, within=10)
            wait_for(lambda: self.state(order) == "active", "the order's machine", seconds=30)
            return not self.causes()
        except (OSError, HTTPException, KeyError):
            return False

    def do(self, sql: str, *arguments: object) -> None:
        with closing(psycopg2.connect(self.database.url)) as connection, connection, connection.cursor() as cursor:
            cursor.execute(sql, arguments)

    def stop(self) -> None:
        stop(self.web, self.worker, self.beat, grace=20)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a file system of that size as the folder."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", folder],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no small disk can be had: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Fill the disk, so that nothing more can be written to it."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def away(server: redis.Server) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


@contextmanager
def full_memory(server: redis.Server) -> Iterator[None]:
    """Have Redis answer, but store nothing more."""
    with Redis.from_url(server.url) as client:
        client.config_set("maxmemory", "1")
        try:
            yield
        finally:
            client.config_set("maxmemory", "0")


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The disk of the database."""
    parent = Path(tempfile.mkdtemp())  # pytest's own folders are closed to PostgreSQL's user
    parent.chmod(0o755)
    with small_disk(parent / "disk", 400) as found:
        yield found
    shutil.rmtree(parent)


@pytest.fixture(scope="module")
def parts(disk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with postgresql.restartable(within=disk) as database, redis.restartable() as broker:
        made = Site(tmp_path_factory.mktemp("faults"), database, broker)
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture
def site(parts: Site) -> Iterator[Site]:
    """All parts work before the test, and again after it, though nobody has started a worker or beat again."""
    wait_for(parts.is_well, "all parts to work", seconds=60)
    yield parts
    wait_for(parts.is_well, "all parts to work again", seconds=60)


def test_postgresql_is_stopped_and_started_again(site: Site) -> None:
    site.database.stop()
    try:
        meanwhile = site.recommended()
        refused = site.schedule(RESERVED)
        assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "database_unavailable", "5")
        assert site.ready().status == 503
        assert site.ask("GET", "/api/v1/status/").status == 503
        assert site.ask("GET", "/health/live/").status == 200
        wait_for(lambda: site.recommended().document["degraded"], "it to be said")
    finally:
        site.database.start()
    wait_for(lambda: site.ready().status == 200, "the database again", seconds=10)
    assert site.schedule(RESERVED).status == 201
    wait_for(lambda: not site.recommended().document["degraded"], "it to be up to date again")
    on_record = f"/api/v1/decisions/{meanwhile.document['decision_id']}/"
    wait_for(lambda: site.ask("GET", on_record).status == 200, "the decision on record", seconds=10)


def test_postgresql_can_only_be_read_after_a_fail_over(site: Site) -> None:
    site.database.stop()
    site.database.start(standby=True)
    try:
        wait_for(lambda: site.ready().document["database"] == "read-only", "it to be said", seconds=10)
        assert site.ready().status == 503
        assert "database_read_only" in site.causes()
        refused = site.schedule(RESERVED)
        assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "database_unavailable", "5")
        meanwhile = site.recommended()
    finally:
        site.do("SELECT pg_promote()")
    wait_for(lambda: site.schedule(RESERVED).status == 201, "orders again", seconds=10)
    on_record = f"/api/v1/decisions/{meanwhile.document['decision_id']}/"
    wait_for(lambda: site.ask("GET", on_record).status == 200, "the decision on record", seconds=10)


@pytest.mark.parametrize("how", [away, full_memory, lambda server: paused(server.pid)], ids=["away", "full", "hanging"])
def test_redis_is(how: Callable[[redis.Server], AbstractContextManager[None]], site: Site) -> None:
    with how(site.broker):
        with ThreadPoolExecutor(IN_FLIGHT) as clients:
            orders = list(clients.map(taken, [site] * IN_FLIGHT))
        assert {order.status for order in orders} == {202}, orders
        assert site.recommended().status == 200
        assert site.schedule(RESERVED).status == 201
        ready = site.ready()
        assert (ready.status, ready.document["database"]) == (200, "ok")
        assert ready.document["broker"].startswith("unreachable")
        wait_for(lambda: {"broker_away", "redis_away"} <= set(site.causes()), "both to be said")
        assert site.ask("GET", "/metrics").status == 200
    wait_for(lambda: {site.state(order) for order in orders} == {"active"}, "the machines", seconds=40)


def taken(site: Site) -> Answer:
    """Return the answer to an order, which is sent again while the web process is busy."""
    while (answer := site.schedule(PROVISIONED)).code == "busy":
        sleep(float(answer.headers["retry-after"]))
    return answer


def test_a_worker_hangs(site: Site) -> None:
    with paused(site.worker.process.pid):
        ordered = site.schedule(PROVISIONED)
        site.do(NO_SIGN_OF_LIFE, "worker")
        assert [cause.partition("@")[0] for cause in site.causes()] == ["process_missing: celery"]
        assert site.recommended().status == 200
        assert site.state(ordered) == "provisioning"
    wait_for(lambda: site.state(ordered) == "active", "the machines", seconds=30)


def test_beat_hangs(site: Site) -> None:
    whole = {**RESERVED, "region": "B", "machines": [{"count": 1, "cpu": 4}], "ttl_seconds": 1}
    with paused(site.beat.process.pid):
        held = site.schedule(whole)
        assert held.status == 201, held
        sleep(1.2)
        late = site.ask("POST", f"/api/v1/placements/{held.document['id']}/confirm/")
        assert (late.status, late.code) == (409, "invalid_transition")
        assert site.schedule(whole).status == 409, "its capacity is still held"
        site.do(NO_SIGN_OF_LIFE, "beat")
        assert [cause.partition("@")[0] for cause in site.causes()] == ["process_missing: beat"]
    wait_for(lambda: site.state(held) == "expired", "its end", seconds=10)
    assert site.schedule(whole).status == 201


def test_a_web_process_hangs_and_then_is_killed(site: Site) -> None:
    kept = site.schedule(RESERVED)
    (process,) = children(site.web)
    with paused(process), pytest.raises(OSError, match="timed out"):
        site.ask("GET", "/health/live/", within=1)
    assert site.recommended().status == 200
    os.kill(process, signal.SIGKILL)
    wait_for(lambda: answers(site.recommended), "another process", seconds=30)
    assert children(site.web) != [process]
    assert site.state(kept) == "reserved"


def children(child: Child) -> list[int]:
    pid = child.process.pid
    return [int(found) for found in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def answers(call: Callable[[], Answer]) -> bool:
    try:
        return call().status == 200
    except (OSError, HTTPException):
        return False


def test_an_extender_hangs(site: Site) -> None:
    with peer(silent) as judge:
        for name, fields in {"strict": {}, "lenient": {"on_error": "skip_filter"}}.items():
            entry = {
                "name": "judge",
                "plugin": "extender",
                "args": {"url": judge.url, "timeout_seconds": 0.5},
                **fields,
            }
            created = site.ask("POST", "/api/v1/profiles/", {"code": name, "plugins": [entry]})
            assert created.status == 201, created
        with ThreadPoolExecutor(8) as clients:
            waiting = [clients.submit(site.schedule, profile="strict") for _ in range(8)]
            sleep(0.1)
            assert site.recommended().status == 200
            refused = {(answer.result().status, answer.result().code) for answer in waiting}
        assert refused <= {(503, "plugin_failed"), (503, "busy")}
        assert (503, "plugin_failed") in refused
        without = site.schedule(profile="lenient")
        assert (without.status, without.document["degraded"]) == (200, True)
        assert [error["plugin"] for error in without.document["plugin_errors"]] == ["judge"]
        assert without.seconds < AT_ONCE
        judge.behave = json_reply({})
        wait_for(lambda: site.schedule(profile="strict").status == 200, "the extender again", seconds=20)


@contextmanager
def more_webs(site: Site, number: int, **variables: str) -> Iterator[dict[int, Child]]:
    """Run this number of further web servers; yield them by their ports."""
    webs = {port: site.start_web(port, **variables) for port in (free_port() for _ in range(number))}
    try:
        for port in webs:
            wait_for(lambda port=port: answers(lambda: site.ready(port)), "a web server", seconds=60)
        yield webs
    finally:
        stop(*webs.values())


def test_the_databases_disk_is_full(site: Site, disk: Path) -> None:
    with full(disk):
        refused = first(lambda: site.schedule(RESERVED), lambda answer: answer.status != 201)
        assert (refused.status, refused.code) == (503, "database_unavailable")
        assert site.recommended().status == 200
        assert site.ask("GET", "/health/live/").status == 200
    wait_for(lambda: site.schedule(RESERVED).status == 201, "orders again", seconds=20)


def first(ask: Callable[[], Answer], wanted: Callable[[Answer], bool]) -> Answer:
    """Return the first such answer of 3,000: a full disk's files have room left for some rows."""
    found = next((answer for answer in (ask() for _ in range(3000)) if wanted(answer)), None)
    assert found is not None, "there was always room"
    return found


def test_a_web_servers_disk_is_full(site: Site, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    figures.mkdir()
    with small_disk(tmp_path / "var", 4) as var:
        variables = {"WEB_WORKERS": "2", "VAR_DIR": str(var), "PROMETHEUS_MULTIPROC_DIR": str(figures)}
        secret = (site.installation.var / "secret-key").read_text(encoding="utf-8")
        with more_webs(site, 1, SECRET_KEY=secret, **variables) as webs, full(var):
            (port,) = webs
            before = children(webs[port])
            for body, status in ((ASKED, 200), (RESERVED, 201)) * 20:
                assert site.schedule(body, port=port).status == status
            assert site.ask("GET", "/metrics", port=port).status == 200
            assert children(webs[port]) == before


def test_the_clock_jumps(site: Site, tmp_path: Path) -> None:
    if not (libraries := list(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))):
        debian.install("faketime")
        libraries = list(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    clock = tmp_path / "clock"
    clock.write_text("+0", encoding="ascii")
    jumping = {
        "LD_PRELOAD": str(libraries[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    with more_webs(site, 1, **jumping) as webs:
        (port,) = webs
        assert "clock_off" not in site.causes(port)
        for jump in ("+1h", "-1h"):
            clock.write_text(jump, encoding="ascii")
            assert "clock_off" in site.causes(port)
            answer = site.schedule(port=port, within=AT_ONCE)
            assert (answer.status, answer.document["degraded"]) == (200, False)
            assert abs(answer.document["snapshot"]["age_seconds"]) < 3, "what is counted does not jump"
            assert "clock_off" not in site.causes(), "the other web server's clock is right"
        clock.write_text("+0", encoding="ascii")
        assert site.causes(port) == []
        assert site.schedule(RESERVED, port=port).status == 201


def test_a_rolling_restart_drops_no_request(site: Site) -> None:
    with more_webs(site, 2) as webs, nginx.running(*webs) as proxy, portals(site, proxy.port) as seen:
        for port in webs:
            before = seen.total()
            proxy.leave_out(port)
            restart(site, webs, port)
            proxy.leave_out()
            assert seen.total() > before
    assert set(seen) == {200, 201}, seen


def test_a_rolling_restart_by_signals_alone_drops_no_request_with_a_key(site: Site) -> None:
    with more_webs(site, 2) as webs, nginx.running(*webs) as proxy, portals(site, proxy.port, keys=True) as seen:
        for port in [*webs, *webs]:
            before = seen.total()
            restart(site, webs, port)
            sleep(LEFT_ALONE)
            assert seen.total() > before
    assert set(seen) == {200, 201}, seen


@contextmanager
def portals(site: Site, port: int, *, keys: bool = False) -> Iterator[Counter[int | str]]:
    """Have portals recommend and reserve all the while; yield a count of their answers, by status or error."""
    over, seen = Event(), Counter[int | str]()

    def portal(body: dict[str, Any]) -> None:
        while not over.wait(0.005):
            try:
                seen[site.schedule(body, port=port, key=str(uuid4()) if keys else "").status] += 1
            except (OSError, HTTPException) as error:
                seen[repr(error)] += 1

    with ThreadPoolExecutor(PORTALS) as threads:
        asking = [threads.submit(portal, (ASKED, RESERVED)[number % 2]) for number in range(PORTALS)]
        try:
            yield seen
        finally:
            over.set()
        for each in asking:
            each.result()


def restart(site: Site, webs: dict[int, Child], port: int) -> None:
    """Stop a web server by SIGTERM and start it again; returns once it is ready."""
    stop(webs[port])
    assert webs[port].process.returncode == 0, webs[port].last_words()
    webs[port] = site.start_web(port)
    wait_for(lambda: answers(lambda: site.ready(port)), "it again", seconds=60)


def test_an_order_with_a_key_whose_web_server_ends_over_it_is_taken_by_another(site: Site) -> None:
    with ending_over_each_request() as (port, ended), nginx.running(port, site.port) as proxy:
        until = monotonic() + 30
        while len(ended) < 3 and monotonic() < until:
            answer = site.schedule(RESERVED, port=proxy.port, key=str(uuid4()))
            assert answer.status == 201, answer
        assert len(ended) == 3, "it was hardly asked"
        sleep(LEFT_ALONE)
        unkeyed = first(lambda: site.schedule(RESERVED, port=proxy.port), lambda answer: answer.status != 201)
        assert (unkeyed.status, unkeyed.code) == (502, "unanswered"), "an order without a key might be taken twice"


@contextmanager
def ending_over_each_request() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server that closes each connection when it has read the request, and the requests that it read."""
    ended: list[bytes] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    ended.append(connection.recv(65536))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1], ended
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
