"""An independent auditor: it reads the log of events without Django and the ledger, and adds up what is held."""

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg2

__all__ = ["Book", "Logged", "at_one_moment", "in_order_of_commit", "rows_of", "told_apart"]

HOLDING = {"reserved", "provisioning", "active", "releasing"}
EVENTS = "SELECT placement_id, version, move, state, detail, {at} FROM placement_event ORDER BY {order}"
COMMITTED = "pg_xact_commit_timestamp(xmin)"
HOLDINGS = """
    SELECT idc.code, line.code, holding.resource, holding.ordered FROM ledger_holding AS holding
    JOIN inventory_idc AS idc ON idc.id = holding.idc_id LEFT JOIN inventory_line AS line ON line.id = holding.line_id
"""
Thing = tuple[str, str, str]
"""The codes of IDC and line (empty if it is not of a line), and the resource."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One event."""

    placement: str
    version: int
    move: str
    state: str
    detail: Mapping[str, Any]
    at: float


class Book:
    """What is held of each resource, added up event by event."""

    def __init__(self, limits: Mapping[str, float]) -> None:
        self.held: dict[Thing, float] = defaultdict(float)
        self.most: dict[Thing, float] = defaultdict(float)
        self.states: dict[str, list[str]] = defaultdict(list)
        self.places: dict[str, str] = {}
        self.complaints: list[str] = []
        self._claims: dict[str, list[tuple[Thing, float]]] = {}
        self._moves: dict[str, list[float]] = defaultdict(list)
        self._changes: dict[Thing, tuple[list[float], list[float]]] = defaultdict(lambda: ([0.0], [0.0]))
        self._waits: dict[str, tuple[float, float]] = {}
        self._now = 0.0
        self._limits = limits

    def read(self, events: Iterable[Logged]) -> "Book":
        for event in events:
            self._enter(event)
        return self

    def room(self, thing: Thing, since: float, until: float) -> float:
        """Return how much of the resource was free at every moment between the two times."""
        times, held = self._changes[thing]
        first, last = bisect_right(times, since) - 1, bisect_right(times, until)
        return self._limits[thing[2]] - max(held[first:last])

    def anybody_waited(self, since: float, until: float) -> bool:
        return any(begun <= until and ended >= since for begun, ended in self._waits.values())

    def states_between(self, placement: str, since: float, until: float) -> set[str]:
        """Return the states that the placement was in between the two times."""
        times = self._moves[placement]
        first, last = max(bisect_left(times, since) - 1, 0), bisect_right(times, until)
        return set(self.states[placement][first:last])

    def entered(self, placement: str, at: float) -> float:
        """Return when the placement came into the state that it was in at that time."""
        times = self._moves[placement]
        return times[max(bisect_right(times, at) - 1, 0)]

    def _enter(self, event: Logged) -> None:
        self._now = max(self._now, event.at)  # SQLite knows when an event was made, which is before its commit
        self._moves[event.placement].append(self._now)
        if event.state == "waiting":
            self._waits[event.placement] = self._now, float("inf")
        elif event.placement in self._waits:
            begun, ended = self._waits[event.placement]
            self._waits[event.placement] = begun, min(ended, self._now)
        states = self.states[event.placement]
        if event.version != len(states) + 1:
            self.complaints.append(f"{event.placement}: version {event.version} follows {len(states)}")
        held_before, holds = bool(states) and states[-1] in HOLDING, event.state in HOLDING
        states.append(event.state)
        if holds and not held_before:
            self._take(event)
        elif held_before and not holds:
            for thing, amount in self._claims[event.placement]:
                self._hold(thing, -amount)

    def _take(self, event: Logged) -> None:
        idc = self.places[event.placement] = event.detail["idc"]
        claims = [((idc, claim["line"] or "", claim["resource"]), claim["amount"]) for claim in event.detail["claims"]]
        self._claims[event.placement] = claims
        for thing, amount in claims:
            held = self._hold(thing, amount)
            self.most[thing] = max(self.most[thing], held)
            if held > self._limits[thing[2]]:
                self.complaints.append(f"{event.placement} took {thing} to {held}")

    def _hold(self, thing: Thing, amount: float) -> float:
        held = self.held[thing] = round(self.held[thing] + amount, 6)
        times, amounts = self._changes[thing]
        times.append(self._now)
        amounts.append(held)
        return held


@contextmanager
def at_one_moment(url: str) -> Iterator[Any]:
    """A cursor that sees everything as it was at one moment."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=20, isolation_level=None)) as connection:
            cursor = connection.cursor()
            cursor.execute("BEGIN DEFERRED")
            yield cursor
        return
    with closing(psycopg2.connect(url)) as connection:
        connection.set_session(isolation_level="REPEATABLE READ", readonly=True)
        with connection.cursor() as cursor:
            yield cursor


def in_order_of_commit(cursor: Any, *, postgresql: bool) -> list[Logged]:
    """Return all events in the order of their commits.

    SQLite writes one transaction after the other, so the ids are in that order; PostgreSQL is set to keep commit times.
    """
    at = f"extract(epoch FROM {COMMITTED})::float8" if postgresql else "(julianday(at) - 2440587.5) * 86400"
    cursor.execute(EVENTS.format(at=at, order=f"{COMMITTED}, id" if postgresql else "id"))
    return [
        Logged(
            str(UUID(str(placement))),
            version,
            move,
            state,
            json.loads(detail) if isinstance(detail, str) else detail,
            at,
        )
        for placement, version, move, state, detail, at in cursor.fetchall()
    ]


def rows_of(cursor: Any) -> dict[Thing, float]:
    """Return what is ordered of each resource by the ledger."""
    cursor.execute(HOLDINGS)
    return {(idc, line or "", resource): ordered for idc, line, resource, ordered in cursor.fetchall() if ordered}


def told_apart(book: Book, ledger: Mapping[Thing, float]) -> Sequence[str]:
    """Where log and ledger differ."""
    held = {thing: amount for thing, amount in book.held.items() if amount}
    return [
        f"{thing}: {held.get(thing)} by the log, {ledger.get(thing)} in the ledger"
        for thing in held.keys() | ledger.keys()
        if held.get(thing) != ledger.get(thing)
    ]
