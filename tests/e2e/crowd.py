"""A crowd of portals that order, commit, confirm and give back at random, and note down what they are answered."""

import http.client
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from time import sleep, time
from typing import Any
from uuid import uuid4

__all__ = ["BUSY", "Answer", "Needs", "Portal"]

TIMEOUT = 30
BUSY, OVERLOADED = "idempotency_key_busy", "busy"
Needs = dict[str, float]
"""What is needed of each resource in one IDC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A request to a web process with its times and its answer.

    The `status` is None if no answer came. `needs`: what is to be placed, for each IDC or, of a gang, for each order.
    `again`: the same request was sent before, and its outcome is not known.
    """

    what: str
    request_id: str
    port: int
    asked: float
    answered: float
    status: int | None
    body: Any
    wanted: int = 1
    needs: Sequence[Needs] = ()
    recommended: str = ""
    placement: str = ""
    again: bool = False

    @property
    def code(self) -> str:
        return str(self.body.get("code")) if isinstance(self.body, dict) else ""

    @property
    def settled(self) -> bool:
        """Whether the portal knows what has become of it."""
        return self.status is not None and self.status < 500 and self.code != BUSY

    @property
    def placements(self) -> list[dict[str, Any]]:
        if self.status is None or self.status >= 300:
            return []
        found = self.body.get("results", [self.body])
        return [each for each in found if "version" in each]


@dataclass(slots=True)
class Portal:
    """A portal of the crowd, with the placements that it holds."""

    ports: Sequence[int]
    token: str
    chance: random.Random
    answers: list[Answer] = field(default_factory=list)
    _mine: list[str] = field(default_factory=list)

    def work(self, until: Event) -> None:
        """Send one request after the other until `until` is set."""
        while not until.is_set():
            self.turn()

    def turn(self) -> None:
        deeds: dict[Callable[[], Answer], int] = {
            self._reserve: 6,
            self._reserve_once: 2,
            self._commit: 2,
            self._gang: 1,
            self._spread: 1,
            self._wait: 1,
        }
        if self._mine:
            deeds |= {self._confirm: 3, self._release: 7, self._release_twice: 1}
        (deed,) = self.chance.choices(list(deeds), list(deeds.values()))
        answer = deed()
        self.answers.append(answer)
        self._mine += [each["id"] for each in answer.placements if answer.what not in {"confirm", "release"}]

    def ask(self, what: str, path: str, body: Any, *, key: str = "", **more: Any) -> Answer:
        """Send a request to any web process, on a connection of its own, and send it again while that is overloaded.

        A refusal as `busy` has stored nothing: if it had, the request would be stored twice.
        """
        while (answer := self._ask(what, path, body, key=key, **more)).code == OVERLOADED:
            sleep(self.chance.uniform(0.1, 0.5))
        return answer

    def _ask(self, what: str, path: str, body: Any, *, key: str = "", **more: Any) -> Answer:
        request_id = body.get("request_id", "") if isinstance(body, dict) else ""
        port, asked = self.chance.choice(self.ports), time()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        headers |= {"Idempotency-Key": key} if key else {}
        try:
            connection.request("POST", f"/api/v1{path}", json.dumps(body), headers)
            response = connection.getresponse()
            status, told = response.status, json.loads(response.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError):  # the process died over it, or its answer did
            status, told = None, None
        finally:
            connection.close()
        return Answer(
            what=what, request_id=request_id, port=port, asked=asked, answered=time(), status=status, body=told, **more
        )

    def _order(self, **more: Any) -> dict[str, Any]:
        machine = {
            "count": self.chance.randint(1, 3),
            "bandwidth_mbps": self.chance.choice([10, 20, 50, 75]),
            "cpu": self.chance.choice([1, 2]),
        }
        ttl = self.chance.choice([1, 2, 4, 60])
        return {
            "request_id": str(uuid4()), "region": "A", "action": "reserve", "machines": [machine], "ttl_seconds": ttl,
            "labels": {"business": self.chance.choice(["live", "games"])}, **more,
        }  # fmt: skip

    def _reserve(self) -> Answer:
        order = self._order()
        return self.ask("reserve", "/schedule/", order, needs=[needs_of(order)])

    def _reserve_once(self) -> Answer:
        """Send an order again under the same key until its outcome is known, four times at the most."""
        order, key = self._order(), str(uuid4())
        for attempt in range(4):
            answer = self.ask("reserve", "/schedule/", order, key=key, needs=[needs_of(order)], again=attempt > 0)
            if answer.settled:
                break
        return answer

    def _commit(self) -> Answer:
        order = self._order(action="recommend")
        recommended = self.ask("recommend", "/schedule/", order, needs=[needs_of(order)])
        token = recommended.body.get("commit_token") if recommended.status == 200 else None
        if not token:
            return recommended
        idc = recommended.body["idc"]["code"]
        committed = self.ask(
            "commit", "/placements/", {"commit_token": token}, needs=[needs_of(order)], recommended=idc
        )
        return replace(committed, request_id=order["request_id"])

    def _gang(self) -> Answer:
        name = str(uuid4())
        orders = [self._order(request_id=name) for _ in range(self.chance.randint(2, 4))]
        needs = [needs_of(order) for order in orders]
        body = {"requests": orders, "mode": "gang"}
        answer = self.ask("gang", "/schedule/batch/", body, wanted=len(orders), needs=needs)
        return replace(answer, request_id=name)

    def _spread(self) -> Answer:
        machines = [{"count": 3, "bandwidth_mbps": 20, "cpu": 1}]
        order = self._order(machines=machines, spread={"max_per_idc": 1})
        return self.ask("spread", "/schedule/", order, wanted=3, needs=[{"bandwidth_mbps": 20, "cpu": 1}] * 3)

    def _wait(self) -> Answer:
        machines = [{"count": 1, "bandwidth_mbps": 300, "cpu": 2}]
        return self.ask("wait", "/schedule/", self._order(machines=machines, wait_seconds=5))

    def _confirm(self) -> Answer:
        return self._move("confirm", self.chance.choice(self._mine))

    def _release(self) -> Answer:
        return self._move("release", self._mine.pop(self.chance.randrange(len(self._mine))))

    def _release_twice(self) -> Answer:
        placement = self._mine.pop()
        self._move("release", placement)
        return self._move("release", placement)

    def _move(self, what: str, placement: str) -> Answer:
        return self.ask(what, f"/placements/{placement}/{what}/", None, placement=placement)


def needs_of(order: dict[str, Any]) -> Needs:
    """Return what an order that goes to one IDC needs of each resource."""
    return {
        resource: sum(machine["count"] * machine[resource] for machine in order["machines"])
        for resource in ("bandwidth_mbps", "cpu")
    }
