"""A soak tells what time was taken away from it, and how it did where none was, beside how it did in all."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.processes import family, worked
from bench.soak import PORTALS, Report, _overdue
from bench.timeline import Answer, Mark, Spent, Timeline, spent, timeline
from tests.e2e.installation import wait_for

SECOND = 200  # ticks of two processors


def marks(*shares: tuple[float, float, float]) -> list[Mark]:
    """Every ten seconds: what shares were stolen, spent on others, and idle since the one before."""
    found = [Mark(0.0, Spent(total=5000, idle=100, stolen=10, ours=0))]
    for stolen, others, idle in shares:
        before, ticks = found[-1], 10 * SECOND
        assert before.spent
        ours = ticks * (1 - stolen - others - idle)
        whole = (ticks, ticks * idle, ticks * stolen, ours)
        told = Spent(*(round(was + more) for was, more in zip(before.spent, whole, strict=True)))
        found.append(Mark(before.at + 10, told))
    return found


def answers(*milliseconds: float) -> list[Answer]:
    """A hundred in each stretch, which took so long."""
    return [
        Answer(10 * stretch + number / 10, took / 1000)
        for stretch, took in enumerate(milliseconds)
        for number in range(100)
    ]


def test_it_works() -> None:
    found = timeline(marks((0.0, 0.01, 0.5), (0.2, 0.0, 0.0), (0.0, 0.4, 0.1)), answers(5, 900, 80))

    calm, stolen, busy = found.stretches
    assert (calm.begins_s, calm.answers, calm.p50_ms, calm.p99_ms, calm.worst_ms) == (0, 100, 5, 5, 5)
    assert (calm.stolen, calm.others, calm.idle, calm.undisturbed) == (0, 0.01, 0.5, True)
    assert (stolen.p99_ms, stolen.stolen, stolen.undisturbed) == (900, 0.2, False)
    assert (busy.p99_ms, busy.others, busy.undisturbed) == (80, 0.4, False)
    assert (found.stolen, found.others, found.idle) == (0.0667, 0.1367, 0.2)
    assert (found.undisturbed, found.undisturbed_p99_ms) == (0.333, 5)


def test_where_every_stretch_was_disturbed_none_is_shown_instead() -> None:
    found = timeline(marks((0.2, 0.0, 0.0)), answers(900))
    assert (found.undisturbed, found.undisturbed_p99_ms) == (0, None)


def test_a_machine_that_does_not_tell_is_not_taken_for_undisturbed() -> None:
    found = timeline([Mark(0.0, None), Mark(10.0, None)], answers(5))
    assert found.stretches[0].p99_ms == 5
    assert (found.stretches[0].undisturbed, found.undisturbed, found.undisturbed_p99_ms) == (False, None, None)


def test_stretches_without_answers_and_a_short_rest() -> None:
    short = marks((0.0, 0.0, 0.5), (0.0, 0.0, 0.5))
    found = timeline([*short, Mark(20.1, short[-1].spent)], [Answer(20.05, 0.007)])
    assert [(stretch.answers, stretch.p99_ms) for stretch in found.stretches] == [(0, None), (1, 7)]


def test_nothing_was_answered() -> None:
    found = timeline(marks((0.0, 0.0, 1.0)), [])
    assert (found.stretches[0].worst_ms, found.undisturbed, found.undisturbed_p99_ms) == (None, 1, None)


@pytest.mark.parametrize("told", ["", "cpu 1 2 3\n", "cpu a b c d e f g h\n", None])
def test_what_the_machine_does_not_tell(told: str | None, tmp_path: Path) -> None:
    file = tmp_path / "stat"
    if told is not None:
        file.write_text(told)
    assert spent(file) is None


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


def report(p99_ms: float | None, **taken: float | None) -> Report:
    shares = {"stolen": 0.0, "others": 0.0, "idle": 0.5} | taken
    told = Timeline(stretches=[], **shares, undisturbed=1.0, undisturbed_p99_ms=1.0)
    return Report(
        minutes=1, maximum=100, rate=50, answers=3000, unanswered=0, changes={}, failures=[], p50_ms=1, p99_ms=p99_ms,
        worst_ms=99, memory_mb=100, growth_mb_a_minute=0, replayed=50, replayed_otherwise=0, timeline=told,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("p99_ms", "taken", "wrong"),
    [
        pytest.param(49.9, {"stolen": 0.3}, [], id="met in spite of it"),
        pytest.param(50.0, {}, ["answers came late"], id="without an excuse"),
        pytest.param(None, {}, ["answers came late"], id="nothing was timed"),
        pytest.param(50.0, {"stolen": None, "others": None}, ["answers came late"], id="nothing is known"),
        pytest.param(
            60.0,
            {"stolen": 0.034, "others": 0.2},
            ["answers came late (of the processors' time 3.4% stolen by the host and 20.0% spent on other programs)"],
            id="what was taken is said and excuses nothing",
        ),
    ],
)
def test_what_is_asked_is_asked_of_all_answers(
    p99_ms: float | None, taken: dict[str, float | None], wrong: list[str]
) -> None:
    assert report(p99_ms, **taken).wrong() == wrong


def test_what_was_due_and_not_even_sent_counts_with_what_it_has_waited() -> None:
    rate = 8 * PORTALS  # each portal asks every eighth of a second
    found = _overdue(10.0, 3 + 78 * PORTALS, rate)
    assert found == [
        pytest.approx(Answer(9.75 + 3 / rate, 0.25 - 3 / rate)),
        pytest.approx(Answer(9.875 + 3 / rate, 0.125 - 3 / rate)),
    ]
    assert _overdue(10.0, 80 * PORTALS, rate) == [], "it is due now, and not late"
