"""Workers are killed and a cloud's answers are lost while machines start and stop: no machine is left over or lost."""

import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import boto3
import psycopg2
import pytest
from botocore.config import Config

from idcsched.demo.processes import Child, stop
from tests.e2e.flaky_cloud import FlakyRoad, flaky_road
from tests.e2e.installation import Installation
from tests.servers import moto, redis

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
WORKERS = 2
PLACEMENTS = 80
PATIENCE = 1200
REGIONS = ("us-east-1", "us-east-2", "us-west-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-northeast-1")
"""The cloud's regions; there are several because it goes through all machines of a region to find one."""
WORLD = """
from idcsched.accounts.services import tenant_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.provisioning.services import provider_create
from idcsched.scheduling.services import profile_create
region_create(code="A")
cloud = {{
    "url": "{url}", "access_key": "key", "image": "ami-12c6146b", "timeout_seconds": 4, "tries": 4,
    "sizes": [{{"id": "t2.small", "cpu": 1}}],
}}
clouds = {{code: cloud | {{"region": code}} for code in {regions}}}
full = cloud | {{"sizes": [{{"id": "full.type", "cpu": 1}}]}}
for code, config in {{**clouds, "full": full}}.items():
    provider_create(code=code, kind="libcloud", config=config, secret_ref="env:PROVIDER_CLOUD")
    idc_create(code=code, region="A", provider=code)
profile_create(code="any", body={{"plugins": []}})
tenant_create(code="live", default_profile="any")
"""
ORDERS = """
from idcsched.accounts.roles import Principal, Role
from idcsched.framework.request import Machine, Request
from idcsched.placement.services import placement_order
portal = Principal(user_id=1, username="portal", role=Role.PORTAL, tenant="live")
regions = {regions}
three = (Machine(count=3, cpu=1.0),)
for number in range({count}):
    own = regions[number % len(regions)]
    only = ((own,), (own,), ("full", own), (own,), ("full",))[number % 5]
    asked = Request(only=only, action="provision", request_id=str(number), machines=three)
    placement_order(request=asked, principal=portal, http_request_id=str(number))
"""
RELEASE_SOME = """
from idcsched.framework.errors import Conflict
from idcsched.placement.models import Placement
from idcsched.placement.services import placement_release
for placement in Placement.objects.filter(state__in=["active", "provisioning"]).order_by("?")[:10]:
    try:
        placement_release(placement=placement)
    except Conflict:
        pass
"""
OUTCOME = """
import json
from django.utils import timezone
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Attempt, Machine, MachineState, Placement
listed = Machine.objects.filter(attempt__placement__state="active", attempt__state="active")
print(json.dumps({
    "states": list(Placement.objects.values_list("state", flat=True)),
    "of_the_full": list(Placement.objects.filter(request__only=["full"]).values_list("state", flat=True)),
    "listed": {str(pk): provider_id for pk, provider_id in listed.values_list("pk", "provider_id")},
    "machines": sorted(set(listed.values_list("state", flat=True))),
    "differences": [str(each) for each in ledger_differences()],
    "needing": Placement.objects.filter(needs_attention=True).count(),
    "unlisted_failures": Placement.objects.filter(state="failed").exclude(attempts__state="failed").count(),
}))
"""
UNSETTLED = "SELECT count(*) FROM placement_placement WHERE state IN ('provisioning', 'releasing')"


class Workers:
    """A number of workers, each of which is replaced as soon as it is killed."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self.killed = 0
        self.alive = [self._another() for _ in range(WORKERS)]

    def kill_one(self) -> None:
        """Kill a process of a worker's pool, which the worker replaces; every eighth time kill the whole worker."""
        ready = [worker for worker in self.alive if " ready." in worker.log.read_text(errors="replace")]
        pool = [pid for worker in ready for pid in _children(worker.process.pid)]
        if not pool:
            return
        self.killed += 1
        if self.killed % 8:
            os.kill(random.choice(pool), signal.SIGKILL)
            return
        victim = random.choice(ready)
        self.alive.remove(victim)
        os.killpg(victim.process.pid, signal.SIGKILL)
        victim.process.wait()
        self.alive.append(self._another())

    def stop(self) -> None:
        stop(*self.alive, grace=30)

    def _another(self) -> Child:
        quiet = ("--concurrency", "3", "--without-gossip", "--without-mingle", "--loglevel", "WARNING")
        return self._installation.start("worker", *CELERY, "worker", *quiet)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def road() -> Iterator[FlakyRoad]:
    with moto.running() as url, flaky_road(url, unanswered=0.07, turned_away=0.05, seed=8) as found:
        found.moto = url  # type: ignore[attr-defined]
        yield found


@pytest.fixture
def database(postgresql_server: str) -> str:
    name = f"provisioning_{uuid4().hex}"
    with closing(psycopg2.connect(postgresql_server)) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(postgresql_server)._replace(path=f"/{name}"))


@pytest.fixture
def installation(tmp_path: Path, road: FlakyRoad, database: str) -> Iterator[Installation]:
    with redis.running() as broker:
        variables = {"DATABASE_URL": database, "REDIS_URL": f"{broker}/0", "OUTBOUND_HOSTS": "127.0.0.0/8"}
        variables["PROVIDER_SECRETS"] = "env:PROVIDER_CLOUD@127.0.0.1"
        installed = Installation(tmp_path, PROVIDER_CLOUD="secret", **variables)
        installed.manage("migrate", "--verbosity", "0")
        installed.python(WORLD.format(url=road.url, regions=REGIONS))
        yield installed


def standing(url: str) -> dict[str, str]:
    """Every machine of the cloud by its id, with the token that it bears; told by the cloud's own client."""
    return {machine: token for region in REGIONS for machine, token in _standing(url, region).items()}


def _standing(url: str, region: str) -> dict[str, str]:
    cloud = boto3.client(
        "ec2", endpoint_url=url, region_name=region, aws_access_key_id="key", aws_secret_access_key="secret",
        config=Config(retries={"max_attempts": 1}),
    )  # fmt: skip
    found = {}
    for page in cloud.get_paginator("describe_instances").paginate():
        for reservation in page["Reservations"]:
            for instance in reservation["Instances"]:
                if instance["State"]["Name"] not in ("terminated", "shutting-down"):
                    tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
                    found[instance["InstanceId"]] = tags["idcsched-token"]
    return found


def test_it_works(installation: Installation, road: Any, database: str) -> None:
    beat = installation.start("beat", *CELERY, "beat", "--pidfile=", "--loglevel", "WARNING")
    workers = Workers(installation)
    try:
        installation.python(ORDERS.format(count=PLACEMENTS, regions=REGIONS))
        _until_settled(installation, workers, database)
    finally:
        workers.stop()
        stop(beat)

    outcome = json.loads(installation.python(OUTCOME))
    states = Counter(outcome["states"])
    print(dict(states), dict(road.seen), f"{workers.killed} workers killed")
    assert set(states) <= {"active", "failed", "released"}
    assert states.total() == PLACEMENTS
    assert len(outcome["of_the_full"]) == PLACEMENTS // 5
    assert set(outcome["of_the_full"]) == {"failed", "released"}, "the IDC that is full has no alternate"
    assert states["active"] >= 40
    assert states["released"] >= 10
    assert workers.killed >= 3
    assert road.seen["RunInstances unanswered"] >= 5
    assert (outcome["machines"], outcome["differences"], outcome["needing"]) == (["active"], [], 0)
    assert outcome["unlisted_failures"] == 0
    assert len(outcome["listed"]) == 3 * states["active"]
    there = standing(road.moto)
    assert {token: machine for machine, token in there.items()} == outcome["listed"]
    assert len(there) == len(outcome["listed"]), "nothing is there twice"


def _until_settled(installation: Installation, workers: Workers, database: str) -> None:
    """Kill a worker every few seconds while many placements are unsettled; return when none is."""
    until, turns = monotonic() + PATIENCE, 0
    with closing(psycopg2.connect(database)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        while True:
            cursor.execute(UNSETTLED)
            (unsettled,) = cursor.fetchone()
            if not unsettled:
                return
            assert monotonic() < until, f"{unsettled} placements are still not settled"
            turns += 1
            sleep(random.uniform(1, 4))
            if unsettled > 10 or turns < 30:
                workers.kill_one()
            if turns in (4, 8):
                installation.python(RELEASE_SOME)
