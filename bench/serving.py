"""Our own web server on a PostgreSQL of its own, and what it answers a second, asked by wrk."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from bench.asked import orders, requests
from bench.processes import family, resident
from idcsched.demo.processes import start, stop
from idcsched.demo.supervisor import web_command
from tests.servers import Unavailable, debian, free_port, postgresql

__all__ = ["DRF_BODIES", "Load", "Server", "load_of", "served"]

CONNECTIONS = 16
SECONDS = 3
PATIENCE = ["--timeout", f"{10 * SECONDS}s"]  # a slow answer counts as one answer less, not as a failure
REQUESTS = 400
STORE = "from bench.stored_fleet import store; print(store({count}))"
STORE_TENANTS = "from bench.stored_fleet import store_tenants; print(*store_tenants({count}))"
SESSION = "from bench.stored_fleet import session; print(session())"
TENANT = "tenant-0000"
PRINTED = ("shell", "--verbosity", "0", "--command")
DRF_BODIES = [
    {"request_id": f"order-{number}", "region": "all", "isp": "ct", "tier": "edge", "count": number + 1,
     "bandwidth_mbps": 5.5, "cpu": 4, "memory_gib": 8, "disk_gib": 100, "image": "debian"}
    for number in range(REQUESTS)
]  # fmt: skip
SCRIPT = """
local bodies = {{}}
for line in io.lines("{bodies}") do bodies[#bodies + 1] = line end
local tokens = {{"{tokens}"}}
local headers = {{["Content-Type"] = "application/json"}}
local prefix, next = {prefix}, 0
request = function()
  next = next + 1
  headers["Authorization"] = "Bearer " .. tokens[(next - 1) % #tokens + 1]
  if prefix then headers["Idempotency-Key"] = prefix .. next end
  return wrk.format("POST", "{path}", headers, bodies[(next - 1) % #bodies + 1])
end
"""
COUNTING = """
local threads = {}
setup = function(thread) table.insert(threads, thread) end
init = function() busy = 0 end
response = function(status) if status == 503 then busy = busy + 1 end end
done = function() print("Busy: " .. threads[1]:get("busy")) end
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What came of some seconds in which so many clients asked as fast as they were answered.

    `refused` is the share of the requests that were answered with 503; they don't count among those a second.
    """

    per_second: float
    refused: float
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Server:
    """A running web server.

    `process` and `database`: the processes whose children its workers are, and those of PostgreSQL. `portals`: tokens
    that take turns in asking, where there are such; else `token`, which may do everything, asks. `session`: the cookie
    of somebody who is logged in.
    """

    address: str
    token: str
    folder: Path
    process: int
    database: int = 0
    portals: tuple[str, ...] = ()
    session: str = ""

    def memory(self) -> float:
        """What it and its workers hold, in MB."""
        return sum(resident(pid) for pid in family(self.process)) / 1e6

    def schedule(self) -> float:
        """Recommendations a second, authenticated, over the whole fleet."""
        return self.rate("/api/v1/schedule/", requests(REQUESTS))

    def drf(self) -> float:
        """Answers a second of a REST framework's view that checks ten fields and does nothing."""
        return self.rate("/api/bench/drf/", DRF_BODIES)

    def empty(self) -> float:
        """Answers a second of a view that does nothing."""
        return self.rate("/api/bench/empty/", [{}])

    def recommends(self, clients: int) -> Load:
        return self.load("/api/v1/schedule/", requests(REQUESTS), clients=clients)

    def reserves(self, clients: int) -> Load:
        """Each portal for its own tenant, and whoever may do everything for one of them."""
        tenant = {} if self.portals else {"tenant": TENANT}
        return self.load("/api/v1/schedule/", [order | tenant for order in orders(REQUESTS)], clients=clients)

    def rate(self, path: str, bodies: Sequence[Mapping[str, Any]], *, keyed: bool = False) -> float:
        """Answers a second; a refusal fails the measurement."""
        load = self.load(path, bodies, keyed=keyed)
        assert not load.refused, load
        return load.per_second

    def load(
        self, path: str, bodies: Sequence[Mapping[str, Any]], *, clients: int = CONNECTIONS, keyed: bool = False
    ) -> Load:
        """What so many clients get; anything but 2xx and 503 fails the measurement.

        `keyed`: each has its Idempotency-Key.
        """
        name = path.strip("/").replace("/", "-")
        lines = self.folder / f"{name}.jsonl"
        lines.write_text("\n".join(json.dumps(body) for body in bodies) + "\n")
        script = self.folder / f"{name}.lua"
        prefix = f'"{uuid4()}-"' if keyed else "nil"
        tokens = '", "'.join(self.portals or (self.token,))
        script.write_text(SCRIPT.format(bodies=lines, tokens=tokens, path=path, prefix=prefix) + COUNTING)
        told = subprocess.run(
            [_wrk(), "-t1", f"-c{clients}", f"-d{SECONDS}s", "--latency", *PATIENCE, "-s", str(script), self.address],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        return load_of(told)


def load_of(told: str) -> Load:
    """Read what wrk prints; an answer that is neither 2xx nor 503 raises AssertionError."""
    count, busy = _figure(told, r"(\d+) requests in"), _figure(told, r"Busy: (\d+)")
    failed = _figure(told, r"Non-2xx .*: (\d+)") if "Non-2xx" in told else 0
    assert busy == failed, told
    assert "Socket errors" not in told, told
    answered, refused = _figure(told, r"Requests/sec:\s+([\d.]+)"), busy / count
    p50, p99 = (_milliseconds(told, share) for share in ("50%", "99%"))
    return Load(per_second=answered * (1 - refused), refused=refused, p50_ms=p50, p99_ms=p99)


def _figure(told: str, pattern: str) -> float:
    found = re.search(pattern, told)
    assert found, told
    return float(found[1])


def _milliseconds(told: str, share: str) -> float:
    """The answer time that wrk gives for this share of the answers."""
    found = re.search(rf"^\s+{share}\s+([\d.]+)(us|ms|s)\s*$", told, re.MULTILINE)
    assert found, told
    return float(found[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]]


@contextmanager
def served(
    idcs: int,
    *,
    record: bool,
    workers: int = 1,
    tenants: int = 0,
    command: Callable[[int], list[str]] = lambda port: web_command(port=port),
    path: str = "",
) -> Iterator[Server]:
    """A server with production settings over a fleet of so many IDCs, ready to answer.

    With `tenants` there are so many, and their portals ask in turn. `command`: what serves at a port; `path`: where
    else modules are looked for.
    """
    _wrk()
    with TemporaryDirectory() as scratch, postgresql.restartable({}) as database:
        folder, port = Path(scratch), free_port()
        environment = {
            **os.environ,
            "DATABASE_URL": database.url,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "bench.empty_settings",
            "BENCH_RECORD": "on" if record else "off",
            "WEB_WORKERS": str(workers),
            **({"PYTHONPATH": path} if path else {}),
        }
        _manage(environment, "migrate", "--verbosity", "0")
        token = _manage(environment, *PRINTED, STORE.format(count=idcs)).strip()
        portals = tuple(_manage(environment, *PRINTED, STORE_TENANTS.format(count=max(tenants, 1))).split())
        session = _manage(environment, *PRINTED, SESSION).strip()
        child = start("web", command(port), log=folder / "web.log", environment=environment)
        try:
            server = Server(
                f"http://127.0.0.1:{port}", token, folder, child.process.pid, database.pid, portals[:tenants], session
            )
            _wait(server)
            yield server
        finally:
            stop(child)


def _wait(server: Server) -> None:
    """Until it answers a recommendation."""
    until = monotonic() + 120
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}"}
    while True:
        try:
            with urlopen(Request(f"{server.address}/api/v1/schedule/", json.dumps(requests(1)[0]).encode(), headers)):
                return
        except OSError:
            if monotonic() > until:
                raise
            sleep(0.2)


def _manage(environment: Mapping[str, str], *command: str) -> str:
    return subprocess.run(
        [sys.executable, "manage.py", *command], env=environment, capture_output=True, text=True, check=True
    ).stdout


def _wrk() -> str:
    """The load generator; raises Unavailable."""
    if (found := shutil.which("wrk")) is None:
        debian.install("wrk")
        found = shutil.which("wrk")
    if found is None:
        raise Unavailable("wrk, the load generator, is not on PATH although it was installed")
    return found
