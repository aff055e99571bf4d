"""One connection serves all threads that write one after the other."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.db import OperationalError, connection, connections

from idcsched.audit import lending
from idcsched.audit.lending import LOOKED_AT_AFTER, Lending

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("db")]

Said = TypeVar("Said")


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lending]:
    """As in a process that serves requests."""
    monkeypatch.setattr(lending, "_lends", False)
    lending.lending_start()
    found = Lending()
    yield found
    if found._lent is not None:
        found._lent.close()


def in_a_thread(work: Callable[[], Said]) -> Said:
    def closing() -> Said:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(closing).result()


def server() -> int:
    """The process of PostgreSQL that this thread talks to."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        found: int = cursor.fetchone()[0]
        return found


def borrowing(lent: Lending) -> int:
    with lent.borrowed():
        return server()


def failing(lent: Lending) -> None:
    with lent.borrowed():
        raise ZeroDivisionError


def end(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_it_works(lent: Lending) -> None:
    def needs_no_other() -> bool:
        borrowing(lent)
        return connection.connection is None

    found = [in_a_thread(lambda: borrowing(lent)) for _ in range(3)]
    assert len({*found}) == 1
    assert server() not in found
    assert in_a_thread(needs_no_other)


def test_a_process_that_does_not_serve_lends_none(lent: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lending, "_lends", False)
    assert borrowing(lent) == server()


def test_whatever_happens_the_own_one_is_back(lent: Lending) -> None:
    own = connections["default"]
    with pytest.raises(ZeroDivisionError):
        failing(lent)
    assert connections["default"] is own


def test_one_that_broke_is_opened_anew(lent: Lending) -> None:
    broken = borrowing(lent)
    end(broken)
    with pytest.raises(OperationalError):
        borrowing(lent)
    assert borrowing(lent) != broken


def test_one_that_has_rested_is_looked_at_first(lent: Lending) -> None:
    broken = borrowing(lent)
    end(broken)
    lent._used_at -= LOOKED_AT_AFTER + 1
    assert borrowing(lent) != broken
