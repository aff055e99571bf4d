"""The snapshot of 10,000 IDCs with three lines each and twenty metrics a line, built from its facts."""

import time
from functools import cache

from bench.fleet import NOW, world_of
from bench.row import Row, Sides, Workshop
from idcsched.framework.building import build_snapshot
from idcsched.framework.facts import World

IDCS, METRICS = 10_000, 20


@cache
def world() -> World:
    return world_of(IDCS, metrics_a_line=METRICS)


def building(_: Workshop) -> Sides:
    def once() -> float:
        started = time.perf_counter()
        build_snapshot(world(), id="bench", built_at=NOW)
        return time.perf_counter() - started

    world()
    return Sides(once, 1.0)


ROWS = (
    Row(
        name="snapshot_build_s",
        title="a snapshot of 10,000 IDCs, 3 lines each, 20 metrics a line, built from its facts",
        unit="s",
        set_up=building,
    ),
)
