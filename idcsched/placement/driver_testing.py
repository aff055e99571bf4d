"""For authors of drivers: the laws that every driver keeps, tried on a real one. See `docs/provisioning.md`."""

import time
from collections.abc import Callable, Sequence
from uuid import uuid4

from .driver import Call, Condition, Driver, Existing, Wanted
from .driver_kinds import check_driver_class

__all__ = ["check_driver", "wanted"]


def wanted(**given: object) -> Wanted:
    """A small machine with a mark of its own."""
    plain: dict[str, object] = {
        "token": str(uuid4()),
        "idempotency_key": uuid4().hex,
        "name": "conformance",
        "idc": "a",
        "region": "A",
        "tenant": "t",
        "placement": str(uuid4()),
        "shape": {"cpu": 1.0, "memory_gib": 1.0},
    }
    return Wanted(**{**plain, **given})  # type: ignore[arg-type]


def check_driver(
    driver: Driver, call: Callable[[], Call], *, patience: float = 20.0, make: Callable[..., Wanted] = wanted
) -> None:
    """Raises AssertionError, naming the law, unless the driver

    - keeps the contract of its class;
    - says of what was never created that it is not there, and removes it without complaint;
    - finds what it creates, by token and by id, and under no other token; it comes up within `patience` seconds;
    - finds all machines of one token, however many they are;
    - removes them within `patience` seconds, and again without complaint.

    What it starts, it removes. `call` makes what a turn may use, `make` a machine that this provider can start.
    """
    check_driver_class(type(driver))
    _check_nothing_there(driver, call)
    order = make()
    first = driver.create(call(), order)
    try:
        _check_found(driver, call, order, first)
        _until(lambda: _conditions(driver.find(call(), order.token)) == {Condition.UP}, patience, "it comes up")
        _check_doubles(driver, call, order, make)
    finally:
        _check_removed(driver, call, order.token, patience)


def _check_nothing_there(driver: Driver, call: Callable[[], Call]) -> None:
    assert list(driver.find(call(), str(uuid4()))) == [], "a token that nothing bears finds nothing"  # noqa: S101


def _check_found(driver: Driver, call: Callable[[], Call], order: Wanted, made: Existing) -> None:
    assert made.id, "what is created has an id"  # noqa: S101
    found = [existing.id for existing in driver.find(call(), order.token)]
    assert found == [made.id], "what is created is found by its token"  # noqa: S101
    same = driver.get(call(), made.id)
    assert same is not None, "what is created is found by its id"  # noqa: S101
    assert same.id == made.id, "what is found by an id bears it"  # noqa: S101


def _check_doubles(driver: Driver, call: Callable[[], Call], order: Wanted, make: Callable[..., Wanted]) -> None:
    """The same again under another key, as after a reply that was lost for too long."""
    other = make()
    again = driver.create(call(), make(token=order.token))
    found = {existing.id for existing in driver.find(call(), order.token)}
    assert again.id in found, "all machines of a token are found"  # noqa: S101
    assert len(found) == 2, "another idempotency key is another machine"  # noqa: S101, PLR2004
    assert not driver.find(call(), other.token), "a token finds its own machines only"  # noqa: S101


def _check_removed(driver: Driver, call: Callable[[], Call], token: str, patience: float) -> None:
    there = list(driver.find(call(), token))
    for existing in there:
        driver.delete(call(), existing.id)
    _until(lambda: not driver.find(call(), token), patience, "what is deleted goes")
    for existing in there:
        assert driver.get(call(), existing.id) is None, "what is gone is not found by its id"  # noqa: S101
        driver.delete(call(), existing.id)


def _conditions(found: Sequence[Existing]) -> set[Condition]:
    return {existing.condition for existing in found}


def _until(holds: Callable[[], bool], patience: float, law: str) -> None:
    until = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < until, f"{law} within {patience:g} s"  # noqa: S101
        time.sleep(0.05)
