"""A Redis server of one's own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from idcsched.demo.processes import Child, start, stop
from tests.servers import Unavailable, debian, free_port, scratch_folder

__all__ = ["available", "running"]

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
    if shutil.which("redis-server") is None:
        debian.install("redis-server")
    port = free_port()
    with scratch_folder() as folder:
        command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
        options = ["--save", "", "--appendonly", "no", "--databases", str(DATABASES)]
        child = start("redis", [*command, *options], log=folder / "redis.log")
        try:
            _wait(child, port)
            yield f"redis://127.0.0.1:{port}"
        finally:
            stop(child)


def _wait(child: Child, port: int) -> None:
    until = monotonic() + 20
    with Redis(port=port) as client:
        while child.running and monotonic() < until:
            try:
                client.ping()
            except RedisConnectionError:
                sleep(0.02)
            else:
                return
    raise Unavailable(f"redis-server does not start: {child.last_words()}")
