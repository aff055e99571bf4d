"""Orders move to and fro while the web process is killed again and again.

Each order always holds its old place, its new one or, until the move is confirmed or given up, both; nothing is
oversold.
"""

import http.client
import json
import os
import random
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request, urlopen
from uuid import uuid4

import psycopg2
import pytest
from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ

from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, post, wait_for
from tests.servers import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

IDCS, ROOM = ("a", "b", "c"), 900.0
ORDERS, SIZE = 16, 100.0
"""They fill 1,600 of 2,700 Mbps, so that now and then there is no room for one that moves."""
KINDS = ("move", "confirm", "release")
EACH, MOST_KILLS = 5, 40
"""Calls of each kind that are to be cut off, and the kills in which that must happen."""
FLEET = """
from django.utils import timezone
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
region_create(code="A"); isp_create(code="ct")
codes = {idcs}
for code in codes:
    idc_create(code=code, region="A", lines=[{{"isp": "ct", "purchased_mbps": {room}, "max_level": 1.0}}])
now = timezone.now()
samples_store(samples=[Sample(idc=c, line="ct", metric="bandwidth_mbps", value=0, at=now) for c in codes], now=now)
flow = {{"name": "network_flow", "plugin": "network_flow", "weight": 1, "on_missing": "last"}}
profile_create(code="plain", body={{"plugins": [flow]}})
tenant = tenant_create(code="one", default_profile="plain")
print(token_issue(user=user_create(username="portal", role="portal", tenant=tenant), name="t").text)
"""
PLACEMENTS = """
    SELECT placement.id, request_id, state, replaces_id, idc.code FROM placement_placement AS placement
    JOIN inventory_idc AS idc ON idc.id = placement.idc_id WHERE state IN ('reserved', 'active')
"""
CLAIMS = """
    SELECT placement, idc.code, amount FROM ledger_claim AS claim JOIN ledger_holding AS holding
        ON holding.id = claim.holding_id
    JOIN inventory_idc AS idc ON idc.id = holding.idc_id WHERE released_at IS NULL AND resource = 'bandwidth_mbps'
"""
TAKEN = """
    SELECT idc.code, taken FROM ledger_holding AS holding JOIN inventory_idc AS idc ON idc.id = holding.idc_id
    WHERE resource = 'bandwidth_mbps'
"""


class Web:
    """A web process that can be killed, and comes back at the same address."""

    def __init__(self, installation: Installation) -> None:
        self.installation, self.port = installation, free_port()
        self.child = self._started()

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1/"

    def kill(self) -> None:
        os.killpg(self.child.process.pid, signal.SIGKILL)
        self.child.process.wait()
        self.child = self._started()

    def stop(self) -> None:
        stop(self.child)

    def _started(self) -> Child:
        child = self.installation.start("web", *web_command(port=self.port))
        wait_for(self._answers, "the web process", seconds=60)
        return child

    def _answers(self) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/health/ready/", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False


@dataclass(slots=True)
class Mover:
    """A portal that moves one order after the other, and does not know what became of calls that were cut off."""

    api: str
    token: str
    orders: list[str]
    chance: random.Random
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    cut_off: Counter[str] = field(default_factory=Counter)

    def work(self, until: Event) -> None:
        while not until.is_set():
            try:
                self.turn(self.chance.choice(self.orders))
            except URLError:  # nobody listens
                sleep(0.1)

    def turn(self, order: str) -> None:
        """Move the order, or confirm or give up its move if one is underway."""
        held = {row["state"]: row for row in self._held(order)}
        new = held.get("reserved")
        if new is not None:
            self._call(self.chance.choice(("confirm", "confirm", "release")), new["id"], {})
        elif "active" in held:
            there = self.chance.choice([idc for idc in IDCS if idc != held["active"]["idc"]])
            self._call("move", held["active"]["id"], {"idc": there, "lines": ["ct"], "ttl_seconds": 3600})

    def _held(self, order: str) -> list[dict[str, Any]]:
        asked = Request(
            f"{self.api}placements/?request_id={order}&state=active&state=reserved",
            headers={"Authorization": f"Bearer {self.token}"},
        )
        try:
            with urlopen(asked, timeout=30) as response:
                rows: list[dict[str, Any]] = json.load(response)["results"]
                return rows
        except (HTTPError, ConnectionError, http.client.HTTPException, TimeoutError):
            return []

    def _call(self, kind: str, placement: str, body: dict[str, Any]) -> None:
        try:
            post(f"{self.api}placements/{placement}/{kind}/", body, self.token)
        except HTTPError as refusal:
            self.refused[f"{kind} {refusal.code}"] += 1
        except (ConnectionError, http.client.HTTPException, TimeoutError):
            self.cut_off[kind] += 1
        else:
            self.done[kind] += 1


@pytest.fixture
def database(postgresql_server: str) -> str:
    name = f"moving_{uuid4().hex}"
    with closing(psycopg2.connect(postgresql_server)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(postgresql_server)._replace(path=f"/{name}"))


@pytest.fixture
def audit(database: str) -> Iterator[Callable[[], None]]:
    """Looks at one moment of the database, while the web process writes or right after it has died."""
    with closing(psycopg2.connect(database)) as connection:
        connection.set_session(isolation_level=ISOLATION_LEVEL_REPEATABLE_READ, readonly=True)

        def look() -> None:
            with connection, connection.cursor() as cursor:
                found = []
                for question in (PLACEMENTS, CLAIMS, TAKEN):
                    cursor.execute(question)
                    found.append(cursor.fetchall())
            _check(*found)

        yield look


def _check(placements: list[Any], claims: list[Any], taken: list[Any]) -> None:
    """Assert that each order holds one active place and at most one that it moves to, and that the ledger agrees."""
    by_order = defaultdict(list)
    for placement, order, state, replaces, _idc in placements:
        by_order[order].append((state, placement, replaces))
    assert len(by_order) == ORDERS, "none holds neither its old place nor its new one"
    for order, held in by_order.items():
        (active,) = [placement for state, placement, _ in held if state == "active"]
        assert [replaces for state, _, replaces in held if state == "reserved"] in ([], [active]), order
    holding = sorted((str(placement), idc, SIZE) for placement, _, _, _, idc in placements)
    assert sorted((str(placement), idc, amount) for placement, idc, amount in claims) == holding
    sums = Counter(idc for _, idc, _ in holding)
    for idc, amount in taken:
        assert amount == pytest.approx(sums[idc] * SIZE, abs=0.1), idc
        assert amount <= ROOM, f"{idc} is oversold"


@pytest.fixture
def installation(tmp_path: Path, database: str) -> Installation:
    settings = {"DATABASE_URL": database, "THROTTLE": "off", "RECORD_INPUTS": "0"}
    found = Installation(tmp_path, **settings)
    found.migrate()
    return found


@pytest.fixture
def web(installation: Installation) -> Iterator[Web]:
    found = Web(installation)
    try:
        yield found
    finally:
        found.stop()


def test_it_works(installation: Installation, web: Web, audit: Callable[[], None]) -> None:
    token = installation.python(FLEET.format(idcs=IDCS, room=ROOM)).splitlines()[-1]
    orders = [f"order-{number}" for number in range(ORDERS)]
    for order in orders:
        _run(web, token, order)
    audit()
    movers = [Mover(web.api, token, orders[number::4], random.Random(number)) for number in range(4)]
    looks, kills = _kill_in_between(web, movers, audit)
    done, refused, cut_off = (
        sum((getattr(mover, name) for mover in movers), Counter[str]()) for name in ("done", "refused", "cut_off")
    )
    print(f"{kills} kills, {looks} looks; done: {done}, refused: {refused}, cut off: {cut_off}")
    assert not [code for code in refused if code[-3:] not in {"409", "503"}]
    assert all(done[kind] >= EACH for kind in KINDS)
    assert all(cut_off[kind] >= EACH for kind in KINDS), "each was killed in the middle"
    assert installation.manage("ledger_audit").strip() == "The ledger agrees with the placements."


def _run(web: Web, token: str, order: str) -> None:
    """Have an order placed and confirmed."""
    asked = {"region": "A", "action": "reserve", "request_id": order, "machines": [{"bandwidth_mbps": SIZE}]}
    made = post(f"{web.api}schedule/", asked, token)
    post(f"{web.api}placements/{made['id']}/confirm/", {}, token)


def _kill_in_between(web: Web, movers: list[Mover], audit: Callable[[], None]) -> tuple[int, int]:
    """Kill the web process until enough calls of each kind were cut off; return the numbers of audits and of kills."""
    chance, until, looks, kills = random.Random(7), Event(), 0, 0
    with ThreadPoolExecutor(len(movers)) as pool:
        at_work = [pool.submit(mover.work, until) for mover in movers]
        try:
            while kills < MOST_KILLS and any(sum(mover.cut_off[kind] for mover in movers) < EACH for kind in KINDS):
                stops_at = monotonic() + chance.uniform(0.5, 2.0)
                while monotonic() < stops_at:
                    audit()
                    looks += 1
                web.kill()
                kills += 1
                audit()
        finally:
            until.set()
        for work in at_work:
            work.result()
    audit()
    return looks, kills
