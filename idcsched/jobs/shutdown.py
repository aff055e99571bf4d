"""How a worker ends that is told to end at once.

Celery's cold shutdown waits for what its children are at, and for threads that wait for them: one that heeds nobody
holds the worker for as long as it likes. Here the kernel sees to it that it does not; Celery has it end the children
with their worker. What is ended so is what a power cut would end: its messages are delivered again.
"""

import signal
from types import FrameType

__all__ = ["COLD_SECONDS", "end_within"]

COLD_SECONDS = 10
"""For what ends in order: children to be told, a last sign of life to be taken back."""


def end_within(seconds: int, *, told: signal.Signals) -> None:
    """From now on this process is gone so long after it was told to end, whatever its threads wait for; before that it
    does what it has done at that signal. Call it in the main thread.
    """
    before = signal.getsignal(told)
    if not callable(before):  # it is gone at once, or does not hear
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends the process without asking Python
        signal.alarm(seconds)
        before(number, frame)

    signal.signal(told, end)
