"""A time limit for a worker's cold shutdown.

Celery's cold shutdown waits for the tasks of its children and for the threads that wait for them, so that a task that
ignores signals holds up the worker without limit. Here an alarm has the kernel end the worker, and Celery has the
kernel end the children with their worker. As after a power cut, the messages of unfinished tasks are delivered again.
"""

import signal
from types import FrameType

__all__ = ["COLD_SECONDS", "end_within"]

COLD_SECONDS = 10
"""Time for an orderly end: to signal the children and to delete the heartbeat."""


def end_within(seconds: int, *, told: signal.Signals) -> None:
    """From now on end this process `seconds` after the signal `told`, whatever its threads wait for.

    The handler that is installed now still runs at the signal. Call this function in the main thread.
    """
    handler = signal.getsignal(told)
    if not callable(handler):  # without a handler the process ends at once or ignores the signal
        return

    def end_in_time(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the default action ends the process without running Python
        signal.alarm(seconds)
        handler(number, frame)

    signal.signal(told, end_in_time)
