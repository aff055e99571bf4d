"""`python -m bench.scaling`: what more web processes, IDCs and tenants change; figures in var/scaling.json.

An installation as it is shipped (nginx, web processes, PostgreSQL with its safety on), all on this machine, together
with wrk, which asks. Requests go through nginx and are put on record. More and more clients ask at once, each as soon
as it is answered, so that the knee shows: from there on more clients wait longer, and no more are answered. Of several
rounds the best counts, since what other work on the machine takes is no property of ours. What a request takes of the
processors is counted apart for web processes, PostgreSQL and nginx: that tells how much of each is needed on hosts
that have more of them than this one.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from bench.measuring import machine, rounded
from bench.processes import family, worked
from bench.serving import Load, Server, served
from tests.servers import nginx

__all__ = ["CLIENTS", "PROCESSES", "RESULT", "knee", "main"]

RESULT = Path("var/scaling.json")
PROCESSES = (1, 2, 4)
CLIENTS = (1, 2, 4, 8, 16)
FLEETS = ((1000, 0), (1000, 1000), (10_000, 0), (10_000, 1000))
"""IDCs and tenants."""
ROUNDS = 2
KNEE = 0.9
IDLE = 0.05
IDCS = 1000
ASKED: Mapping[str, Callable[[Server, int], Load]] = {"recommend": Server.recommends, "reserve": Server.reserves}
TICKS = os.sysconf("SC_CLK_TCK")
Point = dict[str, float]


@contextmanager
def behind_proxy(idcs: int, *, workers: int = 1, tenants: int = 0) -> Iterator[tuple[Server, int]]:
    """An installation asked by way of nginx, and the number of nginx's process."""
    with (
        served(idcs, record=True, workers=workers, tenants=tenants) as server,
        nginx.running(server.address.removeprefix("http://")) as proxy,
    ):
        yield replace(server, address=f"http://127.0.0.1:{proxy.port}"), proxy.child.process.pid


def point(server: Server, proxy: int, what: str, clients: int) -> Point:
    """What so many clients get, and what a request takes of the processors, in microseconds, with its record."""
    parts = {"web": server.process, "postgresql": server.database, "nginx": proxy}
    begun, before = monotonic(), _worked(parts)
    load = ASKED[what](server, clients)
    answered = load.per_second * (monotonic() - begun)
    _settle(parts)
    took = {f"{part}_us": (ticks - before[part]) / TICKS / answered * 1e6 for part, ticks in _worked(parts).items()}
    figures = {
        "per_second": load.per_second,
        "refused": load.refused,
        "p50_ms": load.p50_ms,
        "p99_ms": load.p99_ms,
    } | took
    return {"clients": clients} | {name: rounded(value) for name, value in figures.items()}


def _settle(parts: Mapping[str, int]) -> None:
    """Wait until the records are written, which are made behind the answers: until next to nothing is done."""
    until = monotonic() + 60
    before = sum(_worked(parts).values())
    while monotonic() < until:
        sleep(0.5)
        now = sum(_worked(parts).values())
        if now - before < IDLE * TICKS:
            return
        before = now


def _worked(parts: Mapping[str, int]) -> dict[str, int]:
    return {part: sum(worked(each) for each in family(process)) for part, process in parts.items()}


def by_processes() -> list[dict[str, Any]]:
    """So many web processes, each time on an installation of their own, in turns."""
    rounds: dict[tuple[int, str, int], list[Point]] = {}
    for turn in range(ROUNDS):
        for processes in PROCESSES:
            with behind_proxy(IDCS, workers=processes) as (server, proxy):
                for what in ASKED:
                    point(server, proxy, what, CLIENTS[-1])  # all processes are warm
                    for clients in CLIENTS:
                        found = point(server, proxy, what, clients)
                        rounds.setdefault((processes, what, clients), []).append(found)
            print(f"round {turn + 1} of {ROUNDS}: {processes} web processes", flush=True)
    return [
        {"processes": processes, "what": what, "points": [_best(rounds[processes, what, n]) for n in CLIENTS]}
        for what in ASKED
        for processes in PROCESSES
    ]


def by_fleet() -> list[dict[str, Any]]:
    """One web process over so many IDCs and tenants, in turns."""
    with ExitStack() as stack:
        ready = [stack.enter_context(behind_proxy(idcs, tenants=tenants)) for idcs, tenants in FLEETS]
        rounds = [[{what: point(*each, what, 4) for what in ASKED} for each in ready] for _ in range(ROUNDS + 1)]
        memory = [rounded(server.memory()) for server, _ in ready]
    return [
        {"idcs": idcs, "tenants": tenants, "memory_mb": held}
        | {what: _best([each[number][what] for each in rounds[1:]]) for what in ASKED}
        for number, ((idcs, tenants), held) in enumerate(zip(FLEETS, memory, strict=True))
    ]


def _best(points: Sequence[Point]) -> Point:
    """Of several rounds the one in which most were answered, with the least that a request took of the processors."""
    best = max(points, key=lambda each: each["per_second"])
    return best | {name: min(each[name] for each in points) for name in best if name.endswith("_us")}


def knee(points: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The point of the fewest clients from which on more of them bring next to nothing."""
    most = max(each["per_second"] for each in points)
    return next(each for each in points if each["per_second"] >= KNEE * most)


def main() -> int:
    processes, fleets = by_processes(), by_fleet()
    found = {"machine": machine(), "processes": processes, "fleets": fleets}
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for each in processes:
        best = knee(each["points"])
        print(f"{each['processes']} processes, {each['what']}: {best}")
    for each in fleets:
        print(each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
