"""`python -m bench.servers`: which web server, and how many threads, answers most; figures in var/servers.json.

Recommendations over 1,000 IDCs, each put on record, by one worker process; in turns, so that a slow moment of the
machine meets all. The other servers are installed from PyPI into a folder of their own.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.measuring import rounded
from bench.serving import served

__all__ = ["RESULT", "main"]

RESULT = Path("var/servers.json")
OTHERS = Path("var/bench/servers")
VERSIONS = ("gunicorn==23.0.0", "waitress==3.0.2")
IDCS, ROUNDS = 1000, 5
APPLICATION = "idcsched.wsgi:application"


def granian(port: int, *, threads: int) -> list[str]:
    listening = ["--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--no-ws"]
    return [sys.executable, "-m", "granian", *listening, "--blocking-threads", str(threads), APPLICATION]


def gunicorn(port: int, *, threads: int) -> list[str]:
    sized = ["--workers", "1", "--worker-class", "gthread", "--threads", str(threads)]
    return [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", *sized, APPLICATION]


def waitress(port: int, *, threads: int) -> list[str]:
    return [sys.executable, "-m", "waitress", f"--listen=127.0.0.1:{port}", f"--threads={threads}", APPLICATION]


SERVERS: dict[str, Callable[[int], list[str]]] = {
    **{f"granian, threads: {threads}": partial(granian, threads=threads) for threads in (1, 2, 4, 6, 8)},
    **{f"gunicorn (gthread), threads: {threads}": partial(gunicorn, threads=threads) for threads in (1, 4)},
    "waitress, threads: 4": partial(waitress, threads=4),
}


def main() -> int:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    subprocess.run([*pip, "--target", OTHERS, *VERSIONS], check=True, stdin=subprocess.DEVNULL)
    with ExitStack() as stack:
        serve = partial(served, IDCS, record=True, path=str(OTHERS.resolve()))
        ready = {name: stack.enter_context(serve(command=command)) for name, command in SERVERS.items()}
        rounds = [{name: server.schedule() for name, server in ready.items()} for _ in range(ROUNDS)]
        found = [
            {
                "server": name,
                "per_second": rounded(statistics.median(each[name] for each in rounds)),
                "memory_mb": round(ready[name].memory()),
            }
            for name in SERVERS
        ]
    for figures in found:
        print(f"{figures['server']:<32}{figures['per_second']:>10} /s {figures['memory_mb']:>6} MB")
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
