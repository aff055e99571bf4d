"""An installation of its own, in a folder of its own, driven from outside: by commands, signals and HTTP."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen

from idcsched.demo.processes import Child, start
from tests.architecture.repository import ROOT, files

__all__ = ["Installation", "cloned", "post", "wait_for"]

DATABASE = "db.sqlite3"
LONGEST_EXCUSE = 10
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_PRELOAD", "CLOCK_OFFSET", "BILLING_ZONE")


def wait_for(condition: Callable[[], object], what: str, *, seconds: float = 60) -> None:
    """Return once `condition` holds; the test fails with `what` if it takes longer than `seconds`.

    On a machine that others keep busy it may take longer, in proportion to the load.
    """
    begun, crowd = monotonic(), 1.0
    while not condition():
        crowd = max(crowd, _crowd())
        assert monotonic() - begun < seconds * crowd, f"waited {seconds * crowd:.0f} s in vain for {what}"
        sleep(0.05)


def _crowd() -> float:
    """Return the load of each core, up to the highest that excuses a longer wait."""
    return min(os.getloadavg()[0] / (os.cpu_count() or 1), LONGEST_EXCUSE)


def cloned(folder: Path) -> Path:
    """The project's files, and nothing else, as a clone of the working tree would have them."""
    for file in files():
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    return folder


class Installation:
    """Runs the project's commands with settings of its own and nothing else of this process's environment."""

    def __init__(self, folder: Path, *, source: Path = ROOT, **variables: str) -> None:
        self.source, self.var, self.logs = source, folder / "var", folder
        self._numbers = count(1)
        inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment = inherited | {"VAR_DIR": str(self.var), "PYTHONUNBUFFERED": "1"} | variables

    def manage(self, *command: str) -> str:
        """Run a management command; returns what it printed."""
        done = self.tried(*command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tried(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a management command that may fail."""
        return subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=self.source,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )

    def migrate(self) -> None:
        """Give the installation a migrated database: a copy of one that was made before.

        If `DATABASE_URL` is set, that database is migrated instead.
        """
        if "DATABASE_URL" in self.environment:
            self.manage("migrate", "--verbosity", "0")
            return
        self.var.mkdir(parents=True, exist_ok=True)
        self.database.write_bytes(_migrated_database())

    @property
    def database(self) -> Path:
        return self.var / DATABASE

    def count(self, table: str, where: str = "1") -> int:
        """Return the number of a table's rows, without Django, so that a test can ask often."""
        with closing(sqlite3.connect(self.database, timeout=20)) as connection:
            found: int = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]
            return found

    def python(self, code: str) -> str:
        """Run code inside Django; returns what it printed."""
        return self.manage("shell", "--verbosity", "0", "--command", code).strip()

    def start(self, name: str, *command: str) -> Child:
        """Start one of the installation's processes."""
        log = self.logs / f"{name}-{next(self._numbers)}.log"
        return start(name, command, log=log, folder=self.source, environment=self.environment)

    def processes(self) -> list[int]:
        """Every live process that has this installation's VAR_DIR in its environment, whoever started it."""
        mine = f"VAR_DIR={self.var}".encode()
        return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if mine in _environment(folder)]


@cache
def _migrated_database() -> bytes:
    with TemporaryDirectory() as folder:
        first = Installation(Path(folder))
        first.manage("migrate", "--verbosity", "0")
        return first.database.read_bytes()


def _environment(folder: Path) -> list[bytes]:
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def post(url: str, body: dict[str, Any], token: str) -> dict[str, Any]:
    """Return the API's answer to a POST."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=60) as response:
        answer: dict[str, Any] = json.load(response)
        return answer
