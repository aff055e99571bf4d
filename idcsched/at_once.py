"""Some answers are given at once, by the thread that receives all requests; whatever may wait belongs elsewhere.

Code that asks a database or another server, waits for somebody or computes for long says `may_wait()` before. In a
thread that may wait that does nothing. In one that may not it raises `Waits`, and whoever has asked for the answer
(`reception.py`) asks again in another thread.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Waits", "answering_at_once", "may_wait", "nobody_waits"]


class Waits(BaseException):
    """What is asked for takes a thread that may wait. No refusal and no failure: nothing that handles those sees it."""


class _Here(threading.local):
    at_once = False


_here = _Here()


def answering_at_once() -> bool:
    """Whether this thread must not wait now."""
    return _here.at_once


def may_wait() -> None:
    """What follows may take its time; raises Waits where it must not."""
    if _here.at_once:
        raise Waits


@contextmanager
def nobody_waits() -> Iterator[None]:
    """What is done inside, by this thread, is done at once or not at all."""
    _here.at_once = True
    try:
        yield
    finally:
        _here.at_once = False
