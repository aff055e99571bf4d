"""A run tells what time was taken away from it, and how it did where none was."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import family, worked
from bench.timeline import Answer, State, spent, timeline
from tests.bench.times import CALM, QUIET, STOLEN, UNTOLD, marks
from tests.e2e.installation import wait_for


def answers(*milliseconds: float) -> list[Answer]:
    """Return a hundred answers for each stretch; each answer of a stretch took so many milliseconds."""
    return [
        Answer(10 * stretch + number / 10, took / 1000)
        for stretch, took in enumerate(milliseconds)
        for number in range(100)
    ]


def test_it_works() -> None:
    states: list[State] = ["undisturbed", "disturbed", "left", "undisturbed"]
    found = timeline(marks(QUIET, STOLEN, CALM, CALM), states, answers(5, 900, 80, 15))

    quiet, stolen, left, _ = found.stretches
    assert (quiet.begins_s, quiet.state, quiet.due, quiet.p50_ms, quiet.p99_ms) == (0, "undisturbed", 100, 5, 5)
    assert (quiet.stolen, quiet.others, quiet.idle) == (0.005, 0.005, 0.5)
    assert (stolen.begins_s, stolen.state, stolen.worst_ms, stolen.stolen) == (10, "disturbed", 900, 0.2)
    assert (left.state, left.p99_ms) == ("left", 80)
    assert (found.stolen, found.others, found.idle) == (0.0512, 0.0013, 0.45)
    assert (found.disturbed, found.left, found.undisturbed_minutes) == (1, 1, 0.33)
    assert (found.undisturbed_p50_ms, found.undisturbed_p99_ms, found.undisturbed_worst_ms) == (10, 15, 15)


def test_a_backlog_of_its_own_is_judged_in_every_stretch_that_it_reaches() -> None:
    found = timeline(marks(CALM, CALM, CALM), ["undisturbed"] * 3, answers(5, 9000, 4000))
    assert (found.undisturbed_p50_ms, found.undisturbed_p99_ms) == (4000, 9000)


def test_what_was_due_undisturbed_and_dropped_later_counts() -> None:
    dropped = [Answer(9.5, 10.5)]
    found = timeline(marks(CALM, STOLEN), ["undisturbed", "disturbed"], answers(5, 900) + dropped)
    assert (found.stretches[0].due, found.undisturbed_worst_ms) == (101, 10500)


def test_where_every_stretch_was_disturbed_none_is_shown_instead() -> None:
    found = timeline(marks(STOLEN), ["disturbed"], answers(900))
    assert (found.undisturbed_minutes, found.undisturbed_p99_ms) == (0, None)


def test_a_machine_that_does_not_tell_is_not_taken_for_undisturbed() -> None:
    found = timeline(marks(UNTOLD), ["unknown"], answers(5))
    assert (found.stretches[0].p99_ms, found.stolen) == (5, None)
    assert (found.undisturbed_minutes, found.undisturbed_p99_ms) == (0, None)


def test_what_it_tells(tmp_path: Path) -> None:
    file = tmp_path / "stat"
    file.write_text("cpu  10 20 30 400 50 6 7 8 10 20\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    assert (found := spent(file)) is not None
    assert found[:3] == (531, 450, 8), "what guests have had is counted with the users' already"
    assert found.ours > 0


def test_what_the_children_of_children_do_is_ours() -> None:
    before = worked(os.getpid())
    with busy() as middle:
        (_, child) = family(middle)
        wait_for(lambda: worked(child) > 5, "a child to work")
        assert sum(worked(pid) for pid in family(os.getpid())) - before > 5
    assert worked(os.getpid()) - before > 5, "it has ended, and what it did still counts"
    assert worked(child) == 0


@contextmanager
def busy() -> Iterator[int]:
    """A process whose only child works until both end."""
    starts = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        "input(); child.kill(); child.wait(); input()"
    )
    middle = subprocess.Popen([sys.executable, "-c", starts], stdin=subprocess.PIPE)
    try:
        wait_for(lambda: len(list(family(middle.pid))) == 2, "a child of the child")
        yield middle.pid
    finally:
        middle.communicate(b"\n\n")
