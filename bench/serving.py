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

from bench.asked import requests
from bench.processes import family, resident
from idcsched.demo.processes import start, stop
from idcsched.demo.supervisor import web_command
from tests.servers import Unavailable, debian, free_port, postgresql

__all__ = ["DRF_BODIES", "Server", "served"]

CONNECTIONS = 16
SECONDS = 3
PATIENCE = ["--timeout", f"{10 * SECONDS}s"]  # a slow answer counts as one answer less, not as a failure
REQUESTS = 400
STORE = "from bench.stored_fleet import store; print(store({count}))"
DRF_BODIES = [
    {"request_id": f"order-{number}", "region": "all", "isp": "ct", "tier": "edge", "count": number + 1,
     "bandwidth_mbps": 5.5, "cpu": 4, "memory_gib": 8, "disk_gib": 100, "image": "debian"}
    for number in range(REQUESTS)
]  # fmt: skip
SCRIPT = """
local bodies = {{}}
for line in io.lines("{bodies}") do bodies[#bodies + 1] = line end
local headers = {{["Content-Type"] = "application/json", ["Authorization"] = "Bearer {token}"}}
local prefix, next = {prefix}, 0
request = function()
  next = next + 1
  if prefix then headers["Idempotency-Key"] = prefix .. next end
  return wrk.format("POST", "{path}", headers, bodies[(next - 1) % #bodies + 1])
end
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running web server. `process`: the one that its workers are children of."""

    address: str
    token: str
    folder: Path
    process: int

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

    def rate(self, path: str, bodies: Sequence[Mapping[str, Any]], *, keyed: bool = False) -> float:
        """Answers a second; anything but 2xx is a failure of the measurement. `keyed`: each has its Idempotency-Key."""
        name = path.strip("/").replace("/", "-")
        lines = self.folder / f"{name}.jsonl"
        lines.write_text("\n".join(json.dumps(body) for body in bodies) + "\n")
        script = self.folder / f"{name}.lua"
        prefix = f'"{uuid4()}-"' if keyed else "nil"
        script.write_text(SCRIPT.format(bodies=lines, token=self.token, path=path, prefix=prefix))
        told = subprocess.run(
            [_wrk(), "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", *PATIENCE, "-s", str(script), self.address],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        if "Non-2xx" in told or "Socket errors" in told:
            raise AssertionError(told)
        found = re.search(r"Requests/sec:\s+([\d.]+)", told)
        assert found, told
        return float(found[1])


@contextmanager
def served(
    idcs: int,
    *,
    record: bool,
    workers: int = 1,
    command: Callable[[int], list[str]] = lambda port: web_command(port=port),
    path: str = "",
) -> Iterator[Server]:
    """A server with production settings over a fleet of so many IDCs, ready to answer.

    `command`: what serves at a port; `path`: where else modules are looked for.
    """
    _wrk()
    with TemporaryDirectory() as scratch, postgresql.running({}) as url:
        folder, port = Path(scratch), free_port()
        environment = {
            **os.environ,
            "DATABASE_URL": url,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "bench.empty_settings",
            "BENCH_RECORD": "on" if record else "off",
            "WEB_WORKERS": str(workers),
            **({"PYTHONPATH": path} if path else {}),
        }
        _manage(environment, "migrate", "--verbosity", "0")
        token = _manage(environment, "shell", "--verbosity", "0", "--command", STORE.format(count=idcs)).strip()
        child = start("web", command(port), log=folder / "web.log", environment=environment)
        try:
            server = Server(f"http://127.0.0.1:{port}", token, folder, child.process.pid)
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
