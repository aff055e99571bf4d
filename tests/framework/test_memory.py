"""The memory of a part of a snapshot: values are worked out once, read-only, and dropped when they are too many."""

import threading
from typing import Any

import numpy as np
import pytest

from idcsched.framework.memory import Memory
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.testing import NOW, decide_for, profile, snapshot, world
from plugins import locality

FLEET = {"a": {"latitude": 30.0, "longitude": 110.0}, "b": {"latitude": 20.0, "longitude": 110.0}}
NEAR = {"client": {"latitude": 30.0, "longitude": 110.0}}


class Counted:
    """A function that counts its calls, and returns an array that holds that count."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Any:
        self.times += 1
        return np.full(1000, float(self.times))


def test_it_works() -> None:
    memory, compute = Memory(), Counted()
    assert memory.once("key", compute) is memory.once("key", compute)
    assert compute.times == 1
    assert memory.once("another", compute)[0] == 2.0


def test_nobody_writes_into_what_all_share() -> None:
    kept = Memory().once("key", lambda: {"x": (np.zeros(3), np.zeros(3))})
    with pytest.raises(ValueError, match="read-only"):
        kept["x"][1][0] = 1.0


def test_what_was_not_wanted_for_the_longest_time_goes_first() -> None:
    memory, compute = Memory(most_bytes=20_000), Counted()
    memory.once("old", compute)
    memory.once("new", compute)
    memory.once("old", compute)
    memory.once("one too many", compute)
    assert compute.times == 3
    memory.once("old", compute)
    assert compute.times == 3
    memory.once("new", compute)
    assert compute.times == 4


def test_what_raises_is_not_kept() -> None:
    memory, compute = Memory(), Counted()
    with pytest.raises(ZeroDivisionError):
        memory.once("key", lambda: 1 / 0)
    assert memory.once("key", compute)[0] == 1.0


def test_many_threads_at_once_get_one_and_the_same_value() -> None:
    memory, found = Memory(most_bytes=50_000), list[bool]()

    def ask(number: int) -> None:
        for turn in range(300):
            key = (number * turn) % 17
            found.append(memory.once(key, lambda key=key: np.full(1000, key))[0] == key)  # type: ignore[misc]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found)
    assert len(found) == 1200


def test_distances_are_worked_out_once_for_an_inventory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances are worked out once for an inventory, also after orders have taken something; another inventory needs
    its own.
    """
    asked: list[tuple[float, ...]] = []
    real = locality.great_circle_km
    monkeypatch.setattr(locality, "great_circle_km", lambda *args: asked.append(args[:2]) or real(*args))
    policy, picture = profile(("locality", "locality", {"weight": 1})), snapshot(world(FLEET))  # type: ignore[arg-type]
    ordered = with_allocations(picture, [Allocation(idc="a", claims=(), machines=1)])
    for known in (picture, picture, ordered):
        assert decide_for(known, policy, now=NOW, **NEAR).winner == "a"
    assert len(asked) == 1
    decide_for(snapshot(world(FLEET)), policy, **NEAR)  # type: ignore[arg-type]
    assert len(asked) == 2
