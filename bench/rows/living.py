"""The live picture of a web process: what it holds, how soon it takes in what has moved, and how soon others see it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.row import Row, Sides, Workshop
from tests.servers import postgresql, scratch_folder

IDCS, METRICS = 10_000, 20
CHANGES = 30
NEEDED_PER_CENT = 99


class Living:
    """A process with a picture of its own, that does what it is told."""

    def __init__(self, program: "subprocess.Popen[str]") -> None:
        self._program = program

    def tell(self, word: str) -> None:
        print(word, file=self._program.stdin, flush=True)

    def hear(self) -> str:
        assert self._program.stdout is not None
        said = self._program.stdout.readline().strip()
        if not said:
            raise RuntimeError("the process with the picture has ended")
        return said

    def asked(self, word: str) -> list[float]:
        self.tell(word)
        return [float(figure) for figure in self.hear().split()]


@contextmanager
def process(environment: dict[str, str], *arguments: str) -> Iterator[Living]:
    command = [sys.executable, "-m", "bench.peers.living", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        try:
            found = Living(program)
            if found.hear() != "ready":
                raise RuntimeError("the process with the picture did not start")
            yield found
        finally:
            program.kill()


@contextmanager
def fleet() -> Iterator[dict[str, str]]:
    """A PostgreSQL with its safety on and the whole fleet in it: what a process must know of it."""
    with postgresql.running({}) as url, scratch_folder() as folder:
        environment = os.environ | {
            "DATABASE_URL": url,
            "VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "idcsched.settings",
        }
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, check=True, env=environment)
        with process(environment, str(IDCS), str(METRICS - 1)):
            yield environment


def held(workshop: Workshop, figure: int, limit: float) -> Sides:
    """In a fresh process each time, since what a process held once it may keep."""
    environment = workshop.shared(fleet)

    def once() -> float:
        with process(environment) as found:
            return found.asked("built")[figure]

    return Sides(once, limit)


@contextmanager
def pair_of(environment: dict[str, str]) -> Iterator[tuple[Living, Living]]:
    with process(environment) as writer, process(environment | {"FOLLOW": "1"}) as reader:
        yield writer, reader


def refreshing(workshop: Workshop) -> Sides:
    found = workshop.entered(process(workshop.shared(fleet)))
    found.asked("built")
    return Sides(lambda: found.asked("refresh")[0], 30.0)


def freshness(workshop: Workshop) -> Sides:
    writer, reader = workshop.entered(pair_of(workshop.shared(fleet)))

    def delay() -> float:
        reader.tell("seen")
        reader.hear()  # it waits
        committed = writer.asked("taint")[0]
        return float(reader.hear()) - committed

    def once() -> float:
        return sorted(delay() for _ in range(CHANGES))[CHANGES * NEEDED_PER_CENT // 100]

    return Sides(once, 0.5)


ROWS = (
    Row(
        name="process_mb",
        title="a process with the picture of 10,000 IDCs, 3 lines each, 20 metrics a line",
        unit="MB",
        set_up=lambda workshop: held(workshop, 0, 130.0),
    ),
    Row(
        name="process_peak_mb",
        title="… and how much more it holds while the picture is built",
        unit="MB",
        set_up=lambda workshop: held(workshop, 1, 60.0),
    ),
    Row(
        name="snapshot_refresh_ms",
        title="… taking in new values of 1 % of the lines",
        unit="ms",
        set_up=refreshing,
    ),
    Row(
        name="freshness_p99_s",
        title="… from a commit in one process to its effect in another, 99 in 100",
        unit="s",
        set_up=freshness,
    ),
)
