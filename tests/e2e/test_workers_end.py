"""A worker that is told to end at once does, and its children never outlive it, whatever they are at."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from idcsched.demo.processes import Child, stop
from idcsched.jobs.shutdown import COLD_SECONDS
from tests.e2e.installation import Installation, wait_for

TASKS = """
import os, signal, time
from pathlib import Path
from idcsched.celery import app

@app.task
def stubborn(begun):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(begun).write_text(str(os.getpid()))
    while True:
        time.sleep(600)
"""
ORDERED = "import stubborn_tasks; stubborn_tasks.stubborn.delay({begun!r})"


pytestmark = pytest.mark.long


@pytest.fixture
def installation(tmp_path: Path, redis_url: str) -> Installation:
    (tmp_path / "stubborn_tasks.py").write_text(TASKS)
    installed = Installation(tmp_path, REDIS_URL=redis_url, PYTHONPATH=str(tmp_path))
    installed.migrate()
    return installed


@contextmanager
def at_work(installation: Installation, folder: Path) -> Iterator[tuple[Child, int]]:
    """A worker and the pid of its child, which runs a task that never ends and ignores signals."""
    begun = folder / "begun"
    celery = (sys.executable, "-m", "celery", "-A", "stubborn_tasks")
    worker = installation.start(
        "worker", *celery, "worker", "--concurrency", "2", "--without-gossip", "--without-mingle"
    )
    try:
        installation.python(ORDERED.format(begun=str(begun)))
        wait_for(lambda: begun.exists() and begun.read_text(), "the task to begin", seconds=60)
        yield worker, int(begun.read_text())
    finally:
        stop(worker, grace=0)


def test_it_works(installation: Installation, tmp_path: Path) -> None:
    with at_work(installation, tmp_path) as (worker, child):
        worker.process.send_signal(signal.SIGQUIT)
        wait_for(lambda: not worker.running, "the worker to end", seconds=COLD_SECONDS + 5)
        wait_for(lambda: not installation.processes(), f"all to end, {child} too", seconds=5)


def test_no_child_outlives_a_worker_that_is_killed(installation: Installation, tmp_path: Path) -> None:
    with at_work(installation, tmp_path) as (worker, child):
        os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.wait()
        wait_for(lambda: not installation.processes(), f"all to end, {child} too", seconds=5)


def test_a_worker_that_is_asked_to_end_lets_what_it_is_at_come_to_its_end(
    installation: Installation, tmp_path: Path
) -> None:
    with at_work(installation, tmp_path) as (worker, child):
        worker.process.send_signal(signal.SIGTERM)
        wait_for(lambda: "Warm shutdown" in worker.log.read_text(), "the worker to hear", seconds=10)
        with pytest.raises(AssertionError, match="in vain"):
            wait_for(lambda: not worker.running, "the worker to end", seconds=1)
        assert child in installation.processes()
