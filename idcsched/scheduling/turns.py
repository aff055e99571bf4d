"""Threads that compute take turns.

NumPy lets go of the interpreter's lock in every loop over more than five hundred elements, tens of times a decision.
Where another thread wants it, it is gone then, and this one sleeps until it comes back: four threads that decide at
once decide less than one. So one decides at a time, and the next waits where it wants nothing. What waits for others,
an extender or the database, stays outside of a turn, and so does what computes for long and would keep the others
waiting, and the thread that receives all requests and waits for nobody.
"""

import threading
from types import TracebackType
from typing import Final

__all__ = ["Turn"]

PATIENCE: Final = 0.005
"""Seconds after which it is begun all the same."""

_free: Final = threading.Lock()


class Turn:
    """`with Turn():` this thread computes alone, unless another has done so for too long already."""

    __slots__ = ("_mine",)

    def __enter__(self) -> None:
        self._mine = _free.acquire(timeout=PATIENCE)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._mine:
            _free.release()
