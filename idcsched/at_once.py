"""Some answers are given at once, by the thread that receives all requests; whatever may wait belongs elsewhere.

Code that asks a database or another server, waits for somebody or computes for long says `may_wait()` before. In a
thread that may wait that does nothing. In one that may not it raises `Waits`, and whoever has asked for the answer
(`reception.py`) asks again in another thread.
"""

import threading
from contextlib import AbstractContextManager, suppress
from typing import Final

__all__ = ["Waits", "answering_at_once", "give_way", "may_wait", "nobody_waits"]

PATIENCE: Final = 0.001
"""Seconds for which one gives way, so that one gets on where answers never end."""


class Waits(BaseException):
    """What is asked for takes a thread that may wait. No refusal and no failure: nothing that handles those sees it."""


class _Here(threading.local):
    at_once = False


_here = _Here()
_answering: list[None] = []
"""Holds something while an answer is given at once."""
_giving_way: list[threading.Lock] = []
"""Of those who wait until it is given."""


def answering_at_once() -> bool:
    """Whether this thread must not wait now."""
    return _here.at_once


def may_wait() -> None:
    """What follows may take its time; raises Waits where it must not."""
    if _here.at_once:
        raise Waits


class _NobodyWaits:
    __slots__ = ()

    def __enter__(self) -> None:
        _here.at_once = True
        _answering.append(None)

    def __exit__(self, *_: object) -> None:
        _answering.pop()
        _here.at_once = False
        if _giving_way:
            with suppress(IndexError):  # nobody is left: he has lost patience
                _giving_way.pop().release()


_nobody_waits: Final = _NobodyWaits()


def nobody_waits() -> AbstractContextManager[None]:
    """What is done inside, by this thread, is done at once or not at all."""
    return _nobody_waits


def give_way() -> None:
    """Between two pieces of work that nobody waits for: let an answer that is being given come to its end first.

    Whoever answers lets go of the interpreter's lock several times, and would wait each time for what is done here.
    """
    if _answering and not _here.at_once:
        given = threading.Lock()
        given.acquire()
        _giving_way.append(given)
        if not given.acquire(timeout=PATIENCE):
            with suppress(ValueError):  # the answer is given at this very moment
                _giving_way.remove(given)
