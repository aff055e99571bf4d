"""Messages by which a process announces tasks to the workers, sent by a thread of their own.

Whoever announces a task waits for no broker: one that hangs, refuses to store messages, or is away holds up no request.
A message that can't be sent is dropped, together with those behind it, since every kind of work has a sweep that finds
what no message announced.
"""

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, Final

from celery import current_app
from kombu.exceptions import OperationalError

from idcsched.jobs.background import Background

__all__ = ["Announcer", "announce", "announcer"]

logger = logging.getLogger(__name__)

SEND_EVERY: Final = 0.1
MOST: Final = 10_000
"""The most messages that wait in a process; the oldest gives way to one more."""
BROKER_WITHIN: Final = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0, "max_retries": 0}
"""Options of the connection: a broker has a second to answer, and is not asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A task with its arguments; `context` has the id and the trace of the request that announced it."""

    task: str
    arguments: Sequence[Any]
    named: Mapping[str, Any]
    expires: float | None
    context: Context


class Announcer:
    """Queues messages from any thread and sends them in the order in which they came."""

    def __init__(self) -> None:
        self._queue: deque[Message] = deque(maxlen=MOST)
        self._sending = threading.Lock()
        self._thread = Background("announcing tasks", self.flush, seconds=SEND_EVERY, last=self.flush)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def announce(self, message: Message) -> None:
        """Queue the message; raises nothing."""
        self._queue.append(message)
        if not self._thread.running:
            self._thread.start()

    def flush(self) -> None:
        """Send all waiting messages, or drop them if the broker does not take one."""
        if not self._queue:
            return
        try:
            with self._sending, current_app.connection_for_write(transport_options=BROKER_WITHIN) as connection:
                while self._queue:
                    self._send(self._queue.popleft(), connection)
        except (OperationalError, OSError) as error:
            dropped = len(self._queue) + 1
            self._queue.clear()
            logger.warning("the broker takes no messages, %d are left to the sweeps: %s", dropped, error)

    def stop(self) -> None:
        """End the thread, after it has sent the waiting messages, as far as the broker takes them."""
        self._thread.stop()

    def _send(self, message: Message, connection: Any) -> None:
        message.context.run(
            current_app.send_task,
            message.task,
            message.arguments,
            message.named,
            connection=connection,
            expires=message.expires,
            retry=False,
        )


announcer = Announcer()


def announce(task: str, *arguments: Any, expires: float | None = None, **named: Any) -> None:
    """Have a worker run the task soon, unless `expires` seconds pass before one is free; waits for no broker.

    On commit is the time to call it: a worker may be quicker than the transaction.
    """
    announcer.announce(Message(task=task, arguments=arguments, named=named, expires=expires, context=copy_context()))
