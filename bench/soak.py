"""`python -m bench.soak [--minutes N]`: mixed traffic on a whole installation while its parts are restarted and killed.

nginx, two web servers, a worker, beat, PostgreSQL and Redis. PostgreSQL and Redis are restarted twice each, a worker
and a web process are killed. Prints what came of it and writes var/soak.json; the exit status is 1 unless after each
fault the service was back by itself, no accepted reservation was lost, nothing was oversold, and the only errors were
those that docs/faults.md names for the fault that was there at the time.
"""

import argparse
import json
import os
import random
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic, sleep
from typing import Any, Final
from uuid import UUID, uuid4

import numpy as np

from bench.steady import minutes
from bench.timeline import percentile_ms
from idcsched.demo.processes import Child, stop
from idcsched.demo.supervisor import web_command
from tests.e2e.event_log import Book, at_one_moment, in_order_of_commit, rows_of, told_apart
from tests.e2e.installation import Installation
from tests.servers import free_port, nginx, postgresql, redis

__all__ = ["NAMED", "Report", "main", "soak"]

RESULT: Final = Path("var/soak.json")
WEBS: Final = 2
RECOMMENDERS, BUYERS = 2, 3
IDCS: Final = 10
LIMITS: Final = {"cpu": 20.0, "bandwidth_mbps": 900.0}
AWAY: Final = 5.0
"""Seconds between the stop of PostgreSQL or Redis and its start."""
BACK_WITHIN: Final = 90.0
RESTARTED_AFTER: Final = 1.0
"""Seconds until whoever runs the processes starts one again that has ended, as Compose and systemd do."""
TOLD: Final = 20
NAMED: Final[Mapping[str, frozenset[str]]] = {
    "PostgreSQL is stopped": frozenset({"503 database_unavailable", "503 busy"}),
    "Redis is stopped": frozenset(),
    "a worker is killed": frozenset(),
    "a web process is killed": frozenset({"no answer", "502 unanswered", "409 idempotency_key_busy"}),
}
"""What may be answered while it lasts, by the first column of the table in docs/faults.md."""
REFUSED: Final = {"no_feasible_idc", "conflict"}
"""What a portal is told where nothing fits: no error."""
REPEATED: Final = {"idempotency_key_busy", "invalid_transition"}
"""What it may be told if nobody knows what has become of the same request before."""
CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
PROCESSES: Final = {
    "worker": (
        *CELERY,
        "worker",
        "--concurrency",
        "2",
        "--without-gossip",
        "--without-mingle",
        "--loglevel",
        "WARNING",
    ),
    "beat": (*CELERY, "beat", "--pidfile=", "--loglevel", "WARNING"),
}
SITE = """
from django.utils import timezone
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.provisioning.services import provider_create
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
provider_create(code="vm", kind="simulated", config={{"up_after_seconds": 0}})
region_create(code="A"); region_create(code="B"); isp_create(code="ct")
codes = {idcs}
for code in codes:
    idc_create(code=code, region="A", stock_cpu={cpu}, lines=[{{"isp": "ct", "purchased_mbps": 1000}}])
idc_create(code="b", region="B", stock_cpu={cpu}, provider="vm")
now = timezone.now()
samples_store(samples=[Sample(idc=c, line="ct", metric="bandwidth_mbps", value=0, at=now) for c in codes], now=now)
entries = [{{"name": name, "plugin": name}} for name in ("available", "taint", "network_flow", "resource")]
entries[2] |= {{"weight": 1, "on_missing": "last"}}
profile_create(code="plain", body={{"plugins": entries, "pick": {{"kind": "near_best", "epsilon": 30}}}})
tenant_create(code="shop", default_profile="plain")
print(token_issue(user=user_create(username="root", role="admin"), name="soak", tenant="shop").text)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A request and its answer. Times are seconds since the run began; `status` is None where no answer came."""

    what: str
    began: float
    ended: float
    status: int | None
    document: Any
    again: bool

    @property
    def code(self) -> str:
        return str(self.document.get("code", "")) if isinstance(self.document, dict) else ""

    @property
    def settled(self) -> bool:
        """Whether the client knows what has become of its request."""
        return self.status is not None and self.status < 500 and self.code != "idempotency_key_busy"

    @property
    def error(self) -> str:
        """The status and code of an answer that the run does not expect; empty for an expected one."""
        if self.status is None:
            return "no answer"
        refused = self.code in REFUSED or (self.again and self.code in REPEATED)
        return "" if self.status < 400 or refused else f"{self.status} {self.code}".strip()


@dataclass(slots=True, kw_only=True)
class Fault:
    """A part that was stopped or killed: `began` and `mended`, and `back`, when the service was whole again.

    Times are seconds since the run began.
    """

    what: str
    began: float
    mended: float = 0.0
    back: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)

    def excuses(self, answer: Answer) -> bool:
        return answer.ended >= self.began and answer.began <= self.back and answer.error in NAMED[self.what]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    minutes: float
    faults: list[Fault]
    answers: dict[str, dict[str, int]]
    p50_ms: dict[str, float | None]
    p99_ms: dict[str, float | None]
    degraded: int
    accepted: int
    lost: list[str]
    oversold: list[str]
    ledger: str
    fullest: float
    never_settled: int
    unexcused: list[str]
    causes: list[str]

    def wrong(self) -> list[str]:
        """Return each requirement that the run has broken."""
        found = {
            "the service did not come back": any(not fault.back for fault in self.faults) or bool(self.causes),
            "accepted reservations were lost": bool(self.lost),
            "something was oversold": bool(self.oversold),
            "the ledger does not agree with the placements": "agrees" not in self.ledger,
            "there were errors outside of faults, or of other kinds": bool(self.unexcused) or self.never_settled > 0,
            "nothing was nearly full, so overselling was not tried": self.fullest < 0.9,
        }
        return [what for what, so in found.items() if so]


@dataclass(slots=True)
class Log:
    """The answers that all client threads have noted."""

    begun: float = field(default_factory=monotonic)
    answers: list[Answer] = field(default_factory=list)
    reserved: dict[str, str] = field(default_factory=dict)
    """The state that each accepted reservation must be in."""
    never_settled: int = 0
    degraded: int = 0

    @property
    def now(self) -> float:
        return monotonic() - self.begun


class Client:
    """One connection to the proxy; no use of several threads at once."""

    def __init__(self, port: int, token: str, log: Log) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._log = log

    def close(self) -> None:
        self._connection.close()

    def ask(self, what: str, method: str, path: str, body: Any = None, *, key: str = "", again: bool = False) -> Answer:
        """The answer, which is also kept in the log if `what` says what it is for."""
        began = self._log.now
        headers = self._headers | ({"Idempotency-Key": key} if key else {})
        try:
            self._connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
            response = self._connection.getresponse()
            content, status = response.read(), response.status
        except (OSError, HTTPException):
            self._connection.close()
            content, status = b"", None
        document = None
        with suppress(ValueError):  # the proxy's own pages
            document = json.loads(content)
        answer = Answer(what=what, began=began, ended=self._log.now, status=status, document=document, again=again)
        if what:
            self._log.answers.append(answer)
        return answer

    def settle(self, what: str, path: str, body: Any = None) -> Answer:
        """The answer once it is known what has become of the request, which is sent again under its key until then."""
        key, until = str(uuid4()), monotonic() + BACK_WITHIN
        answer = self.ask(what, "POST", path, body, key=key)
        while not answer.settled and monotonic() < until:
            sleep(0.5)
            answer = self.ask(what, "POST", path, body, key=key, again=True)
        if not answer.settled:
            self._log.never_settled += 1
        return answer


class Town:
    """All processes of the installation. One that ends is started again, as Compose and systemd would."""

    def __init__(self, installation: Installation, database: postgresql.Server, broker: redis.Server) -> None:
        self.installation, self.database, self.broker = installation, database, broker
        self.ports = [free_port() for _ in range(WEBS)]
        self.commands = {f"web-{port}": tuple(web_command(port=port)) for port in self.ports} | PROCESSES
        self.children: dict[str, Child] = {}
        for name in self.commands:
            self._start(name)

    def watch(self, over: Event) -> None:
        while not over.wait(RESTARTED_AFTER):
            for name, child in self.children.items():
                if not child.running:
                    self._start(name)

    def stop(self) -> None:
        stop(*self.children.values(), grace=20)

    def _start(self, name: str) -> None:
        self.children[name] = self.installation.start(name, *self.commands[name])

    def postgresql_is_stopped(self) -> None:
        _restart(self.database)

    def redis_is_stopped(self) -> None:
        _restart(self.broker)

    def worker_is_killed(self) -> None:
        os.killpg(self.children["worker"].process.pid, signal.SIGKILL)

    def web_process_is_killed(self) -> None:
        pid = self.children[f"web-{self.ports[0]}"].process.pid
        for process in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            os.kill(int(process), signal.SIGKILL)


def _restart(server: postgresql.Server | redis.Server) -> None:
    server.stop()
    sleep(AWAY)
    server.start()


FAULTS: Sequence[tuple[str, Callable[[Town], None]]] = (
    ("PostgreSQL is stopped", Town.postgresql_is_stopped),
    ("Redis is stopped", Town.redis_is_stopped),
    ("a worker is killed", Town.worker_is_killed),
    ("a web process is killed", Town.web_process_is_killed),
    ("PostgreSQL is stopped", Town.postgresql_is_stopped),
    ("Redis is stopped", Town.redis_is_stopped),
)


def soak(seconds: float) -> Report:
    """Run it for so long, or longer if it takes longer until all is well after the last fault."""
    with TemporaryDirectory() as folder, _town(Path(folder)) as (town, port, token):
        log, over = Log(), Event()
        client = partial(Client, port, token, log)
        with ThreadPoolExecutor(RECOMMENDERS + BUYERS + 3) as pool:
            runs = [partial(_recommend, client, log, over) for _ in range(RECOMMENDERS)]
            runs += [partial(_buy, client, log, over, random.Random(seed)) for seed in range(BUYERS)]
            runs += [partial(_push, client, over), partial(_taint, client, over), partial(town.watch, over)]
            going = [pool.submit(run) for run in runs]
            try:
                faults = list(_faults(town, client, log, seconds))
            finally:
                over.set()
        for each in going:
            each.result()
        with closing(client()) as asking:
            causes = _causes(asking)
        return _report(log, faults, causes, town)


@contextmanager
def _town(folder: Path) -> Iterator[tuple[Town, int, str]]:
    """The installation when it works, the proxy's port, and a token."""
    with ExitStack() as stack:
        database = stack.enter_context(postgresql.restartable({"track_commit_timestamp": "on"}))
        broker = stack.enter_context(redis.restartable())
        variables = {"DATABASE_URL": database.url, "REDIS_URL": f"{broker.url}/0", "OUTBOUND_HOSTS": "127.0.0.0/8"}
        installation = Installation(folder, **variables)
        installation.migrate()
        codes = [f"idc{number}" for number in range(IDCS)]
        token = installation.python(SITE.format(idcs=codes, cpu=LIMITS["cpu"])).splitlines()[-1]
        town = Town(installation, database, broker)
        stack.callback(town.stop)
        proxy = stack.enter_context(nginx.running(*town.ports))
        with closing(Client(proxy.port, token, Log())) as client:
            if not _well(client, town.ports):
                raise RuntimeError("the installation does not come up")
        yield town, proxy.port, token


def _faults(town: Town, client: Callable[[], Client], log: Log, seconds: float) -> Iterator[Fault]:
    """One after the other, evenly spread, each when all was well again after the one before."""
    every = seconds / (len(FAULTS) + 1)
    for number, (what, happens) in enumerate(FAULTS, 1):
        sleep(max(0.0, number * every - log.now))
        fault = Fault(what=what, began=log.now)
        happens(town)
        fault.mended = log.now
        with closing(client()) as probe:
            fault.back = log.now if _well(probe, town.ports) else 0.0
        print(f"{what}: {fault.mended - fault.began:.1f} s, well {fault.back - fault.mended:.1f} s later", flush=True)
        yield fault
        if not fault.back:
            return
    sleep(max(0.0, seconds - log.now))


def _well(client: Client, ports: Sequence[int]) -> bool:
    """Whether soon enough all web servers are ready, a recommendation is up to date, and a machine is started."""
    until = monotonic() + BACK_WITHIN

    def comes(ask: Callable[[], bool]) -> bool:
        while not (came := ask()) and monotonic() < until:
            sleep(0.2)
        return came

    def recommends() -> bool:
        answer = client.ask("", "POST", "/schedule/", {"region": "A", "machines": [{"count": 1, "cpu": 1}]})
        return answer.status == 200 and not answer.document["degraded"]

    if not comes(recommends) or not all(comes(partial(_ready, port)) for port in ports):
        return False
    order = {"region": "B", "machines": [{"count": 1, "cpu": 1}], "action": "provision"}
    ordered = client.settle("", "/schedule/", order)
    if ordered.status != 202:
        return False
    path = f"/placements/{ordered.document['id']}/"

    def started() -> bool:
        answer = client.ask("", "GET", path)
        return answer.status == 200 and answer.document["state"] == "active"

    return comes(started)


def _ready(port: int) -> bool:
    try:
        with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            connection.request("GET", "/health/ready/")
            return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False


def _causes(client: Client) -> list[str]:
    """Return why `status/` is still degraded, after waiting up to BACK_WITHIN seconds for heartbeats."""
    until = monotonic() + BACK_WITHIN
    while True:
        answer = client.ask("", "GET", "/status/")
        causes = answer.document["degraded_because"] if answer.status == 200 else [answer.error]
        if not causes or monotonic() > until:
            return list(causes)
        sleep(1)


def _recommend(client: Callable[[], Client], log: Log, over: Event) -> None:
    order = {"region": "A", "machines": [{"count": 1, "cpu": 1, "bandwidth_mbps": 20}]}
    with closing(client()) as asking:
        while not over.wait(0.1):
            answer = asking.ask("recommend", "POST", "/schedule/", order)
            log.degraded += answer.status == 200 and answer.document["degraded"]


def _buy(client: Callable[[], Client], log: Log, over: Event, chance: random.Random) -> None:
    """Reserve and give back at random, so that the IDCs are nearly full all the time."""
    held: list[str] = []
    with closing(client()) as buying:
        while not over.wait(0.1):
            if held and chance.random() < 0.4:
                placement = held.pop(chance.randrange(len(held)))
                answer = buying.settle("release", f"/placements/{placement}/release/")
                if answer.settled:
                    log.reserved[placement] = "released"
                continue
            machines = [{"count": chance.randint(1, 3), "cpu": 1, "bandwidth_mbps": 20}]
            order = {"region": "A", "action": "reserve", "machines": machines, "ttl_seconds": 7200}
            answer = buying.settle("reserve", "/schedule/", order)
            if answer.status == 201:
                held.append(answer.document["id"])
                log.reserved[held[-1]] = "reserved"


def _push(client: Callable[[], Client], over: Event) -> None:
    random_values = np.random.default_rng(1)
    with closing(client()) as pushing:
        while not over.wait(1.0):
            values = random_values.uniform(0, 100, IDCS).round(1).tolist()
            samples = [
                {"idc": f"idc{number}", "line": "ct", "metric": "bandwidth_mbps", "value": value}
                for number, value in enumerate(values)
            ]
            pushing.ask("push", "POST", "/samples/", samples)


def _taint(client: Callable[[], Client], over: Event) -> None:
    """One IDC after the other, for a moment; one that could not be lifted is lifted later."""
    standing: list[int] = []
    with closing(client()) as tainting:
        for number in count():
            if over.wait(1.0):
                return
            body = {"idc": f"idc{number % IDCS}", "key": f"soak-{number}", "effect": "NoSchedule"}
            made = tainting.ask("taint", "POST", "/taints/", body)
            if made.status == 201:
                standing.append(made.document["id"])
            if over.wait(0.5):
                return
            standing = [
                taint
                for taint in standing
                if tainting.ask("lift", "DELETE", f"/taints/{taint}/").status not in {204, 404}
            ]


def _report(log: Log, faults: list[Fault], causes: list[str], town: Town) -> Report:
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    took: dict[str, list[float]] = defaultdict(list)
    unexcused = []
    for answer in log.answers:
        answers[answer.what][f"{answer.status} {answer.code}".strip()] += 1
        took[answer.what].append(answer.ended - answer.began)
        if answer.error:
            fault = next((fault for fault in faults if fault.excuses(answer)), None)
            if fault is None:
                unexcused.append(f"{answer.what} at {answer.began:.1f} to {answer.ended:.1f} s: {answer.error}")
            else:
                fault.errors[answer.error] = fault.errors.get(answer.error, 0) + 1
    with at_one_moment(town.database.url) as cursor:
        book = Book(LIMITS).read(in_order_of_commit(cursor, postgresql=True))
        ledger = rows_of(cursor)
        cursor.execute("SELECT id, state FROM placement_placement")
        states = {str(UUID(str(placement))): state for placement, state in cursor.fetchall()}
    lost = [
        f"{placement} is {states.get(placement)}, not {state}"
        for placement, state in log.reserved.items()
        if states.get(placement) != state
    ]
    return Report(
        minutes=round(log.now / 60, 2),
        faults=[_rounded(fault) for fault in faults],
        answers={what: dict(counts.most_common()) for what, counts in answers.items()},
        p50_ms={what: percentile_ms(np.array(times), 50) for what, times in took.items()},
        p99_ms={what: percentile_ms(np.array(times), 99) for what, times in took.items()},
        degraded=log.degraded,
        accepted=len(log.reserved),
        lost=lost[:TOLD],
        oversold=[*book.complaints, *told_apart(book, ledger)][:TOLD],
        ledger=town.installation.manage("ledger_audit").strip(),
        fullest=round(max(amount / LIMITS[what] for (_, _, what), amount in book.most.items()), 3),
        never_settled=log.never_settled,
        unexcused=unexcused[:TOLD],
        causes=causes,
    )


def _rounded(fault: Fault) -> Fault:
    fault.began, fault.mended, fault.back = (round(at, 1) for at in (fault.began, fault.mended, fault.back))
    return fault


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=minutes, default=15.0, help="for how long (default: %(default)g)")
    report = soak(parser.parse_args(arguments).minutes * 60)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    for name, value in asdict(report).items():
        print(f"{name.replace('_', ' '):<16}{value}")
    wrong = report.wrong()
    print(f"NOT MET: {', '.join(wrong)}" if wrong else "as required")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
