"""Writes of several threads in one transaction: whoever comes while one is under way goes with the next.

A commit costs a round trip and a flush to the disk whatever it holds, and rows that everybody wants are held by one
transaction at a time. So the more want to write at once, the less each of them costs, and who comes alone waits for
nobody.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from queue import SimpleQueue
from typing import Generic, TypeVar

from django.db import IntegrityError, OperationalError

from idcsched.framework.errors import Conflict

from .lending import Lending

__all__ = ["Joining"]

FAULTS = (IntegrityError, Conflict)
"""What one of the jobs may be to blame for."""

Job = TypeVar("Job")


class _Waiting(Generic[Job]):
    """A job of a thread that waits until it is done, or its turn to lead."""

    __slots__ = ("done", "error", "job", "turn")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.turn: SimpleQueue[None] = SimpleQueue()  # an event of the standard library costs ten times as much
        self.done = False
        self.error: Exception | None = OperationalError("the thread that wrote this was broken off")


class Joining(Generic[Job]):
    """Calls `write` with the jobs of all threads that wait: in one of them, in a transaction of its connection's,
    or of one that they lend each other.

    `write` does all of them or none. Do not call it inside a transaction, whose locks the others would wait for.
    """

    def __init__(self, write: Callable[[Sequence[Job]], object], *, most: int) -> None:
        self._write, self._most = write, most
        self._lending = Lending()
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[_Waiting[Job]] = deque()
        self._led = False

    def do(self, job: Job) -> None:
        """The job is done; raises what doing it raised, alone if that was one of the `FAULTS`."""
        mine = _Waiting(job)
        with self._lock:
            self._queue.append(mine)
            leads, self._led = not self._led, True
        if not leads:
            mine.turn.get()
        if not mine.done:
            self._lead()
        if mine.error is not None:
            raise mine.error

    def _lead(self) -> None:
        """Do what has gathered, the own job first, and hand on to whoever came meanwhile."""
        with self._lock:
            together = [self._queue.popleft() for _ in range(min(len(self._queue), self._most))]
        try:
            with self._lending.borrowed():
                self._try(together)
        finally:
            for waiting in together:
                waiting.done = True
                waiting.turn.put(None)
            with self._lock:
                self._led = bool(self._queue)
                if self._queue:
                    self._queue[0].turn.put(None)

    def _try(self, together: Sequence[_Waiting[Job]]) -> None:
        """All at once; where that breaks a rule each by itself, to find out whose fault it is."""
        try:
            self._write([waiting.job for waiting in together])
        except FAULTS as error:
            if len(together) == 1:
                together[0].error = error
                return
            for waiting in together:
                self._try([waiting])
        except Exception as error:  # noqa: BLE001  # each of them raises it
            for waiting in together:
                waiting.error = copy(error)
        else:
            for waiting in together:
                waiting.error = None
