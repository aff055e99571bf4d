"""Hosts behind one proxy, each with a web server and a worker; beat on one of them; what one does holds on all."""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, wait_for
from tests.servers import free_port, nginx, postgresql, redis

pytestmark = [pytest.mark.long, pytest.mark.postgresql, pytest.mark.timeout(150)]

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
STOCK, BUYERS = 20, 60
CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
WORKER = (*CELERY, "worker", "--concurrency", "1", "--without-gossip", "--without-mingle", "--loglevel", "WARNING")
BEAT = (*CELERY, "beat", "--pidfile=", "--loglevel", "WARNING")
SITE = f"""
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.provisioning.services import provider_create
tenant_create(code="shop")
provider_create(code="vm", kind="simulated", config={{"up_after_seconds": 0}})
for region, stock in (("A", 1e9), ("B", {STOCK})):
    region_create(code=region)
    idc_create(code=region.lower(), region=region, stock_cpu=stock, provider="vm")
user = user_create(username="root", role="admin")
print(token_issue(user=user, name="test", tenant="shop").text)
"""
ASKED = {"region": "A", "machines": [{"count": 1, "cpu": 1}]}
RESERVED = {**ASKED, "action": "reserve"}
PROVISIONED = {**ASKED, "action": "provision"}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    document: Any


@dataclass(frozen=True, slots=True)
class Caller:
    """Asks one host, or the proxy."""

    host: str
    port: int
    token: str

    def post(self, path: str, body: Any = None, *, token: str = "") -> Answer:
        return self._ask("POST", path, body, token or self.token)

    def get(self, path: str) -> Answer:
        return self._ask("GET", path, None, self.token)

    def delete(self, path: str) -> Answer:
        return self._ask("DELETE", path, None, self.token)

    def _ask(self, method: str, path: str, body: Any, token: str) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with closing(HTTPConnection(self.host, self.port, timeout=30)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
            response = connection.getresponse()
            return Answer(response.status, json.loads(response.read() or b"null"))

    def chooses(self) -> str | None:
        """The IDC that it recommends."""
        idc = self.post("/api/v1/schedule/", ASKED).document["idc"]
        return None if idc is None else str(idc["code"])

    @property
    def ready(self) -> bool:
        try:
            return self._ask("GET", "/health/ready/", None, self.token).status == 200
        except (OSError, HTTPException):
            return False


@dataclass(frozen=True, slots=True)
class Fleet:
    hosts: list[Caller]
    proxy: Caller
    workers: list[Child]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder, port = tmp_path_factory.mktemp("fleet"), free_port()
    with ExitStack() as stack:
        database = stack.enter_context(postgresql.restartable())
        broker = stack.enter_context(redis.restartable())
        shared = {
            "SECRET_KEY": "known to all hosts, and long enough for that: 0123456789 abcdefghij",
            "DATABASE_URL": database.url,
            "REDIS_URL": f"{broker.url}/0",
            "ALLOWED_HOSTS": ",".join(HOSTS),
            "TRUSTED_PROXIES": "127.0.0.1",
        }
        machines = {host: _machine(folder / host, shared) for host in HOSTS}
        machines[HOSTS[0]].migrate()
        token = machines[HOSTS[0]].python(SITE)
        children, workers = [machines[HOSTS[0]].start("beat", *BEAT)], []
        for host, machine in machines.items():
            children.append(machine.start("web", *web_command(port=port), "--host", host))
            workers.append(machine.start("worker", *WORKER, "--hostname", f"worker@{host}"))
        stack.callback(lambda: stop(*children, *(worker for worker in workers if worker.running), grace=20))
        proxy = stack.enter_context(nginx.running(*(f"{host}:{port}" for host in HOSTS)))
        hosts = [Caller(host, port, token) for host in HOSTS]
        for caller in hosts:
            wait_for(lambda caller=caller: caller.ready, f"the web server of {caller.host}", seconds=60)  # type: ignore[misc]
        yield Fleet(hosts, Caller("127.0.0.1", proxy.port, token), workers)


def _machine(folder: Path, shared: dict[str, str]) -> Installation:
    folder.mkdir()
    return Installation(folder, **shared)


def test_a_taint_set_on_one_host_is_in_force_on_all_within_a_second(fleet: Fleet) -> None:
    for first in fleet.hosts:
        assert [host.chooses() for host in fleet.hosts] == ["a"] * len(HOSTS)
        taint = first.post("/api/v1/taints/", {"idc": "a", "key": "maintenance", "effect": "NoSchedule"})
        assert taint.status == 201, taint
        wait_for(lambda: {host.chooses() for host in fleet.hosts} == {None}, "the taint everywhere", seconds=1)
        assert first.delete(f"/api/v1/taints/{taint.document['id']}/").status == 204
        wait_for(lambda: {host.chooses() for host in fleet.hosts} == {"a"}, "its end everywhere", seconds=1)


def test_a_token_revoked_on_one_host_writes_nothing_on_any(fleet: Fleet) -> None:
    for first in fleet.hosts:
        token = first.post("/api/v1/tokens/", {"name": "short", "user": "root", "tenant": "shop"})
        assert token.status == 201, token
        secret = token.document["token"]
        assert statuses(fleet, RESERVED, secret) == [201] * len(HOSTS)
        assert first.post(f"/api/v1/tokens/{token.document['id']}/revoke/").status == 200
        assert statuses(fleet, RESERVED, secret) == [401] * len(HOSTS)
        wait_for(lambda secret=secret: set(statuses(fleet, ASKED, secret)) == {401}, "the end of answers", seconds=1)  # type: ignore[misc]


def statuses(fleet: Fleet, body: Any, token: str) -> list[int]:
    """Return the status with which each host answers the request."""
    return [host.post("/api/v1/schedule/", body, token=token).status for host in fleet.hosts]


def test_a_placement_is_reserved_confirmed_and_released_by_different_hosts(fleet: Fleet) -> None:
    one, two, three = fleet.hosts
    reserved = one.post("/api/v1/schedule/", RESERVED)
    address = f"/api/v1/placements/{reserved.document['id']}/"
    assert (reserved.status, two.get(address).document["state"]) == (201, "reserved")
    assert two.post(f"{address}confirm/").status == 200
    assert three.get(address).document["state"] == "active"
    recommended = three.post("/api/v1/schedule/", ASKED)
    committed = one.post("/api/v1/placements/", {"commit_token": recommended.document["commit_token"]})
    assert committed.status == 201, committed


def test_all_hosts_together_sell_what_there_is_and_no_more(fleet: Fleet) -> None:
    order = {**RESERVED, "region": "B"}
    with ThreadPoolExecutor(12) as buyers:
        asked = [*fleet.hosts, fleet.proxy]
        answers = list(buyers.map(lambda n: asked[n % len(asked)].post("/api/v1/schedule/", order), range(BUYERS)))
    assert Counter(answer.status for answer in answers) == {201: STOCK, 409: BUYERS - STOCK}


def test_the_worker_of_another_host_goes_on(fleet: Fleet) -> None:
    wait_for(lambda: fleet.proxy.get("/api/v1/status/").document["degraded_because"] == [], "all to be well")
    first = fleet.workers[0]
    os.killpg(first.process.pid, signal.SIGKILL)
    first.process.wait()
    for host in fleet.hosts:
        ordered = host.post("/api/v1/schedule/", PROVISIONED)
        assert ordered.status == 202, ordered
        address = f"/api/v1/placements/{ordered.document['id']}/"
        wait_for(
            lambda address=address: fleet.proxy.get(address).document["state"] == "active", "the machine", seconds=60
        )  # type: ignore[misc]
