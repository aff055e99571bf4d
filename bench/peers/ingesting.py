"""Our side of storing, in a process of its own, since Django knows one database: `python -m bench.peers.ingesting`.

Reads a word and a number a line, does that, and answers with a line: the seconds that it took. The number is the slot
of the bench's day from which on there are values. `DATABASE_URL` names an empty PostgreSQL.
"""

import json
import sys
import time
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection

import django

django.setup()

import numpy as np
from django.core.management import call_command
from django.db import connection

from bench.peers.copy_merge import LINES, METRICS, SLOTS, whole_days
from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import token_issue, user_create
from idcsched.inventory.models import Idc, Isp, Line, Region
from metrics_ingest.models import Metric, SampleDay
from metrics_ingest.samples.slots import SLOT, day_number, slot_floor, utc_midnight
from metrics_ingest.services import Sample, rollups_refresh, samples_collect, samples_store

TODAY = datetime.now(UTC).date()
DAYS = {"push": 4, "http": 3, "collect": 2}
"""Each subject has a day of its own, so that its rows are changed and not made, as it is with all but a day's first."""


def day_start(word: str) -> datetime:
    return utc_midnight(TODAY - timedelta(days=DAYS[word]))


def inventory() -> list[tuple[str, str]]:
    region = Region.objects.create(code="r")
    isps = [Isp.objects.create(code=code) for code in ("ct", "cu", "cm", "bgp")]
    idcs = Idc.objects.bulk_create(Idc(code=f"i-{number}", region=region) for number in range(LINES // 4))
    Line.objects.bulk_create(Line(idc=idc, code=isp.code, isp=isp, purchased_mbps=1000) for idc in idcs for isp in isps)
    Metric.objects.bulk_create(Metric(code=f"m{number}", direction="lower", scope="line") for number in range(METRICS))
    return list(Line.objects.order_by("id").values_list("idc__code", "code"))


def pushes(word: str, slot: int, lines: list[tuple[str, str]]) -> list[list[Sample]]:
    """One for each slot, of all lines."""
    start = day_start(word)
    return [
        [
            Sample(idc=idc, line=line, metric="bandwidth_mbps", value=float(number), at=start + (slot + later) * SLOT)
            for number, (idc, line) in enumerate(lines)
        ]
        for later in range(SLOTS)
    ]


def push(slot: int, lines: list[tuple[str, str]]) -> float:
    batches, now = pushes("push", slot, lines), datetime.now(UTC)
    started = time.perf_counter()
    for samples in batches:
        samples_store(samples=samples, now=now)
    return time.perf_counter() - started


def collect(slot: int, lines: list[tuple[str, str]]) -> float:
    """All metrics of all lines at one time, as one run of a source brings them."""
    at, now = day_start("collect") + slot * SLOT, datetime.now(UTC)
    samples = [
        Sample(idc=idc, line=line, metric=f"m{metric}", value=float(number), at=at)
        for metric in range(METRICS)
        for number, (idc, line) in enumerate(lines)
    ]
    started = time.perf_counter()
    found = samples_collect(samples=samples, now=now)
    took = time.perf_counter() - started
    if found.stored != len(samples):
        raise AssertionError(found.refused)
    return took


def over_http(slot: int, lines: list[tuple[str, str]], server: HTTPConnection, token: str) -> float:
    """What the samples are as JSON is made before the clock runs."""
    documents = [
        json.dumps(
            [
                {"idc": one.idc, "line": one.line, "metric": one.metric, "value": one.value, "at": one.at.isoformat()}
                for one in samples
            ]
        )
        for samples in pushes("http", slot, lines)
    ]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    started = time.perf_counter()
    for document in documents:
        server.request("POST", "/api/v1/samples/", document, headers)
        answer = server.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise AssertionError(body)
    return time.perf_counter() - started


def history() -> None:
    """Forty days of all lines' bandwidth, so that there is something to roll up; and the figures of the past."""
    ids = np.array(Line.objects.order_by("id").values_list("id", "idc_id"))
    metric = Metric.objects.get(code="bandwidth_mbps").pk
    SampleDay.objects.filter(metric_id=metric).delete()
    with connection.cursor() as cursor:
        for ago in range(40, -1, -1):
            whole_days(cursor, metric, ids, day_number(TODAY - timedelta(days=ago)))
    rollups_refresh(now=slot_floor(datetime.now(UTC)))


def refresh(slot: int, lines: list[tuple[str, str]]) -> float:
    """One slot's values came in, and everything is computed anew; `slot` only makes the time later."""
    now = slot_floor(datetime.now(UTC)) + (slot + 1) * SLOT
    samples = [Sample(idc=idc, line=line, metric="bandwidth_mbps", value=500.0, at=now) for idc, line in lines]
    samples_store(samples=samples, now=now)
    started = time.perf_counter()
    rollups_refresh(now=now)
    return time.perf_counter() - started


def main(port: int) -> None:
    call_command("migrate", verbosity=0)
    lines = inventory()
    operator: User = user_create(username="bench", role=Role.OPERATOR, tenant=None)
    token = token_issue(user=operator, name="bench").text
    server = HTTPConnection("127.0.0.1", port)
    print("ready", flush=True)
    does = {
        "push": push,
        "collect": collect,
        "http": lambda slot, lines: over_http(slot, lines, server, token),
        "refresh": refresh,
    }
    for said in sys.stdin:
        word, slot = said.split()
        if word == "history":
            history()
            print(0.0, flush=True)
        else:
            print(does[word](int(slot), lines), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
