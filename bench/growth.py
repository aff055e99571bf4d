"""`python -m bench.growth`: how a decision's time and memory grow with what there is; figures in var/growth.json.

One thing grows at a time; the rest is the fleet of `bench.fleet` with 1,000 IDCs. It is the processor's time, and of
several rounds the quickest counts: what other work on the machine adds is no property of ours.
"""

import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from bench.fleet import COUNTRY, NOW, default_profile, profile_of, requests, world_of
from bench.measuring import each, rounded
from bench.row import Measure
from idcsched.framework.building import build_snapshot
from idcsched.framework.columns import LineColumns, entries
from idcsched.framework.cycle import decide
from idcsched.framework.decoding import convert
from idcsched.framework.explain import answer
from idcsched.framework.facts import TaintFact, World
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot

__all__ = ["AXES", "RESULT", "main", "measured"]

RESULT = Path("var/growth.json")
IDCS = 1000
ASKED = 48
ROUNDS = 9
Point = dict[str, float]


def quickest(measure: Measure) -> float:
    measure()
    return min(measure() for _ in range(ROUNDS))


def snapshot(world: World) -> Snapshot:
    return build_snapshot(world, id="growth", built_at=NOW)


def told(picture: Snapshot, policy: Profile, request: Request) -> None:
    answer(decide(Question(request, picture, policy, now=NOW)))


def decided(world: World, policy: Profile | None = None, asked: list[Request] | None = None) -> Point:
    """Microseconds of the processor for a decision, and kB that it allocates at most."""
    picture, policy, asked = snapshot(world), policy or default_profile(), asked or requests(ASKED)
    time = quickest(each([partial(told, picture, policy, request) for request in asked], clock=process_time))
    tracemalloc.start()
    told(picture, policy, asked[0])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"us": rounded(time), "kb": rounded(peak / 1e3)}


def with_lines(count: int) -> World:
    """So many lines an IDC, in turns of the three ISPs."""
    world = world_of(IDCS)
    chosen = np.array([first + n % 3 for first in range(0, 3 * IDCS, 3) for n in range(count)])
    lines = LineColumns(**entries(LineColumns, world.lines, chosen))
    lines = replace(lines, codes=tuple(f"{code}-{n % count // 3}" for n, code in enumerate(lines.codes)))
    known = [samples for samples in world.samples if samples.metric.scope == "idc"]
    used = next(samples for samples in world.samples if samples.metric.scope == "line")
    values = lines.purchased * np.random.default_rng(1).uniform(0, 1.2, chosen.size)
    at = np.full(chosen.size, NOW - 60.0)
    return replace(
        world,
        lines=lines,
        samples=(*known, replace(used, subjects=np.arange(chosen.size), values=values, at=at)),
    )


def with_labels(count: int) -> World:
    """So many labels an IDC; two of them are asked for."""
    world = world_of(IDCS)
    labels = tuple({f"l{n}": f"v{(number + n) % 7}" for n in range(count)} for number in range(IDCS))
    return replace(world, idcs=replace(world.idcs, labels=labels))


def about_labels(count: int) -> list[Request]:
    terms = [{"key": f"l{n}", "operator": "In", "values": ["v0", "v1", "v2"]} for n in (0, count - 1)]
    document = {"region": COUNTRY, "selector": {"match_expressions": terms}}
    machines = [[{"count": n + 1, "bandwidth_mbps": 20}] for n in range(ASKED)]
    return [convert({**document, "machines": own}, Request) for own in machines]


def with_taints(count: int) -> World:
    """So many soft taints an IDC, of twenty kinds."""
    world = world_of(IDCS)
    taints = [
        TaintFact(idc=idc, key=f"k{(row + n) % 20}", effect="PreferNoSchedule")
        for row, idc in enumerate(world.idcs.codes)
        for n in range(count)
    ]
    return replace(world, taints=tuple(taints))


def with_scorers(count: int) -> Profile:
    """The default profile's filters, and so many scorers, each a metric of the IDC."""
    metrics = [
        {"name": f"m{n}", "plugin": "metric", "weight": 1, "args": {"metric": ("cpu_load", "disk_load")[n % 2]}}
        for n in range(count)
    ]
    filters = [{"name": name, "plugin": name} for name in ("available", "isp", "network_flow", "taint", "resource")]
    return profile_of({"plugins": [*filters, *metrics]})


AXES: dict[str, tuple[str, tuple[int, ...], Callable[[int], Point]]] = {
    "idcs": ("IDCs", (100, 300, 1000, 3000, 10_000, 30_000, 100_000), lambda n: decided(world_of(n))),
    "lines": ("lines an IDC", (3, 6, 12, 24, 48), lambda n: decided(with_lines(n))),
    "labels": ("labels an IDC", (2, 10, 50, 100), lambda n: decided(with_labels(n), asked=about_labels(n))),
    "taints": ("taints an IDC", (1, 3, 10, 30), lambda n: decided(with_taints(n))),
    "plugins": ("scorers", (1, 4, 16, 64), lambda n: decided(world_of(IDCS), with_scorers(n))),
}
"""What grows: how it is called, to which numbers, and what is measured then."""


def measured(axes: Iterator[str] | None = None) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for axis in axes or AXES:
        name, counts, measure = AXES[axis]
        for count in counts:
            point = {"n": float(count), **measure(count)}
            found.setdefault(axis, []).append(point)
            figures = ", ".join(f"{what} {value:g}" for what, value in point.items() if what != "n")
            print(f"{count:>7,} {name}: {figures}", flush=True)
    return found


def main() -> int:
    found: dict[str, Any] = measured()
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(1 for _ in chain(*found.values()))} points in {RESULT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
