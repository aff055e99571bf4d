"""A Redis server of one's own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from idcsched.demo.processes import Child, start, stop
from tests.servers import Unavailable, debian, free_port, scratch_folder

__all__ = ["Server", "available", "restartable", "running"]

DATABASES = 64  # one for each parallel test process, and some


@contextmanager
def available() -> Iterator[str]:
    """The address of the server named by TEST_REDIS_URL, else of one that lives as long as the block."""
    if given := os.environ.get("TEST_REDIS_URL"):
        yield given
    else:
        with running() as url:
            yield url


@contextmanager
def running() -> Iterator[str]:
    """A fresh server; yields its address without a database number."""
    with restartable() as server:
        yield server.url


@contextmanager
def restartable() -> Iterator["Server"]:
    """A fresh server that can be stopped and started again, at the same address."""
    if shutil.which("redis-server") is None:
        debian.install("redis-server")
    with scratch_folder() as folder:
        server = Server(folder, free_port())
        server.start()
        try:
            yield server
        finally:
            server.stop()


class Server:
    """Keeps nothing: what it knew is gone when it is stopped."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"redis://127.0.0.1:{port}"
        self._folder, self._port = folder, port

    @property
    def pid(self) -> int:
        return self._child.process.pid

    def start(self) -> None:
        command = ["redis-server", "--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        options = ["--save", "", "--appendonly", "no", "--databases", str(DATABASES)]
        self._child = start("redis", [*command, *options], log=self._folder / "redis.log")
        _wait(self._child, self._port)

    def stop(self) -> None:
        stop(self._child)


def _wait(child: Child, port: int) -> None:
    until = monotonic() + 120
    with Redis(port=port) as client:
        while child.running and monotonic() < until:
            try:
                client.ping()
            except RedisConnectionError:
                sleep(0.02)
            else:
                return
    raise Unavailable(f"redis-server does not start: {child.last_words()}")
