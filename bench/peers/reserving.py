"""Orders taken by our service, or bare transactions, by sixteen clients at once: `python -m bench.peers.reserving`.

Reads `ours` or `theirs` a line and answers with a line: how many were taken a second. `DATABASE_URL` names an empty
PostgreSQL. All clients want the same twenty IDCs, of which none ever gives out.
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from uuid import uuid4

import django

django.setup()

import psycopg2
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.framework.decoding import convert
from idcsched.framework.request import Request
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.placement.services import placement_order
from idcsched.scheduling.services import profile_create
from idcsched.web.startup import begin
from metrics_ingest.services import Sample, samples_store

CLIENTS, IDCS, EACH = 16, 20, 25
PLENTY = 1e9
PORTAL = Principal(user_id=1, username="portal", role=Role.PORTAL, tenant="t")
ORDER = {
    "region": "A", "action": "reserve", "explain": "none",
    "machines": [{"count": 2, "bandwidth_mbps": 10, "cpu": 4}],
}  # fmt: skip
BARE = """
    CREATE TABLE bare_holding (id int PRIMARY KEY, taken float8 NOT NULL, ceiling float8 NOT NULL);
    CREATE TABLE bare_placement (id uuid PRIMARY KEY, holding int REFERENCES bare_holding, state text, at timestamptz);
    CREATE TABLE bare_event (id bigserial PRIMARY KEY, placement uuid REFERENCES bare_placement, move text);
    INSERT INTO bare_holding SELECT number, 0, 1e12 FROM generate_series(1, 20) AS number
"""
TAKE = """
    UPDATE bare_holding SET taken = taken + 20 WHERE id = %(idc)s AND taken + 20 <= ceiling;
    INSERT INTO bare_placement VALUES (%(id)s, %(idc)s, 'reserved', now());
    INSERT INTO bare_event (placement, move) VALUES (%(id)s, 'reserve')
"""


def prepare() -> str:
    """The fleet; returns a portal's token."""
    call_command("migrate", verbosity=0)
    region_create(code="A")
    isp_create(code="ct")
    codes, now = [f"idc{number:02}" for number in range(IDCS)], timezone.now()
    for code in codes:
        idc_create(code=code, region="A", stock_cpu=PLENTY, lines=[{"isp": "ct", "purchased_mbps": PLENTY}])
    samples_store(
        samples=[Sample(idc=code, line="ct", metric="bandwidth_mbps", value=0, at=now) for code in codes], now=now
    )
    scored = [{"name": "network_flow", "plugin": "network_flow", "weight": 1}]
    plain = [{"name": name, "plugin": name} for name in ("available", "resource")]
    profile_create(code="plain", body={"plugins": [*plain, *scored], "pick": {"kind": "near_best", "epsilon": 100}})
    tenant = tenant_create(code="t", default_profile="plain")
    with closing(psycopg2.connect(**dsn())) as connection, connection, connection.cursor() as cursor:
        cursor.execute(BARE)
    return token_issue(user=user_create(username="portal", role="portal", tenant=tenant), name="t").text


def dsn() -> dict[str, Any]:
    found = settings.DATABASES["default"]
    return {"dbname": found["NAME"], "user": found["USER"], "host": found["HOST"], "port": found["PORT"]}


def ours(client: int) -> None:
    try:
        for number in range(EACH):
            order = convert({**ORDER, "request_id": f"{client}-{number}"}, Request)
            placement_order(request=order, principal=PORTAL, http_request_id=str(uuid4()))
    finally:
        connections.close_all()


def theirs(client: int) -> None:
    """A guarded UPDATE, two INSERTs and a commit, in one message as ours."""
    with closing(psycopg2.connect(**dsn())) as connection:
        for number in range(EACH):
            with connection, connection.cursor() as cursor:
                cursor.execute(TAKE, {"id": str(uuid4()), "idc": (client + number) % IDCS + 1})


def rate(work: Callable[[int], None]) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, range(CLIENTS)))
    return CLIENTS * EACH / (time.perf_counter() - started)


def main() -> None:
    token = prepare()
    begin()
    print("ready", token, flush=True)
    sides = {"ours": ours, "theirs": theirs}
    for line in sys.stdin:
        print(rate(sides[line.strip()]), flush=True)


if __name__ == "__main__":
    main()
