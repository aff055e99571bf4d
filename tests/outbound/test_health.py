"""An origin that fails is left alone for a while, then tried by one call; retries are a share of calls."""

import logging

import pytest

from idcsched.outbound.errors import CircuitOpen, NoConnection
from idcsched.outbound.health import Health, Patience


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health("http://x:80", Patience(failures=3, rest_seconds=10), clock)


def fail(health: Health, times: int) -> None:
    for _ in range(times):
        health.admit()
        health.failed(NoConnection("no_connection", "gone"))


def refused(health: Health) -> bool:
    try:
        health.admit()
    except CircuitOpen:
        return True
    return False


def test_it_works(health: Health, clock: Clock) -> None:
    fail(health, 3)
    assert refused(health)
    clock.now += 10
    assert not refused(health), "somebody has to try"
    health.succeeded()
    assert not refused(health)


def test_only_failures_in_a_row_count(health: Health) -> None:
    fail(health, 2)
    health.succeeded()
    fail(health, 2)
    assert not refused(health)


def test_one_tries_while_the_others_wait(health: Health, clock: Clock) -> None:
    fail(health, 3)
    clock.now += 10
    assert [refused(health) for _ in range(3)] == [False, True, True]


def test_a_trial_that_fails_opens_the_circuit_again(health: Health, clock: Clock) -> None:
    fail(health, 3)
    clock.now += 10
    fail(health, 1)
    assert refused(health)
    clock.now += 10
    assert not refused(health)


def test_a_trial_of_which_nothing_is_heard_does_not_block_for_ever(health: Health, clock: Clock) -> None:
    fail(health, 3)
    for _ in range(2):
        clock.now += 10
        assert not refused(health)


def test_opening_and_closing_are_said_once(health: Health, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        fail(health, 3)
        clock.now += 10
        fail(health, 1)
        clock.now += 10
        health.admit()
        health.succeeded()
    assert caplog.messages == ["http://x:80 failed 3 times in a row and is left to rest", "http://x:80 answers again"]


def test_the_budget_of_retries_fills_with_calls_up_to_its_brim(clock: Clock) -> None:
    health = Health("http://x:80", Patience(retries_earned=0.5, retries_saved=1), clock)
    assert [health.may_retry(), health.may_retry()] == [True, False]
    health.begin()
    assert not health.may_retry()
    for _ in range(9):
        health.begin()
    assert [health.may_retry(), health.may_retry()] == [True, False]
