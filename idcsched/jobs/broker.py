"""A message broker without a server: files in a folder, for the processes of one machine.

Kombu's file-system transport, made safe for processes that start together and that read while others write. Meant for
a demo or a small installation on one machine; anything larger sets REDIS_URL.
"""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import filesystem
from kombu.transport.virtual import BrokerState
from kombu.utils.json import dumps, loads

__all__ = ["Channel", "Transport"]


class Channel(filesystem.Channel):
    """A channel whose messages are files: a rename makes each appear whole, and one reader alone takes it."""

    @property
    def folder(self) -> Path:
        return Path(self.transport_options["folder"])

    @property
    def control_folder(self) -> Path:
        return self._subfolder("control")

    @property
    def data_folder_in(self) -> Path:
        return self._subfolder("messages")

    data_folder_out = data_folder_in

    def _subfolder(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the tables of queues, so that one process at a time reads or rewrites them."""
        with (self.control_folder / "lock").open("a") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    def get_table(self, exchange: str) -> Any:
        with self._locked():
            return super().get_table(exchange)

    def _queue_bind(self, *args: Any) -> None:
        with self._locked():
            super()._queue_bind(*args)

    def _delete(self, *args: Any, **kwargs: Any) -> None:
        with self._locked():
            super()._delete(*args, **kwargs)

    def _put(self, queue: Any, message: Any, **kwargs: Any) -> None:  # type: ignore[override]  # kombu's base classes disagree on the parameter's name
        name = f"{time_ns():020}_{uuid.uuid4()}.{queue}.msg"
        draft = self._subfolder("drafts") / name
        draft.write_text(dumps(message), encoding="utf-8")
        draft.rename(self.data_folder_in / name)

    def _get(self, queue: Any, timeout: Any = None) -> Any:
        for name in sorted(os.listdir(self.data_folder_in)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            file = self.data_folder_in / name
            try:
                text = file.read_text(encoding="utf-8")
                file.unlink()
            except FileNotFoundError:
                continue  # another reader took this message first
            return loads(text)
        raise Empty


class Transport(filesystem.Transport):
    """The transport of `embedded://` URLs, with the transport option `folder`."""

    Channel = Channel
    polling_interval = 0.25

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.state = BrokerState()  # a queue that was declared in one folder does not exist in another

    def drain_events(self, connection: Any, timeout: Any = None, **kwargs: Any) -> Any:
        """Wait for half a second at most, so that a worker that is to stop notices."""
        return super().drain_events(connection, timeout=min(timeout or 0.5, 0.5))
