"""`python -m bench.soak [--minutes N]`: half of what the web server can take, while the data of decisions change.

Prints what came of it and writes var/soak.json. What is required: no failure, memory that does not grow, answers in
time, and recorded decisions that replay to the same answers. The exit status is 1 if any of that is not so.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count, cycle, takewhile
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any, TypeAlias

import numpy as np

from bench.asked import requests
from bench.calling import Api, Failed
from bench.serving import Server, granian, served
from bench.timeline import STRETCH, Answer, Mark, Timeline, percentile_ms, spent, timeline

__all__ = ["Report", "soak"]

RESULT = Path("var/soak.json")
IDCS = 1000
PORTALS = 8
SHARE = 0.5
SETTLING = 120.0  # seconds: caches fill, pools grow
REPLAYED = 50
MOST_GROWTH = 1.0  # MB a minute
LONGEST_P99 = 50.0  # ms
SAMPLES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of it. Latencies count from when a request was due, so that waiting behind a slow one counts, too, and
    so does what the client itself was late. `unanswered` were due and not sent yet when it ended; they count with what
    they had waited.
    """

    minutes: float
    maximum: float
    rate: float
    answers: int
    unanswered: int
    changes: dict[str, int]
    failures: list[str]
    p50_ms: float | None
    p99_ms: float | None
    worst_ms: float | None
    memory_mb: float
    growth_mb_a_minute: float
    replayed: int
    replayed_otherwise: int
    timeline: Timeline

    @property
    def met(self) -> bool:
        return not self.wrong()

    def wrong(self) -> list[str]:
        """What is not as required."""
        found = {
            "there were failures": bool(self.failures),
            "nothing was answered": self.answers == 0,
            self._late(): self.p99_ms is None or self.p99_ms >= LONGEST_P99,
            "memory grows": self.growth_mb_a_minute >= MOST_GROWTH,
            "decisions do not replay": self.replayed_otherwise > 0 or self.replayed == 0,
        }
        return [what for what, so in found.items() if so]

    def _late(self) -> str:
        """With what was taken away from it meanwhile: that is no excuse, and has to be known."""
        taken = {"stolen by the host": self.timeline.stolen, "spent on other programs": self.timeline.others}
        told = [f"{share:.1%} {how}" for how, share in taken.items() if share]
        return "answers came late" + (f" (of the processors' time {' and '.join(told)})" if told else "")


@dataclass(slots=True)
class Log:
    """What the threads see."""

    begun: float = field(default_factory=monotonic)
    marks: list[Mark] = field(default_factory=lambda: [Mark(0.0, spent())])
    latencies: list[Answer] = field(default_factory=list)
    waiting: list[Answer] = field(default_factory=list)
    """When it ended, for their turn: they count, or the worst would be left out."""
    decisions: list[str] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def now(self) -> float:
        """Seconds since it was begun."""
        return monotonic() - self.begun

    def mark(self) -> None:
        """Here one stretch ends, and another begins."""
        self.marks.append(Mark(self.now, spent()))


Run: TypeAlias = Callable[[Server, Log, Event], None]


def soak(seconds: float, *, settling: float = SETTLING, share: float = SHARE, workers: int = 1) -> Report:
    """Run it all for so long; memory counts from when it has settled."""
    with served(IDCS, record=True, command=partial(granian, workers=workers)) as server:
        maximum = server.schedule()
        log, stop = Log(), Event()
        rate = maximum * share
        portals = [partial(_portal, rate, number) for number in range(PORTALS)]
        runs: list[Run] = [_samples, _taints, _profiles, _memory, _stretches, *portals]
        with ThreadPoolExecutor(len(runs)) as pool:
            going = [pool.submit(run, server, log, stop) for run in runs]
            wait(going, seconds, return_when=FIRST_EXCEPTION)
            stop.set()
        log.mark()
        for each in going:
            each.result()
        sleep(2)  # what was recorded behind the last answers is there by now
        otherwise = _replayed(server, log)
    return _report(log, seconds, maximum, rate, settling, otherwise)


def _portal(rate: float, number: int, server: Server, log: Log, stop: Event) -> None:
    """One of the portals, which ask in turns: each request when it is due, or at once where that has passed."""
    asked = cycle(requests(400, seed=number))
    with closing(Api(server.address, server.token)) as api:
        for turn in count(number, PORTALS):
            due = turn / rate
            if stop.wait(max(0.0, due - log.now)):
                log.waiting += _overdue(log.now, turn, rate)
                return
            answer = _tried(log, lambda: api.call("POST", "/schedule/", next(asked)))
            log.latencies.append(Answer(due, log.now - due))
            if answer is not None:
                log.decisions.append(answer["decision_id"])


def _overdue(now: float, turn: int, rate: float) -> list[Answer]:
    """The requests from this turn on that were due already: each has waited so long at least."""
    dues = takewhile(lambda due: due < now, (each / rate for each in count(turn, PORTALS)))
    return [Answer(due, now - due) for due in dues]


def _samples(server: Server, log: Log, stop: Event) -> None:
    random = np.random.default_rng(3)

    def push(api: Api) -> None:
        idcs = random.choice(IDCS, SAMPLES, replace=False)
        values = random.uniform(0.1, 0.85, SAMPLES)
        body = [
            {"idc": f"idc-{idc:05d}", "metric": "cpu_load", "value": round(float(value), 3)}
            for idc, value in zip(idcs, values, strict=True)
        ]
        api.call("POST", "/samples/", body)

    _again_and_again(server, log, stop, "samples", 1.0, push)


def _taints(server: Server, log: Log, stop: Event) -> None:
    numbers = count()

    def taint_and_lift(api: Api) -> None:
        idc = f"idc-{next(numbers) % IDCS:05d}"
        made = api.call("POST", "/taints/", {"idc": idc, "key": "soak", "effect": "NoSchedule"})
        api.call("DELETE", f"/taints/{made['id']}/")

    _again_and_again(server, log, stop, "taints", 0.5, taint_and_lift)


def _profiles(server: Server, log: Log, stop: Event) -> None:
    weights = cycle([75, 80])

    def reweigh(api: Api) -> None:
        weight, plugins = next(weights), api.call("GET", "/profiles/default/")["plugins"]
        changed = [one | {"weight": weight} if one["plugin"] == "billing_cost" else one for one in plugins]
        api.call("PATCH", "/profiles/default/", {"plugins": changed})

    _again_and_again(server, log, stop, "profiles", 5.0, reweigh)


def _memory(server: Server, log: Log, stop: Event) -> None:
    """What the web server's processes hold, in MB."""
    while not stop.wait(1.0):
        log.memory.append((log.now, server.memory()))


def _stretches(server: Server, log: Log, stop: Event) -> None:
    while not stop.wait(STRETCH):
        log.mark()


def _again_and_again(
    server: Server, log: Log, stop: Event, what: str, pause: float, change: Callable[[Api], None]
) -> None:
    log.changes[what] = 0
    with closing(Api(server.address, server.token)) as api:
        while not stop.wait(pause):
            _tried(log, partial(change, api))
            log.changes[what] += 1


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


def _report(log: Log, seconds: float, maximum: float, rate: float, settling: float, identical: list[bool]) -> Report:
    due = log.latencies + log.waiting
    took = np.array([answer.took for answer in due])
    settled = np.array([sample for sample in log.memory if sample[0] >= settling] or [(0.0, np.nan)])
    slope = np.polyfit(settled[:, 0], settled[:, 1], 1)[0] * 60 if len(settled) > 1 else np.nan
    return Report(
        minutes=round(seconds / 60, 2),
        maximum=round(maximum, 1),
        rate=round(rate, 1),
        answers=len(log.decisions),
        unanswered=len(log.waiting),
        changes=log.changes,
        failures=log.failures[:20],
        p50_ms=percentile_ms(took, 50),
        p99_ms=percentile_ms(took, 99),
        worst_ms=percentile_ms(took, 100),
        memory_mb=round(float(settled[-1, 1]), 1),
        growth_mb_a_minute=round(float(slope), 3),
        replayed=len(identical),
        replayed_otherwise=identical.count(False),
        timeline=timeline(log.marks, due),
    )


def _lines(report: Report) -> Iterator[str]:
    told = asdict(report)
    whole = told.pop("timeline")
    for stretch in whole.pop("stretches"):
        yield "  ".join(f"{name} {'-' if value is None else value}" for name, value in stretch.items())
    for name, value in (told | whole).items():
        yield f"{name.replace('_', ' '):<22}{value}"
    yield "as required" if report.met else f"NOT MET: {', '.join(report.wrong())}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--workers", type=int, default=1, help="of the web server")
    options = parser.parse_args(arguments)
    seconds = options.minutes * 60
    report = soak(seconds, settling=min(SETTLING, seconds / 2), workers=options.workers)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(asdict(report), indent=1) + "\n")
    print("\n".join(_lines(report)))
    return 0 if report.met else 1


if __name__ == "__main__":
    sys.exit(main())
