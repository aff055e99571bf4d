"""How much Python runs for one decision: counted, not timed, so that a regression fails and noise does not."""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from bench.fleet import NOW, default_profile, requests, snapshot_of
from bench.rows.batch import REQUESTS, batch, shapes
from bench.rows.engine import cold
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer

MOST_CALLS = 570
MOST_BYTES_A_ROW = 300
MOST_CALLS_COLD = 1460
MOST_BYTES_A_ROW_COLD = 200
ORDERS = 40


def ask_all(idcs: int) -> Callable[[], None]:
    picture, policy, asked = snapshot_of(idcs), default_profile(), requests(ORDERS)

    def once() -> None:
        for request in asked:
            answer(decide(request, picture, policy, now=NOW))

    for _ in range(3):  # what comes again is remembered, and told from memory from then on
        once()
    return once


def ask_all_anew(idcs: int) -> Callable[[], None]:
    """Each of a picture that nobody has asked anything yet."""
    picture, asked = snapshot_of(idcs), requests(ORDERS)

    def once() -> None:
        for request in asked:
            cold(picture, request)

    once()
    return once


def calls_a_decision(idcs: int) -> float:
    return calls_of(ask_all(idcs)) / ORDERS


def calls_of(once: Callable[[], None]) -> int:
    count, before = 0, sys.getprofile()

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        once()
    finally:
        sys.setprofile(before)
    return count


def test_it_works() -> None:
    assert 100 < calls_a_decision(100) < MOST_CALLS


@pytest.mark.parametrize("idcs", [1000, 4000])
def test_no_call_is_made_for_each_candidate(idcs: int) -> None:
    assert calls_a_decision(idcs) < MOST_CALLS


@pytest.mark.parametrize("idcs", [1000, 4000])
def test_the_first_decision_on_a_picture(idcs: int) -> None:
    assert 500 < calls_of(ask_all_anew(idcs)) / ORDERS < MOST_CALLS_COLD


@pytest.mark.parametrize(("kinds", "most"), [(10, 205), (REQUESTS, 320)])
def test_a_batch(kinds: int, most: int) -> None:
    """A decision of its own takes five hundred and more."""
    asked = shapes(kinds)
    for _ in range(2):
        batch(asked)
    assert 50 < calls_of(partial(batch, asked)) / REQUESTS < most


def test_a_batch_is_freed_as_soon_as_it_is_answered() -> None:
    asked = shapes(10)
    batch(asked)
    gc.collect()
    gc.disable()
    try:
        batch(asked)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize(("ask", "most"), [(ask_all, MOST_BYTES_A_ROW), (ask_all_anew, MOST_BYTES_A_ROW_COLD)])
def test_memory_of_a_decision_grows_with_columns_alone(ask: Callable[[int], Callable[[], None]], most: int) -> None:
    idcs = 4000
    once = ask(idcs)
    tracemalloc.start()
    try:
        once()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * idcs


def test_a_decision_is_freed_as_soon_as_it_is_told() -> None:
    """Nothing of it leads back to itself, so that its columns need not wait for the garbage collector."""
    once = ask_all(1000)
    gc.collect()
    gc.disable()
    try:
        once()
        assert gc.collect() == 0
    finally:
        gc.enable()
