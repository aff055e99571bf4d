"""A lease has one holder at a time, and runs out if its holder dies."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from idcsched.jobs.services import lease_give_up, lease_take

pytestmark = pytest.mark.usefixtures("db")

NOW = datetime(2031, 5, 5, tzinfo=UTC)
ONE, OTHER = UUID(int=1), UUID(int=2)


def take(holder: UUID, *, seconds: float = 0, name: str = "it") -> bool:
    return lease_take(name=name, holder=holder, now=NOW + timedelta(seconds=seconds), lasting=timedelta(seconds=10))


@pytest.mark.both
def test_it_works() -> None:
    assert take(ONE)
    assert not take(OTHER)
    assert take(OTHER, name="something else")
    lease_give_up(name="it", holder=ONE)
    assert take(OTHER)


def test_who_has_it_has_it_for_longer() -> None:
    assert take(ONE)
    assert take(ONE, seconds=9)
    assert not take(OTHER, seconds=18)


@pytest.mark.both
def test_who_dies_with_it_loses_it() -> None:
    assert take(ONE)
    assert take(OTHER, seconds=10)
    assert not take(ONE, seconds=11)


def test_only_its_holder_gives_it_up() -> None:
    assert take(ONE)
    lease_give_up(name="it", holder=OTHER)
    assert not take(OTHER)
