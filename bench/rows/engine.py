"""One decision, with its five best explained, beside Nova, SQL, bare arrays and plain loops."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import psycopg2

from bench.fleet import NOW, PROVINCES, default_profile, requests, snapshot_of
from bench.measuring import each
from bench.peers import floor, nova, ours, sql
from bench.row import Measure, Row, Sides, Workshop
from idcsched.framework.cycle import decide
from idcsched.framework.decision import Answer
from idcsched.framework.explain import Explain, answer
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from tests.servers import postgresql

REQUESTS = 480
TOP = 5


def engine(snapshot: Snapshot, asked: list[Request]) -> Measure:
    """Every request once, in microseconds a decision."""
    return each([partial(decided, snapshot, request) for request in asked])


def decided(snapshot: Snapshot, request: Request, *, explain: Explain = "summary") -> Answer:
    return answer(decide(request, snapshot, default_profile(), now=NOW), explain=explain, top=TOP)


def cold(snapshot: Snapshot, request: Request) -> Answer:
    """On a snapshot that nobody has asked anything yet."""
    return decided(replace(snapshot, derived={}), request)


def in_milliseconds(measure: Measure) -> Measure:
    return lambda: measure() / 1e3


def beside_nova(idcs: int, workshop: Workshop) -> Sides:
    theirs = workshop.shared(partial(nova.deciding, idcs))
    return Sides(in_milliseconds(engine(snapshot_of(idcs), requests(REQUESTS))), theirs)


@contextmanager
def cursor() -> Iterator[Any]:
    """On a PostgreSQL of our own, with its safety on: reading does not care."""
    with (
        postgresql.running({}) as url,
        closing(psycopg2.connect(url)) as connection,
        connection,
        connection.cursor() as found,
    ):
        yield found


def beside_sql(idcs: int, workshop: Workshop) -> Sides:
    found, statement = workshop.shared(cursor), sql.pick("pyformat")

    def ask() -> tuple[Any, ...]:
        found.execute(statement, sql.LIMITS)
        row: tuple[Any, ...] = found.fetchone()
        return row

    sql.fill(found, "%s", idcs)
    same = answer(decide(ours.question(), ours.same_fleet(idcs), ours.same_policy(), now=NOW))
    if same.idc is None or same.idc.code != ask()[1]:
        raise AssertionError("SQL decides otherwise than we do")
    times = 20
    return Sides(in_milliseconds(engine(snapshot_of(idcs), requests(REQUESTS))), each([ask] * times, scale=1e3))


def beside_floor(
    idcs: int,
    _: Workshop,
    *,
    ask: Callable[[Snapshot, Request], Answer] = decided,
    regions: tuple[str, ...] = ("cn",),
    count: int = REQUESTS,
) -> Sides:
    bare, snapshot = floor.bare_fleet(idcs), snapshot_of(idcs)
    actions = [partial(ask, snapshot, request) for request in requests(count, regions=regions)]
    return Sides(each(actions), each([partial(floor.best_in_arrays, bare)] * min(count, REQUESTS)))


def beside_loops(idcs: int, _: Workshop) -> Sides:
    bare = floor.bare_fleet(idcs)
    rows = floor.rows_of(bare)
    theirs = each([partial(floor.best_in_loops, bare, rows)] * REQUESTS)
    return Sides(engine(snapshot_of(idcs), requests(REQUESTS)), theirs)


def full(idcs: int, _: Workshop) -> Sides:
    """Everything explained, in pages of at most a thousand, encoded."""
    snapshot, encode = snapshot_of(idcs), msgspec.json.Encoder().encode

    def ask(request: Request) -> bytes:
        return encode(answer(decide(request, snapshot, default_profile(), now=NOW), explain="full"))

    return Sides(each([partial(ask, request) for request in requests(10)], scale=1e3), 40.0)


_provinces = tuple(f"p{number:02}" for number in range(PROVINCES))

ROWS = (
    Row(
        name="engine_10k_nova",
        title="one decision over 10,000 IDCs, beside Nova's own handlers",
        unit="ms",
        required=1000,
        set_up=partial(beside_nova, 10_000),
    ),
    Row(
        name="engine_10k_sql",
        title="… beside one SQL statement on PostgreSQL",
        unit="ms",
        required=20,
        set_up=partial(beside_sql, 10_000),
    ),
    Row(
        name="engine_1k_sql",
        title="… over 1,000 IDCs",
        unit="ms",
        required=6,
        set_up=partial(beside_sql, 1_000),
    ),
    Row(
        name="engine_1k_floor",
        title="… beside bare arrays, 1,000 IDCs",
        unit="us",
        required=1 / 2.5,
        set_up=partial(beside_floor, 1_000),
    ),
    Row(
        name="engine_10k_floor",
        title="… 10,000 IDCs",
        unit="us",
        required=1 / 1.6,
        set_up=partial(beside_floor, 10_000),
    ),
    Row(
        name="engine_100k_floor",
        title="… 100,000 IDCs",
        unit="us",
        required=1 / 1.2,
        set_up=partial(beside_floor, 100_000, count=400),
    ),
    Row(
        name="engine_10k_floor_cold",
        title="… 10,000 IDCs, on a snapshot that nobody has asked anything yet",
        unit="us",
        required=1 / 6,
        set_up=partial(beside_floor, 10_000, ask=cold),
    ),
    Row(
        name="engine_100_loops",
        title="… beside plain Python loops, 100 IDCs",
        unit="us",
        required=1 / 1.3,
        set_up=partial(beside_loops, 100),
    ),
    Row(
        name="engine_slice_10k_floor",
        title="… a region that holds 1/20 of 10,000, beside bare arrays over all of them",
        unit="us",
        required=1,
        set_up=partial(beside_floor, 10_000, regions=_provinces),
    ),
    Row(
        name="full_10k_ms",
        title="`explain: full` over 10,000 IDCs, encoded",
        unit="ms",
        required=1,
        set_up=partial(full, 10_000),
    ),
)
