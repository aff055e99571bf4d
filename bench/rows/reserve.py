"""Reservations a second beside bare transactions of the same driver, on a PostgreSQL with its safety on."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any
from urllib.request import urlopen

from bench.row import Row, Sides, Workshop
from bench.serving import Server
from idcsched.demo.processes import start, stop
from idcsched.demo.supervisor import web_command
from tests.servers import free_port, postgresql, scratch_folder

ORDERS = [
    {"request_id": f"order-{number}", "region": "A", "action": "reserve", "explain": "none",
     "machines": [{"count": 2, "bandwidth_mbps": 10, "cpu": 4}]}
    for number in range(400)
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reserving:
    """A process that reserves through our service or by bare transactions, and a web server on the same database."""

    program: Any
    server: Server

    def service(self) -> float:
        return self._does("ours")

    def bare(self) -> float:
        return self._does("theirs")

    def http(self) -> float:
        return self.server.rate("/api/v1/schedule/", ORDERS)

    def http_keyed(self) -> float:
        return self.server.rate("/api/v1/schedule/", ORDERS, keyed=True)

    def _does(self, word: str) -> float:
        print(word, file=self.program.stdin, flush=True)
        said = self.program.stdout.readline()
        if not said:
            raise RuntimeError("our side ended")
        return float(said)


@contextmanager
def reserving() -> Iterator[Reserving]:
    """Two web workers, as many threads each as there are clients for them."""
    with postgresql.running({}) as url, scratch_folder() as folder:
        port = free_port()
        environment = os.environ | {
            "DATABASE_URL": url,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "idcsched.settings",
            "THROTTLE": "off",
            "WEB_THREADS": "8",
        }
        command = [sys.executable, "-m", "bench.peers.reserving"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as program:
            try:
                assert program.stdout is not None
                word, token = program.stdout.readline().split()
                if word != "ready":
                    raise RuntimeError("our side did not start")
                environment |= {"WEB_WORKERS": "2"}
                child = start("web", web_command(port=port), log=folder / "web.log", environment=environment)
                try:
                    server = Server(f"http://127.0.0.1:{port}", token, folder, child.process.pid)
                    _wait(f"{server.address}/health/ready/")
                    yield Reserving(program, server)
                finally:
                    stop(child)
            finally:
                program.kill()


def _wait(address: str) -> None:
    until = monotonic() + 60
    while True:
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            if monotonic() > until:
                raise
            sleep(0.2)


def by_service(workshop: Workshop) -> Sides:
    found = workshop.shared(reserving)
    return Sides(found.service, found.bare)


def by_http(workshop: Workshop) -> Sides:
    found = workshop.shared(reserving)
    return Sides(found.http, found.bare)


def by_http_keyed(workshop: Workshop) -> Sides:
    found = workshop.shared(reserving)
    return Sides(found.http_keyed, found.bare)


ROWS = (
    Row(
        name="reserve_service",
        title="reservations by 16 clients on 20 hot IDCs, decision stored, beside a bare guarded UPDATE + two INSERTs",
        unit="1/s",
        better="more",
        set_up=by_service,
    ),
    Row(
        name="reserve_http",
        title="the same over HTTP, two workers",
        unit="1/s",
        better="more",
        set_up=by_http,
    ),
    Row(
        name="reserve_http_keyed",
        title="the same over HTTP, each order with an `Idempotency-Key`",
        unit="1/s",
        better="more",
        set_up=by_http_keyed,
    ),
)
