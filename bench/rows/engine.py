"""One decision, with its five best explained, beside Nova, SQL and bare arrays, while measurements come in."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import Any

import msgspec
import numpy as np
import psycopg2

from bench.fleet import NOW, default_profile, requests, snapshot_of
from bench.measuring import each
from bench.peers import floor, nova, ours, sql
from bench.row import Measure, Row, Sides, Workshop
from idcsched.framework.answer import Answer
from idcsched.framework.building import lines_with_room
from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.cycle import decide
from idcsched.framework.explain import Explain, answer
from idcsched.framework.memory import Memory
from idcsched.framework.question import Question
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Headcounts, MetricColumn, Snapshot
from tests.servers import postgresql

REQUESTS = 480
NEWS_EVERY = 25
"""Before every so manieth question 1 % of the lines have new values."""
TOP = 5


def moving(idcs: int, *, news_every: int = NEWS_EVERY, count: int = REQUESTS) -> Measure:
    """Every request once, in microseconds a decision; taking in the news is not timed."""
    asked = requests(count)

    def measure() -> float:
        snapshot, spent = snapshot_of(idcs), 0
        for number, request in enumerate(asked):
            if number % news_every == 0:
                snapshot = with_news(snapshot, number)
            begun = perf_counter_ns()
            decided(snapshot, request)
            spent += perf_counter_ns() - begun
        return spent / 1e3 / len(asked)

    return measure


def with_news(snapshot: Snapshot, seed: int) -> Snapshot:
    """The snapshot with new bandwidth values of 1 % of its lines, as the scheduler takes them in."""
    rng, old = np.random.default_rng(seed), snapshot.metrics[BANDWIDTH]
    lines = rng.integers(0, old.values.size, max(old.values.size // 100, 1))
    values, at = old.values.copy(), old.at.copy()
    values[lines], at[lines] = snapshot.lines.purchased[lines] * rng.uniform(0, 1.2, lines.size), NOW
    column = MetricColumn(old.fact, values, at)
    moved = lines_with_room(snapshot.lines, column, snapshot.usage)
    return replace(snapshot, metrics={**snapshot.metrics, BANDWIDTH: column}, lines=moved)


def first(idcs: int, _: Workshop) -> Sides:
    """The first question on a snapshot that was just built."""
    asked = requests(24)

    def measure() -> float:
        snapshot, spent = snapshot_of(idcs), 0
        for request in asked:
            fresh = replace(
                snapshot,
                idcs=replace(snapshot.idcs, memory=Memory()),
                headcounts=Headcounts(snapshot.headcounts.facts),
            )
            begun = perf_counter_ns()
            decided(fresh, request)
            spent += perf_counter_ns() - begun
        return spent / 1e3 / len(asked)

    return Sides(measure, floored(idcs))


def decided(snapshot: Snapshot, request: Request, *, explain: Explain = "summary") -> Answer:
    return answer(decide(Question(request, snapshot, default_profile(), now=NOW)), explain=explain, top=TOP)


def in_milliseconds(measure: Measure) -> Measure:
    return lambda: measure() / 1e3


def beside_nova(idcs: int, workshop: Workshop) -> Sides:
    theirs = workshop.shared(partial(nova.deciding, idcs))
    return Sides(in_milliseconds(moving(idcs)), theirs)


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
    same = answer(decide(Question(ours.question(), ours.same_fleet(idcs), ours.same_policy(), now=NOW)))
    if same.idc is None or same.idc.code != ask()[1]:
        raise AssertionError("SQL decides otherwise than we do")
    times = 20
    return Sides(in_milliseconds(moving(idcs)), each([ask] * times, scale=1e3))


def floored(idcs: int) -> Measure:
    return each([partial(floor.best_in_arrays, floor.bare_fleet(idcs))] * REQUESTS)


def beside_floor(idcs: int, _: Workshop) -> Sides:
    return Sides(moving(idcs), floored(idcs))


def growing(few: int, many: int, most: float, _: Workshop) -> Sides:
    """Over many IDCs, beside the time over few times the most that it may grow."""
    over_few = moving(few)
    return Sides(moving(many), lambda: most * over_few())


def full(idcs: int, _: Workshop) -> Sides:
    """Everything explained, in pages of at most a thousand, encoded."""
    snapshot, encode = snapshot_of(idcs), msgspec.json.Encoder().encode

    def ask(request: Request) -> bytes:
        return encode(answer(decide(Question(request, snapshot, default_profile(), now=NOW)), explain="full"))

    return Sides(each([partial(ask, request) for request in requests(10)], scale=1e3), 45.0)


ROWS = (
    Row(
        name="moving_10k_nova",
        title="one decision over 10,000 IDCs, beside Nova's own handlers",
        unit="ms",
        set_up=partial(beside_nova, 10_000),
    ),
    Row(
        name="moving_10k_sql",
        title="… beside one SQL statement on PostgreSQL",
        unit="ms",
        set_up=partial(beside_sql, 10_000),
    ),
    Row(
        name="moving_1k_sql",
        title="… over 1,000 IDCs",
        unit="ms",
        set_up=partial(beside_sql, 1_000),
    ),
    Row(
        name="moving_10k_floor",
        title="… beside bare arrays, 10,000 IDCs",
        unit="us",
        set_up=partial(beside_floor, 10_000),
    ),
    Row(
        name="moving_1k_floor",
        title="… 1,000 IDCs",
        unit="us",
        set_up=partial(beside_floor, 1_000),
    ),
    Row(
        name="first_10k_floor",
        title="… the first question on a snapshot, 10,000 IDCs",
        unit="us",
        set_up=partial(first, 10_000),
    ),
    Row(
        name="first_1k_floor",
        title="… 1,000 IDCs",
        unit="us",
        set_up=partial(first, 1_000),
    ),
    Row(
        name="growth_100_to_10k",
        title="one decision over 10,000 IDCs, beside three times one over 100",
        unit="us",
        set_up=partial(growing, 100, 10_000, 3.0),
    ),
    Row(
        name="full_10k_ms",
        title="`explain: full` over 10,000 IDCs, encoded",
        unit="ms",
        set_up=partial(full, 10_000),
    ),
)
