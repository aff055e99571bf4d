"""Some answers are given at once, by the thread that receives all requests; whatever may wait belongs elsewhere.

Code that asks a database or another server, waits for somebody or computes for long says `may_wait()` before. In a
thread that may wait that does nothing. In one that may not it raises `Waits`, and whoever has asked for the answer
(`reception.py`) asks again in another thread.
"""

import threading
import time
from contextlib import AbstractContextManager
from typing import Final

__all__ = ["Waits", "answering_at_once", "give_way", "may_wait", "nobody_waits"]

MOMENT: Final = 0.0002
"""Seconds for which who gives way looks elsewhere."""
PATIENCE: Final = 0.001
"""Seconds for which one gives way, so that one gets on where answers never end."""


class Waits(BaseException):
    """What is asked for takes a thread that may wait. No refusal and no failure: nothing that handles those sees it."""


class _Here(threading.local):
    at_once = False


_here = _Here()
_answering: list[None] = []
"""Holds something while an answer is given at once."""


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


_nobody_waits: Final = _NobodyWaits()


def nobody_waits() -> AbstractContextManager[None]:
    """What is done inside, by this thread, is done at once or not at all."""
    return _nobody_waits


def give_way() -> None:
    """Between two pieces of work that nobody waits for: let an answer that is being given come to its end first.

    Whoever answers lets go of the interpreter's lock several times, and would wait each time for what is done here.
    """
    if _answering and not _here.at_once:
        until = time.monotonic() + PATIENCE
        while _answering and time.monotonic() < until:
            time.sleep(MOMENT)
