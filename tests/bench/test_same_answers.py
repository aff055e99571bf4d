"""The programs that are compared make the same decision: the engine, one SQL statement, and bare arrays."""

import sqlite3

import pytest

from bench.fleet import NOW
from bench.peers import floor, ours, sql
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.question import Question

SIZES = (50, 400, 2000)


def our_best(idcs: int) -> list[tuple[str, float]]:
    told = answer(decide(Question(ours.question(), ours.same_fleet(idcs), ours.same_policy(), now=NOW)), top=floor.TOP)
    return [(each.idc, each.score) for each in told.candidates or ()]


def their_best(found: list[tuple[int, float]]) -> list[tuple[str, float]]:
    """Return their best with scores like the engine's, which are 100 times theirs."""
    return [(f"idc-{row:05d}", pytest.approx(100 * score, abs=1e-4)) for row, score in found]


def test_it_works() -> None:
    assert len(our_best(400)) == floor.TOP


@pytest.mark.parametrize("idcs", SIZES)
def test_bare_arrays_find_the_same_five(idcs: int) -> None:
    found = their_best(floor.best_in_arrays(sql.bare_of(idcs)))
    assert our_best(idcs)[: len(found)] == found


@pytest.mark.parametrize("idcs", SIZES)
def test_sql_picks_the_same_one(idcs: int) -> None:
    connection = sqlite3.connect(":memory:")
    cursor = connection.cursor()
    sql.fill(cursor, "?", idcs)
    number, _, score = cursor.execute(sql.pick("named"), sql.LIMITS).fetchone()
    connection.close()
    assert our_best(idcs)[:1] == their_best([(number, score)])
