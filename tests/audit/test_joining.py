"""Jobs of several threads are done in one go, and each thread hears what became of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.db import IntegrityError, OperationalError

from idcsched.audit.joining import Joining
from idcsched.framework.errors import Conflict


class Writer:
    """Does jobs when it is let, and remembers which it did together."""

    def __init__(self, refuse: Callable[[Sequence[str]], BaseException | None] = lambda jobs: None) -> None:
        self.calls: list[list[str]] = []
        self.done: list[str] = []
        self.entered, self.go_on = threading.Event(), threading.Event()
        self._refuse = refuse

    def __call__(self, jobs: Sequence[str]) -> None:
        self.calls.append(list(jobs))
        self.entered.set()
        assert self.go_on.wait(10)
        if error := self._refuse(jobs):
            raise error
        self.done += jobs


def at_once(writer: Writer, jobs: Sequence[str], *, most: int = 50) -> dict[str, Future[None]]:
    """The first is under way when the others come."""
    joining = Joining(writer, most=most)
    with ThreadPoolExecutor(len(jobs)) as pool:
        found = {jobs[0]: pool.submit(joining.do, jobs[0])}
        assert writer.entered.wait(10)
        for number, job in enumerate(jobs[1:], 1):
            found[job] = pool.submit(joining.do, job)
            while len(joining._queue) < number:
                threading.Event().wait(0.001)
        writer.go_on.set()
    return found


def test_it_works() -> None:
    writer = Writer()
    outcomes = at_once(writer, ["a", "b", "c", "d"])

    assert writer.calls == [["a"], ["b", "c", "d"]]
    assert [outcome.result() for outcome in outcomes.values()] == [None] * 4


def test_one_alone_is_done_at_once() -> None:
    writer = Writer()
    writer.go_on.set()
    joining = Joining(writer, most=2)
    for job in ("a", "b"):
        joining.do(job)
    assert writer.calls == [["a"], ["b"]]


def test_no_more_than_so_many_together() -> None:
    writer = Writer()
    at_once(writer, ["a", "b", "c", "d"], most=2)
    assert writer.calls == [["a"], ["b", "c"], ["d"]]


@pytest.mark.parametrize("error", [IntegrityError("bad"), Conflict("quota_exceeded", "bad")])
def test_what_breaks_a_rule_is_found_out_and_stops_nobody_else(error: Exception) -> None:
    writer = Writer(lambda jobs: error if "bad" in jobs else None)
    outcomes = at_once(writer, ["a", "b", "bad", "c"])

    assert writer.calls == [["a"], ["b", "bad", "c"], ["b"], ["bad"], ["c"]]
    assert writer.done == ["a", "b", "c"]
    assert outcomes.pop("bad").exception() is error
    assert {outcome.exception() for outcome in outcomes.values()} == {None}


def test_a_database_that_is_away_is_away_for_all_of_them_and_none_is_tried_twice() -> None:
    writer = Writer(lambda jobs: OperationalError("away") if "b" in jobs else None)
    outcomes = at_once(writer, ["a", "b", "c"])

    assert writer.calls == [["a"], ["b", "c"]]
    errors = [outcomes[job].exception() for job in ("b", "c")]
    assert [str(error) for error in errors] == ["away", "away"]
    assert errors[0] is not errors[1], "each thread raises an error of its own"


def test_a_thread_that_is_broken_off_leaves_nobody_waiting_or_thinking_that_it_is_done() -> None:
    writer = Writer(lambda jobs: SystemExit() if "b" in jobs else None)
    outcomes = at_once(writer, ["a", "b", "c", "d"], most=2)

    assert writer.calls == [["a"], ["b", "c"], ["d"]]
    assert {job: type(outcome.exception()) for job, outcome in outcomes.items()} == {
        "a": type(None),
        "b": SystemExit,
        "c": OperationalError,
        "d": type(None),
    }


def test_the_next_one_is_served_after_a_failure() -> None:
    joining = Joining(writer := Writer(lambda jobs: ValueError("bad") if "bad" in jobs else None), most=2)
    writer.go_on.set()
    with pytest.raises(ValueError, match="bad"):
        joining.do("bad")
    joining.do("good")
    assert writer.done == ["good"]
