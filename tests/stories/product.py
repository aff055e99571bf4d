"""A running installation as its users have it: over HTTP, with a token, and nothing else."""

import json
import select
import socket
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from http.client import HTTPConnection
from itertools import count
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.installation import Installation

__all__ = ["SOON", "Answer", "Caller", "Product", "in_state", "name", "seconds_left", "states", "until"]

SOON = 30.0
"""Seconds after which a change made through one web process is in force in the other, however busy the machine."""
PROCESS_SEARCHES = 40
"""Connections that are opened until each web process holds one; which of them gets one, the kernel decides."""

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer with its JSON body."""

    status: int
    body: Any
    headers: Message


class Caller:
    """A client with one token and one connection, so that one web process answers all its requests."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address, self.token = address, token
        self._connection = _connected(address)

    def as_(self, token: str) -> "Caller":
        """The same connection, and so the same web process, with another token."""
        other = Caller.__new__(Caller)
        other.address, other.token, other._connection = self.address, token, self._connection
        return other

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request below `/api/v1`, or to `/metrics`, `/health/` or `/admin/`; return the answer."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        target = path if path == "/metrics" or path.startswith(("/health/", "/admin/")) else f"/api/v1{path}"
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if self._connection.sock is not None and select.select([self._connection.sock], [], [], 0)[0]:
            self._connection.close()  # nothing was asked, so all that can be read is that the server has closed it
        if self._connection.sock is None:
            self._connection.connect()
        # A server that refuses by the head alone closes the connection if the body is still to come: send both in one.
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        self._connection.request(method, target, content, sent)
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        response = self._connection.getresponse()
        text = response.read()
        is_json = "json" in (response.headers.get("Content-Type") or "")
        return Answer(response.status, json.loads(text) if is_json and text else text.decode(), response.headers)

    def call(self, method: str, path: str, body: Any = None, *, status: int, **headers: str) -> Any:
        """The body of an answer that has that status."""
        answer = self.ask(method, path, body, **headers)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.body}"
        return answer.body

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, *, status: int = 200) -> Any:
        return self.call("GET", path, status=status)

    def post(self, path: str, body: Any = None, *, status: int, **headers: str) -> Any:
        return self.call("POST", path, body, status=status, **headers)

    def schedule(self, **request: Any) -> Any:
        """The answer to a recommendation, which must succeed."""
        return self.call("POST", "/schedule/", request, status=200)


@dataclass(frozen=True, slots=True)
class Product:
    """A running installation, its address, and the demo's tokens by role."""

    installation: Installation
    address: str
    tokens: Mapping[str, str]
    web_processes: int
    commands: subprocess.Popen[str]
    opened: list[Caller] = field(default_factory=list)

    def command(self, *words: str, fails: bool = False) -> str:
        """What a command of `manage.py` prints; where it must fail, what it complains of."""
        assert self.commands.stdin is not None
        assert self.commands.stdout is not None
        printed, complained = self.installation.logs / "printed", self.installation.logs / "complained"
        print(json.dumps([words, str(printed), str(complained)]), file=self.commands.stdin, flush=True)
        status = int(self.commands.stdout.readline())
        assert bool(status) == fails, complained.read_text(encoding="utf-8")
        return (complained if fails else printed).read_text(encoding="utf-8")

    def caller(self, who: str = "portal") -> Caller:
        """A new connection with the token of one of the demo's users; `close` closes it."""
        caller = Caller(self.address, self.tokens[who])
        self.opened.append(caller)
        return caller

    def close(self) -> None:
        """Close the connections of all callers."""
        while self.opened:
            self.opened.pop().close()

    def caller_in_each_process(self, who: str = "portal") -> list[Caller]:
        """One caller for each web process; connections are opened until there are so many different snapshots."""
        found: dict[str, Caller] = {}
        for search in range(PROCESS_SEARCHES):
            caller = self.caller(who)
            known = {caller_snapshot(each) for each in found.values()}
            if caller_snapshot(caller) not in known and all(caller_snapshot(each) in known for each in found.values()):
                found[str(len(found))] = caller
            if len(found) == self.web_processes:
                return list(found.values())
            sleep(0.05 * search)  # one of them may still be starting
        raise AssertionError(f"only {len(found)} of {self.web_processes} web processes were found")

    def first_and_other(self, who: str = "portal") -> tuple[Caller, Caller]:
        """Callers of two different web processes, or of the only one."""
        callers = self.caller_in_each_process(who)
        return callers[0], callers[-1]

    def new_token(self, who: str = "portal", **fields: Any) -> Any:
        """A new token of one of the demo's users: its document, whose `token` is the secret."""
        body = {"name": name("token"), "user": who, **fields}
        return self.caller("admin").post("/tokens/", body, status=201)


def name(kind: str) -> str:
    """A code that no other story of this session uses, and that comes after all earlier ones of its kind."""
    return f"{kind}-{next(_numbers):04}"


def caller_snapshot(caller: Caller) -> str:
    """Return the id of the snapshot that the caller's web process decides on; no two processes share one."""
    return str(caller.schedule(region="A", profile="seed-example")["snapshot"]["id"])


def until(condition: Callable[[], object], what: str, *, seconds: float) -> None:
    """Ask again and again until `condition` holds; the test fails with `what` after `seconds`."""
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, f"waited {seconds:g} s in vain for {what}"
        sleep(0.02)


def in_state(caller: Caller, placement: Mapping[str, Any], state: str, *, seconds: float = 60) -> Any:
    """The placement, once it is in that state; the test fails where it is not after so many seconds."""
    found: dict[str, Any] = {}

    def arrived() -> bool:
        found.update(caller.get(f"/placements/{placement['id']}/"))
        return bool(found["state"] == state)

    until(arrived, f"{state} of placement {placement['id']}", seconds=seconds)
    return found


def states(caller: Caller, placement: Mapping[str, Any]) -> list[str]:
    """The states that a placement has been in, as its events tell."""
    return [event["state"] for event in caller.get(f"/placements/{placement['id']}/events/")["results"]]


def seconds_left(placement: Mapping[str, Any]) -> float:
    """Seconds until the placement expires."""
    return (datetime.fromisoformat(placement["expires_at"]) - datetime.now(UTC)).total_seconds()


def _connected(address: str) -> HTTPConnection:
    parts = urlsplit(address)
    return HTTPConnection(parts.hostname or "", parts.port, timeout=60)
