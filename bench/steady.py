"""`python -m bench.steady [--minutes N]`: half of what the web server can take, while the data of decisions change.

They change while it is measured what it can take, too.

It goes on until so many minutes were undisturbed: on a shared machine, others take the processors at times. Prints what
came of it and writes var/steady.json. What is required: no failure, memory that does not grow and recorded decisions
that replay to the same answers, all of the time; and answers in time where nothing was taken away. The exit status is 1
if any of that is not so, and 2 if too little was undisturbed to say so of the answers.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count, cycle, islice, product, takewhile
from math import inf
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any, TypeAlias

import numpy as np

from bench.asked import ISPS, orders, requests
from bench.calling import Api, Failed
from bench.course import Course, Measured, at_the_most
from bench.serving import TENANT, Server, served
from bench.timeline import STRETCH, Answer, Mark, Seconds, State, Timeline, percentile_ms, spent, timeline
from idcsched.framework.capacity import BANDWIDTH

__all__ = ["Report", "main", "steady"]

RESULT = Path("var/steady.json")
IDCS = 1000
PORTALS = 8
SHARE = 0.5
SETTLING = 120.0  # seconds: caches fill, pools grow
REPLAYED = 50
MOST_GROWTH = 1.0  # MB a minute
LONGEST_P99 = 50.0  # ms
SAMPLES = 500
LOADS = ("cpu_load", "memory_load", "disk_load")
LONGEST = 3.0  # times what is wanted
TRIES = 60  # to measure the maximum undisturbed: three minutes
TOLD = 20  # failures, of which each is written down


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of it. Latencies count from when a request was due, so that waiting behind a slow one counts, too, and
    so does what the client itself was late; those of `orders`, each of which is released again before the next, from
    when it was sent. `unanswered` were due and not sent yet when it ended; `dropped`, when a
    disturbed stretch did. They count with what they had waited, among those that were due when they were.
    """

    wanted_minutes: float
    minutes: float
    maximum: float
    maximum_measured: State
    rate: float
    answers: int
    unanswered: int
    dropped: int
    changes: dict[str, int]
    failed: int
    failures: list[str]
    p50_ms: float | None
    p99_ms: float | None
    p999_ms: float | None
    worst_ms: float | None
    orders: dict[str, float | None]
    memory_mb: float
    growth_mb_a_minute: float
    replayed: int
    replayed_otherwise: int
    enough: bool
    timeline: Timeline

    @property
    def status(self) -> int:
        """0 as required, 1 not so, 2 where it can't be told."""
        return 1 if self.wrong() else 2 if self.unjudged() else 0

    def wrong(self) -> list[str]:
        """What is not as required."""
        p99 = self.timeline.undisturbed_p99_ms
        found = {
            "there were failures": self.failed > 0,
            "nothing was answered": self.answers == 0,
            "answers came late": not self.unjudged() and (p99 is None or p99 >= LONGEST_P99),
            "memory grows": not self.growth_mb_a_minute < MOST_GROWTH,  # where nothing is known, too
            "decisions do not replay": self.replayed_otherwise > 0 or self.replayed == 0,
        }
        return [what for what, so in found.items() if so]

    def unjudged(self) -> list[str]:
        """Why it can't be told whether answers come in time."""
        if self.timeline.stolen is None:
            return ["the machine does not tell what was taken away from it"]
        short = f"{self.timeline.undisturbed_minutes:g} of {self.wanted_minutes:g} minutes were undisturbed"
        found = {
            f"the host or other programs disturbed it: {short}": not self.enough,
            "the maximum could not be measured undisturbed": self.maximum_measured != "undisturbed",
        }
        return [why for why, so in found.items() if so]


@dataclass(slots=True)
class Log:
    """What the threads see."""

    course: Course = field(default_factory=lambda: Course(wanted=0.0, longest=0.0, marks=[]))
    begun: float = field(default_factory=monotonic)
    over: Event = field(default_factory=Event)
    latencies: list[Answer] = field(default_factory=list)
    orders: list[float] = field(default_factory=list)
    """How long each took, in seconds."""
    waiting: list[Answer] = field(default_factory=list)
    """When it ended, for their turn: they count, or the worst would be left out."""
    dropped: list[Answer] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def now(self) -> float:
        """Seconds since it was begun."""
        return monotonic() - self.begun


Run: TypeAlias = Callable[[Server, Log, Event], None]


def steady(
    seconds: float,
    *,
    longest: float,
    settling: float,
    share: float = SHARE,
    tries: int = TRIES,
    workers: int = 1,
) -> Report:
    """Run it all until so many seconds were undisturbed, at the longest for `longest` in all; memory counts from when
    it has settled."""
    with served(IDCS, record=True, workers=workers) as server:
        print("Measuring what the server takes at the most while everything changes ...", flush=True)
        with _going(server, Log(), CHANGES) as trial:
            maximum = at_the_most(server.schedule, lambda: Mark(monotonic(), spent()), tries)
        rate = maximum.figure * share
        course = Course(wanted=seconds, longest=longest, marks=[Mark(0.0, spent())])
        print(f"Asking {rate:.0f} times a second until {seconds / 60:g} minutes were undisturbed ...", flush=True)
        portals = [partial(_portal, rate, number) for number in range(PORTALS)]
        with _going(server, Log(course), [*CHANGES, _memory, _stretches, *portals]) as log:
            log.over.wait()
        log.failures += trial.failures
        sleep(2)  # what was recorded behind the last answers is there by now
        otherwise = _replayed(server, log)
    return _report(log, maximum, rate, settling, otherwise)


@contextmanager
def _going(server: Server, log: Log, runs: Sequence[Run]) -> Iterator[Log]:
    """All of them beside what is done meanwhile; when one of them ends, all do."""
    with ThreadPoolExecutor(len(runs)) as pool:
        going = [pool.submit(run, server, log, log.over) for run in runs]
        for each in going:
            each.add_done_callback(lambda _: log.over.set())
        try:
            yield log
        finally:
            log.over.set()
    for each in going:
        each.result()


def _stretches(server: Server, log: Log, stop: Event) -> None:
    """One after the other, until there are enough of them."""
    seen = 0
    while not stop.wait(STRETCH):
        came = len(log.latencies)
        log.course.mark(Mark(log.now, spent()), log.latencies[seen:came])
        seen = came
        if log.course.over:
            stop.set()


def _portal(rate: float, number: int, server: Server, log: Log, stop: Event) -> None:
    """One of the portals, which ask in turns: each request when it is due, or at once where that has passed."""
    asked = cycle(requests(400, seed=number))
    with closing(Api(server.address, server.token)) as api:
        for turn in count(number, PORTALS):
            due = turn / rate
            ended = stop.wait(max(0.0, due - log.now))
            if due < (afresh := log.course.afresh):
                log.dropped.append(Answer(due, afresh - due))
            elif ended:
                log.waiting += _overdue(log.course.marks[-1].at, turn, rate)
                return
            else:
                answer = _tried(log, lambda: api.call("POST", "/schedule/", next(asked)))
                log.latencies.append(Answer(due, log.now - due))
                if answer is not None:
                    log.decisions.append(answer["decision_id"])


def _overdue(now: float, turn: int, rate: float) -> list[Answer]:
    """The requests from this turn on that were due already: each has waited so long at least."""
    dues = takewhile(lambda due: due < now, (each / rate for each in count(turn, PORTALS)))
    return [Answer(due, now - due) for due in dues]


def _samples(server: Server, log: Log, stop: Event) -> None:
    """Everything that was measured when it began is measured again and again, a part of it each second."""
    random, measured = np.random.default_rng(3), cycle(_measured())

    def push(api: Api) -> None:
        body = [what | {"value": round(random.uniform(*between), 3)} for what, between in islice(measured, SAMPLES)]
        api.call("POST", "/samples/", body)

    _again_and_again(server, log, stop, "samples", 1.0, push)


def _measured() -> Iterator[tuple[dict[str, Any], tuple[float, float]]]:
    """What is measured of the fleet, and between which bounds."""
    idcs = [f"idc-{number:05d}" for number in range(IDCS)]
    loads = ({"idc": idc, "metric": load} for idc, load in product(idcs, LOADS))
    flows = ({"idc": idc, "line": isp, "metric": BANDWIDTH} for idc, isp in product(idcs, ISPS))
    for load, flow in zip(loads, flows, strict=True):
        yield load, (0.1, 0.85)
        yield flow, (100.0, 900.0)


def _taints(server: Server, log: Log, stop: Event) -> None:
    numbers = count()

    def taint_and_lift(api: Api) -> None:
        idc = f"idc-{next(numbers) % IDCS:05d}"
        made = api.call("POST", "/taints/", {"idc": idc, "key": "steady", "effect": "NoSchedule"})
        api.call("DELETE", f"/taints/{made['id']}/")

    _again_and_again(server, log, stop, "taints", 0.5, taint_and_lift)


def _profiles(server: Server, log: Log, stop: Event) -> None:
    weights = cycle([75, 80])

    def reweigh(api: Api) -> None:
        weight, plugins = next(weights), api.call("GET", "/profiles/default/")["plugins"]
        changed = [one | {"weight": weight} if one["plugin"] == "billing_cost" else one for one in plugins]
        api.call("PATCH", "/profiles/default/", {"plugins": changed})

    _again_and_again(server, log, stop, "profiles", 5.0, reweigh)


def _orders(server: Server, log: Log, stop: Event) -> None:
    asked = cycle(orders(400))

    def reserve_and_release(api: Api) -> None:
        sent = monotonic()
        placed = api.call("POST", "/schedule/", next(asked) | {"tenant": TENANT})
        log.orders.append(monotonic() - sent)
        api.call("POST", f"/placements/{placed['id']}/release/", {})

    _again_and_again(server, log, stop, "reservations", 0.1, reserve_and_release)


def _memory(server: Server, log: Log, stop: Event) -> None:
    """What the web server's processes hold, in MB."""
    while not stop.wait(1.0):
        log.memory.append((log.now, server.memory()))


def _again_and_again(
    server: Server, log: Log, stop: Event, what: str, pause: float, change: Callable[[Api], None]
) -> None:
    log.changes[what] = 0
    with closing(Api(server.address, server.token)) as api:
        while not stop.wait(pause):
            _tried(log, partial(change, api))
            log.changes[what] += 1


CHANGES: tuple[Run, ...] = (_samples, _taints, _profiles, _orders)


def _tried(log: Log, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Failed as failed:
        log.failures.append(str(failed))
        return None


def _replayed(server: Server, log: Log) -> list[bool]:
    """Of decisions all over the time, whether each comes to the same again on what was known then."""
    chosen = log.decisions[:: max(1, len(log.decisions) // REPLAYED)][:REPLAYED]
    paths = [f"/decisions/{decision}/replay/" for decision in chosen]
    with closing(Api(server.address, server.token)) as api:
        replies = [_tried(log, partial(api.call, "POST", path, {"data": "then"})) for path in paths]
    return [bool(reply["identical"]) for reply in replies if reply is not None]


def _report(log: Log, maximum: Measured, rate: float, settling: float, identical: list[bool]) -> Report:
    end = log.course.marks[-1].at
    answered = [answer for answer in log.latencies if answer.due < end]
    due = answered + log.waiting + log.dropped
    took = np.array([answer.took for answer in due])
    memory, growth = _grown(log.memory, settling)
    return Report(
        wanted_minutes=round(log.course.wanted / 60, 2),
        minutes=round(end / 60, 2),
        maximum=round(maximum.figure, 1),
        maximum_measured=maximum.time,
        rate=round(rate, 1),
        answers=len(answered),
        unanswered=len(log.waiting),
        dropped=len(log.dropped),
        changes=log.changes,
        failed=len(log.failures),
        failures=log.failures[:TOLD],
        p50_ms=percentile_ms(took, 50),
        p99_ms=percentile_ms(took, 99),
        p999_ms=percentile_ms(took, 99.9),
        worst_ms=percentile_ms(took, 100),
        orders=_latencies(np.array(log.orders)),
        memory_mb=memory,
        growth_mb_a_minute=growth,
        replayed=len(identical),
        replayed_otherwise=identical.count(False),
        enough=log.course.enough,
        timeline=timeline(log.course.marks, log.course.states, due),
    )


def _latencies(took: Seconds) -> dict[str, float | None]:
    shares = {"p50_ms": 50, "p99_ms": 99, "p999_ms": 99.9, "worst_ms": 100}
    return {name: percentile_ms(took, share) for name, share in shares.items()}


def _grown(memory: list[tuple[float, float]], settling: float) -> tuple[float, float]:
    """What was held in the end, in MB, and how much more a minute since it had settled."""
    settled = np.array([sample for sample in memory if sample[0] >= settling] or [(0.0, np.nan)])
    slope = np.polyfit(settled[:, 0], settled[:, 1], 1)[0] * 60 if len(settled) > 1 else np.nan
    return round(float(settled[-1, 1]), 1), round(float(slope), 3)


def _lines(report: Report) -> Iterator[str]:
    told = asdict(report)
    whole = told.pop("timeline")
    for stretch in whole.pop("stretches"):
        yield "  ".join(f"{name} {'-' if value is None else value}" for name, value in stretch.items())
    for name, value in (told | whole).items():
        yield f"{name.replace('_', ' '):<22}{value}"
    if wrong := report.wrong():
        yield f"NOT MET: {', '.join(wrong)}"
    if unjudged := report.unjudged():
        yield f"NOT JUDGED whether answers come in time: {', '.join(unjudged)}"
    if report.status == 0:
        yield "as required"


def minutes(text: str) -> float:
    """For how long; argparse names it so where it is no number."""
    if not 0 < (found := float(text)) < inf:
        raise argparse.ArgumentTypeError(f"{text} minutes are no time")
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.steady", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=minutes, default=10.0, help="undisturbed (default: %(default)s)")
    parser.add_argument(
        "--longest", type=minutes, metavar="MINUTES", help=f"in all (default: {LONGEST:g} times as many)"
    )
    parser.add_argument("--workers", type=int, default=1, help="of the web server (default: %(default)s)")
    options = parser.parse_args(arguments)
    seconds, longest = options.minutes * 60, (options.longest or options.minutes * LONGEST) * 60
    settling = min(SETTLING, seconds / 2, longest / 2)
    report = steady(seconds, longest=longest, settling=settling, workers=options.workers)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(asdict(report), indent=1) + "\n")
    print("\n".join(_lines(report)))
    return report.status


if __name__ == "__main__":
    sys.exit(main())
