"""What orders hold at a time: amounts under keys, each from one time to another."""

from random import Random

import pytest

from idcsched.planning.holdings import Holdings


@pytest.fixture
def held() -> Holdings[str]:
    """100 on `a` from 10 to 20, 30 more from 15 to 30, and 5 on `b` from 15 to 16."""
    made = Holdings[str]()
    made.add([("a", 100.0)], since=10, until=20)
    made.add([("a", 30.0), ("b", 5.0)], since=15, until=30)
    made.add([("b", -5.0)], since=16, until=30)
    return made


def test_it_works(held: Holdings[str]) -> None:
    found = {time: dict(held.at(time)) for time in (9, 10, 15, 16, 20, 30)}
    assert found == {
        9: {},
        10: {"a": 100.0},
        15: {"a": 130.0, "b": 5.0},
        16: {"a": 130.0},
        20: {"a": 30.0},
        30: {},
    }


def test_without_the_newest(held: Holdings[str]) -> None:
    """What begins exactly at the time that is asked for can be left out."""
    assert held.at(10, with_newest=False) == {}
    assert held.at(15, with_newest=False) == {"a": 100.0}


def test_fading(held: Holdings[str]) -> None:
    assert held.fading(15, over=10) == {"a": 50.0 + 30.0, "b": 5.0}
    assert held.fading(15, over=0) == {}


def test_nothing_is_held() -> None:
    made = Holdings[str]()
    made.add([], since=0, until=9)
    assert made.at(5) == {}


def test_sums_are_those_of_a_plain_loop() -> None:
    chance = Random(1)
    made, stays = Holdings[int](), []
    for _ in range(500):
        key, since = chance.randrange(9), chance.uniform(0, 100)
        stay = (key, chance.randrange(1, 50), since, since + chance.uniform(0, 40))
        made.add([stay[:2]], since=stay[2], until=stay[3])
        stays.append(stay)
    for _ in range(50):
        time, plain = chance.uniform(0, 140), dict[int, float]()
        for key, amount, since, until in stays:
            if since <= time < until:
                plain[key] = plain.get(key, 0.0) + amount
        assert made.at(time) == plain
