"""A PostgreSQL server of one's own."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from pwd import getpwnam
from time import monotonic, sleep

import psycopg2
from psycopg2.extensions import ISOLATION_LEVEL_AUTOCOMMIT

from idcsched.demo.processes import Child, start, stop
from tests.servers import Unavailable, debian, free_port, scratch_folder

__all__ = ["FAST", "Server", "available", "new_database", "programs", "restartable", "running"]

FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}  # a test may lose its data in a crash
OWNER = "idcsched"


@contextmanager
def available() -> Iterator[str]:
    """The address of the database named by TEST_DATABASE_URL, else of a server that lives as long as the block."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
    else:
        with running() as url:
            yield url


@contextmanager
def running(options: Mapping[str, str] = FAST) -> Iterator[str]:
    """A fresh server with the given settings; yields the address of its database `postgres`."""
    with restartable(options) as server:
        yield server.url


@contextmanager
def restartable(options: Mapping[str, str] = FAST, *, within: Path | None = None) -> Iterator["Server"]:
    """A fresh server that can be stopped and started again; its files are in a folder of `within`, if given.

    PostgreSQL refuses to run as root, so root runs it as `nobody`.
    """
    found = programs()
    user = "nobody" if os.geteuid() == 0 else None
    with scratch_folder(within) as folder:
        if user:
            shutil.chown(folder, user, getpwnam(user).pw_gid)
        _create(found, folder / "data", user)
        port = free_port()
        server = Server(_command(found, folder / "data", port, options), port, folder, user)
        server.start()
        try:
            yield server
        finally:
            server.stop()


class Server:
    """Keeps its data, its settings and its address when it is stopped and started."""

    def __init__(self, command: Sequence[str | Path], port: int, folder: Path, user: str | None) -> None:
        self.url = f"postgresql://{OWNER}@127.0.0.1:{port}/postgres"
        self._command, self._folder, self._user = command, folder, user

    @property
    def pid(self) -> int:
        return self._child.process.pid

    def start(self, *, standby: bool = False) -> None:
        """Start it; as a `standby`, it can only be read until `pg_promote()` is called."""
        if standby:
            (self._folder / "data" / "standby.signal").touch()
        self._child = start("postgresql", self._command, log=self._folder / "log", folder=self._folder, user=self._user)
        _wait(self._child, self.url)

    def stop(self) -> None:
        stop(self._child, by=signal.SIGINT)  # "fast": open sessions are cut off


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """The address of a new, empty database of that server, dropped at the end."""
    name = f"own_{free_port()}"
    with closing(psycopg2.connect(server)) as connection:
        connection.set_isolation_level(ISOLATION_LEVEL_AUTOCOMMIT)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
            yield f"{server.rpartition('/')[0]}/{name}"
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def programs() -> Path:
    """The folder of its programs, which are installed first where they are missing."""
    if not (found := _found()):
        debian.install("postgresql")
        found = _found()
    if not found:
        raise Unavailable("PostgreSQL is installed, but its programs are in no /usr/lib/postgresql/*/bin")
    return found


def _found() -> Path | None:
    versions = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if versions:
        return max(versions, key=lambda path: float(path.parent.name))
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _create(programs: Path, data: Path, user: str | None) -> None:
    options = ["-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
    group = None if user is None else getpwnam(user).pw_gid
    done = subprocess.run(
        [programs / "initdb", "-D", data, *options],
        cwd=data.parent,
        user=user,
        group=group,
        extra_groups=None if user is None else [],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"initdb fails: {done.stderr.strip()}")


def _command(programs: Path, data: Path, port: int, options: Mapping[str, str]) -> list[str | Path]:
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": str(data.parent),
        "max_connections": "200",
        "timezone": "UTC",
        **options,
    }
    return [programs / "postgres", "-D", data, *(part for item in settings.items() for part in ("-c", "=".join(item)))]


def _wait(child: Child, url: str) -> None:
    until = monotonic() + 120
    while child.running and monotonic() < until:
        try:
            psycopg2.connect(url, connect_timeout=30).close()
        except psycopg2.OperationalError:
            sleep(0.05)
        else:
            return
    raise Unavailable(f"PostgreSQL does not start: {child.last_words()}")
