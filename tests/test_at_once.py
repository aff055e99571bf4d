"""Where nobody is to wait, whatever may wait says so instead."""

import threading
from time import monotonic
from typing import Any

import pytest

from idcsched import at_once
from idcsched.at_once import PATIENCE, Waits, answering_at_once, give_way, may_wait, nobody_waits
from tests.e2e.installation import wait_for


def test_it_works() -> None:
    may_wait()
    with nobody_waits():
        assert answering_at_once()
        with pytest.raises(Waits):
            may_wait()
    assert not answering_at_once()
    may_wait()


def test_it_is_over_when_it_was_left_in_the_middle() -> None:
    with pytest.raises(Waits), nobody_waits():
        may_wait()
    assert not answering_at_once()


def test_nothing_that_handles_failures_takes_it_for_one() -> None:
    assert not issubclass(Waits, Exception)


def test_other_threads_may_wait_meanwhile() -> None:
    found: list[bool] = []
    with nobody_waits():
        other = threading.Thread(target=lambda: found.append(answering_at_once()))
        other.start()
        other.join()
    assert found == [False]


def test_who_gives_way_waits_for_the_answer_that_is_being_given() -> None:
    waited: list[float] = []

    def work() -> None:
        begun = monotonic()
        give_way()
        waited.append(monotonic() - begun)

    with nobody_waits():
        give_way()  # to oneself: that would be for ever
        other = threading.Thread(target=work)
        other.start()
        other.join()
    assert waited[0] >= PATIENCE, "and no longer than that, or it would not be over"
    assert not at_once._giving_way


def test_who_gives_way_goes_on_as_soon_as_the_answer_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_once, "PATIENCE", 60.0)
    others = [threading.Thread(target=give_way) for _ in range(2)]
    with nobody_waits():
        for other in others:
            other.start()
        wait_for(lambda: len(at_once._giving_way) == len(others), "both to give way")
    wait_for(lambda: sum(other.is_alive() for other in others) == 1, "one to go on")
    with nobody_waits():
        pass
    for other in others:
        other.join(30)
        assert not other.is_alive()


def test_who_gives_way_may_have_lost_patience_just_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(list[Any]):
        """Of which another thread has taken the last one, after somebody has looked."""

        def __bool__(self) -> bool:
            return True

    monkeypatch.setattr(at_once, "_giving_way", Gone())
    with nobody_waits():
        pass
    assert not answering_at_once()


def test_where_nothing_is_answered_nobody_gives_way() -> None:
    begun = monotonic()
    for _ in range(1000):
        give_way()
    assert monotonic() - begun < 1000 * PATIENCE
