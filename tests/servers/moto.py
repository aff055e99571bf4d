"""A server that speaks EC2's language and remembers its machines for as long as it lives."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from urllib.request import urlopen

from idcsched.demo.processes import start, stop
from tests.servers import Unavailable, free_port, scratch_folder

__all__ = ["running"]


@contextmanager
def running() -> Iterator[str]:
    """Start a fresh server; yield its address."""
    port = free_port()
    with scratch_folder() as folder:
        child = start(
            "moto", [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], log=folder / "log"
        )
        try:
            until = monotonic() + 120
            while not _answers(port):
                if not child.running or monotonic() > until:
                    raise Unavailable(f"moto does not start: {child.last_words()}")
                sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            stop(child)


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/moto-api/data.json", timeout=30):
            return True
    except OSError:
        return False
