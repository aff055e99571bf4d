"""Five hundred orders wait while everything is killed in the middle: they drain in order, and nobody overtakes."""

import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen
from uuid import uuid4

import psycopg2
import pytest

from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, post, wait_for
from tests.servers import free_port, redis

pytestmark = [pytest.mark.promise, pytest.mark.long, pytest.mark.timeout(400)]

IDCS, ROOM = 20, 900
WAITING, SIZES = 500, (10, 20, 50, 100)
LARGE, LARGE_SIZE = 10, 600
"""Ten of the waiting orders want much more than the others, so that smaller ones could always overtake them."""
MOST_STEPS = 30
CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
FLEET = """
from django.utils import timezone
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
region_create(code="A"); isp_create(code="ct")
codes = [f"idc{{number:02}}" for number in range({idcs})]
for code in codes:
    idc_create(code=code, region="A", lines=[{{"isp": "ct", "purchased_mbps": {room}, "max_level": 1.0}}])
now = timezone.now()
samples_store(samples=[Sample(idc=c, line="ct", metric="bandwidth_mbps", value=0, at=now) for c in codes], now=now)
profile_create(code="plain", body={{"plugins": [{{"name": "network_flow", "plugin": "network_flow", "weight": 1}}]}})
for name in ("one", "other"):
    tenant = tenant_create(code=name, default_profile="plain")
    print(token_issue(user=user_create(username=name, role="portal", tenant=tenant), name="t").text)
"""
RELEASE = """
import json
from django.db import transaction
from idcsched.placement.models import Placement
from idcsched.placement.services import placement_release
with transaction.atomic():
    for placement in Placement.objects.filter(pk__in={ids}):
        placement_release(placement=placement)
"""
PLACEMENTS = """
    SELECT placement.id, request_id, state, tenant.code, placement.priority, placement.created_at, bandwidth_mbps,
        idc.code, tried_at FROM placement_placement AS placement
    JOIN accounts_tenant AS tenant ON tenant.id = tenant_id LEFT JOIN inventory_idc AS idc ON idc.id = placement.idc_id
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A placement as it stands in the database."""

    id: str
    request_id: str
    state: str
    tenant: str
    priority: int
    created_at: Any
    size: float
    idc: str | None
    tried_at: Any

    def before(self, other: "Row") -> bool:
        """Whether this order comes before the other one.

        Orders of two tenants take turns; a new order is behind all that wait.
        """
        if other.request_id.startswith("new"):
            return self.priority >= other.priority
        if self.priority != other.priority:
            return self.priority > other.priority
        return self.tenant == other.tenant and self.created_at < other.created_at


class Town:
    """A web process, a worker and beat, which can all be killed at once."""

    def __init__(self, installation: Installation) -> None:
        self.installation, self.port = installation, free_port()
        self.children = self._started()

    def kill_everything(self) -> None:
        for child in self.children:
            os.killpg(child.process.pid, signal.SIGKILL)
        for child in self.children:
            child.process.wait()
        self.children = self._started()

    def stop(self) -> None:
        stop(*self.children, grace=20)

    def post(self, path: str, body: Mapping[str, Any], token: str) -> dict[str, Any]:
        return post(f"http://127.0.0.1:{self.port}/api/v1/{path}/", dict(body), token)

    def _started(self) -> list[Child]:
        quiet = ("--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "WARNING")
        children = [
            self.installation.start("web", *web_command(port=self.port)),
            self.installation.start("worker", *CELERY, "worker", *quiet),
            self.installation.start("beat", *CELERY, "beat", "--pidfile=", "--loglevel", "WARNING"),
        ]
        wait_for(self._answers, "the web process", seconds=60)
        return children

    def _answers(self) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/health/ready/", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False


@pytest.fixture
def database(postgresql_server: str) -> str:
    name = f"waiting_{uuid4().hex}"
    with closing(psycopg2.connect(postgresql_server)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(postgresql_server)._replace(path=f"/{name}"))


@pytest.fixture
def rows(database: str) -> Iterator[Callable[[], list[Row]]]:
    with closing(psycopg2.connect(database)) as connection, connection.cursor() as cursor:
        connection.autocommit = True

        def read() -> list[Row]:
            cursor.execute(PLACEMENTS)
            return [Row(*row) for row in cursor.fetchall()]

        yield read


@pytest.fixture
def tokens() -> list[str]:
    return []


@pytest.fixture
def town(tmp_path: Path, database: str, tokens: list[str]) -> Iterator[Town]:
    with redis.running() as broker:
        settings = {"DATABASE_URL": database, "REDIS_URL": f"{broker}/0", "THROTTLE": "off", "RECORD_INPUTS": "0"}
        installation = Installation(tmp_path, **settings)
        installation.migrate()
        tokens += installation.python(FLEET.format(idcs=IDCS, room=ROOM)).splitlines()[-2:]
        found = Town(installation)
        try:
            yield found
        finally:
            found.stop()


def test_it_works(town: Town, tokens: list[str], rows: Callable[[], list[Row]]) -> None:
    chance, killed = random.Random(8), 0
    _fill(town, tokens, chance)
    assert sum(row.state == "waiting" for row in rows()) == WAITING
    for step in range(MOST_STEPS):
        before = rows()
        if not any(row.state == "waiting" for row in before):
            break
        _give_back(town, before, chance)
        since = datetime.now(UTC)
        _newcomer(town, tokens[step % 2], step)
        if step in (0, 1):
            _wait_for_some(rows, before)
            killed += any(row.state == "waiting" and row.tried_at < since for row in rows())
            town.kill_everything()
        _wait_until_tried(rows, since)
        _newcomer(town, tokens[step % 2], step + MOST_STEPS)
        _check_step(before, rows())
    after = rows()
    waited = [row for row in after if row.request_id.startswith("waits")]
    assert {row.state for row in waited} <= {"reserved", "released"}, "everybody got a place"
    assert len(waited) == WAITING, "and nobody got two"
    assert killed, "somebody was killed in the middle of a round"
    assert town.installation.manage("ledger_audit").strip() == "The ledger agrees with the placements."
    print(f"{step} steps, newcomers placed: {sum(row.request_id.startswith('new') for row in after)}")


def _fill(town: Town, tokens: Sequence[str], chance: random.Random) -> None:
    """Take all room, and then place orders that must wait."""
    whole = {"region": "A", "action": "reserve", "ttl_seconds": 3600, "machines": [{"bandwidth_mbps": ROOM}]}
    town.post("schedule/batch", {"requests": [whole] * IDCS}, tokens[0])
    sizes = [LARGE_SIZE] * LARGE + [chance.choice(SIZES) for _ in range(WAITING - LARGE)]
    chance.shuffle(sizes)
    for number in range(0, WAITING, 50):
        asked = [
            {**whole, "machines": [{"bandwidth_mbps": size}], "wait_seconds": 3600, "request_id": f"waits{number}"}
            | {"priority": chance.randint(0, 3)}
            for size in sizes[number : number + 50]
        ]
        answer = town.post("schedule/batch", {"requests": asked}, tokens[number // 50 % 2])
        assert {each["state"] for each in answer["results"]} == {"waiting"}


def _give_back(town: Town, before: Sequence[Row], chance: random.Random) -> None:
    """Release two thirds of the reservations in one transaction."""
    holding = [row for row in before if row.state == "reserved"]
    chosen = [str(row.id) for row in chance.sample(holding, max(len(holding) * 2 // 3, 1))]
    town.installation.python(RELEASE.format(ids=json.dumps(chosen)))


def _newcomer(town: Town, token: str, number: int) -> None:
    """Send a new small order of the lowest priority, which may be refused."""
    asked = {"region": "A", "action": "reserve", "ttl_seconds": 3600, "machines": [{"bandwidth_mbps": SIZES[0]}]}
    try:
        town.post("schedule", {**asked, "priority": 0, "request_id": f"new{number}"}, token)
    except HTTPError as refused:
        assert refused.code == 409  # noqa: PT017 - or it was answered


def _wait_for_some(rows: Callable[[], list[Row]], before: Sequence[Row]) -> None:
    """Wait until a round of trying the waiting orders has begun but not ended."""
    waiting = {row.id for row in before if row.state == "waiting"}
    tried = {row.id: row.tried_at for row in rows()}

    def begun() -> bool:
        now = {row.id: row for row in rows() if row.id in waiting}
        return sum(row.state != "waiting" or row.tried_at != tried[row.id] for row in now.values()) >= 10

    wait_for(begun, "a round", seconds=60)


def _wait_until_tried(rows: Callable[[], list[Row]], since: Any) -> None:
    """Wait until every order that still waits was tried since then."""

    def tried() -> bool:
        return all(row.tried_at > since for row in rows() if row.state == "waiting")

    wait_for(tried, "everybody to be tried", seconds=90)


def _check_step(before: Sequence[Row], after: Sequence[Row]) -> None:
    """For each order that got a place: assert that no order before it still waits that would have fitted there."""
    left = dict.fromkeys((row.idc for row in after if row.idc), float(ROOM))
    for row in after:
        if row.state == "reserved":
            left[row.idc] -= row.size
    assert min(left.values()) >= 0, "nothing is oversold"
    placed_before = {row.id for row in before if row.state != "waiting"}
    placed = [row for row in after if row.state == "reserved" and row.id not in placed_before]
    waiting = [row for row in after if row.state == "waiting"]
    for row in placed:
        assert not [one for one in waiting if one.before(row) and one.size <= left[row.idc] + row.size], row
