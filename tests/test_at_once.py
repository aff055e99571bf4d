"""Where nobody is to wait, whatever may wait says so instead."""

import threading

import pytest

from idcsched.at_once import Waits, answering_at_once, may_wait, nobody_waits


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
