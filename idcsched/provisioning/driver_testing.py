"""A conformance test for authors of drivers, run on a real provider. See `docs/provisioning.md`."""

# ruff: noqa: S101 - a kit of tests consists of assertions

import time
from collections.abc import Callable, Sequence
from uuid import uuid4

from .driver import Call, Condition, Driver, Existing, Wanted
from .driver_kinds import check_driver_class

__all__ = ["check_driver", "wanted"]


def wanted(**given: object) -> Wanted:
    """Return a small machine with a token of its own."""
    defaults: dict[str, object] = {
        "token": str(uuid4()),
        "idempotency_key": uuid4().hex,
        "name": "conformance",
        "idc": "a",
        "region": "A",
        "tenant": "t",
        "placement": str(uuid4()),
        "shape": {"cpu": 1.0, "memory_gib": 1.0},
    }
    return Wanted(**{**defaults, **given})  # type: ignore[arg-type]


def check_driver(
    driver: Driver, call: Callable[[], Call], *, patience: float = 20.0, make: Callable[..., Wanted] = wanted
) -> None:
    """Raise AssertionError, naming the broken rule, unless the driver

    - keeps the contract of Driver;
    - finds nothing under a token that no machine has;
    - finds the machine that it creates, by token and by id, and under no other token;
    - brings the machine up within `patience` seconds;
    - finds all machines of one token, however many they are;
    - removes them within `patience` seconds, and accepts a second removal.

    All machines started are removed. `call` returns the bounds of a turn, `make` a machine that the provider can start.
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
    assert list(driver.find(call(), str(uuid4()))) == [], "a token that nothing bears finds nothing"


def _check_found(driver: Driver, call: Callable[[], Call], order: Wanted, created: Existing) -> None:
    assert created.id, "what is created has an id"
    ids = [existing.id for existing in driver.find(call(), order.token)]
    assert ids == [created.id], "what is created is found by its token"
    by_id = driver.get(call(), created.id)
    assert by_id is not None, "what is created is found by its id"
    assert by_id.id == created.id, "what is found by an id bears it"


def _check_doubles(driver: Driver, call: Callable[[], Call], order: Wanted, make: Callable[..., Wanted]) -> None:
    """Create a second machine of the same token under another idempotency key; both must be found."""
    other = make()
    second = driver.create(call(), make(token=order.token))
    ids = {existing.id for existing in driver.find(call(), order.token)}
    assert second.id in ids, "all machines of a token are found"
    assert len(ids) == 2, "another idempotency key is another machine"  # noqa: PLR2004
    assert not driver.find(call(), other.token), "a token finds its own machines only"


def _check_removed(driver: Driver, call: Callable[[], Call], token: str, patience: float) -> None:
    machines = list(driver.find(call(), token))
    for machine in machines:
        driver.delete(call(), machine.id)
    _until(lambda: not driver.find(call(), token), patience, "what is deleted goes")
    for machine in machines:
        assert driver.get(call(), machine.id) is None, "what is gone is not found by its id"
        driver.delete(call(), machine.id)


def _conditions(machines: Sequence[Existing]) -> set[Condition]:
    return {machine.condition for machine in machines}


def _until(holds: Callable[[], bool], patience: float, law: str) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, f"{law} within {patience:g} s"
        time.sleep(0.05)
