"""Whether a taint is planned, in force or over: Python, the database and the engine agree."""

from datetime import UTC, datetime, timedelta

import pytest

from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.services import taint_create
from idcsched.inventory.taint_state import TaintState, in_state, state_of

pytestmark = pytest.mark.usefixtures("db")

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MOMENT = timedelta(microseconds=1)

CASES = {
    "no window": (None, None, TaintState.IN_FORCE),
    "begun": (NOW - HOUR, NOW + HOUR, TaintState.IN_FORCE),
    "begins now": (NOW, None, TaintState.IN_FORCE),
    "begins in a moment": (NOW + MOMENT, None, TaintState.COMING),
    "ends in a moment": (None, NOW + MOMENT, TaintState.IN_FORCE),
    "ends now": (None, NOW, TaintState.OVER),
    "long gone": (NOW - 2 * HOUR, NOW - HOUR, TaintState.OVER),
    "next week": (NOW + 168 * HOUR, NOW + 170 * HOUR, TaintState.COMING),
}


@pytest.mark.parametrize(("starts_at", "ends_at", "state"), CASES.values(), ids=CASES)
def test_it_works(idc: Idc, starts_at: datetime | None, ends_at: datetime | None, state: TaintState) -> None:
    (taint,) = taint_create(idc=idc, key="k", starts_at=starts_at, ends_at=ends_at)
    assert state_of(taint, NOW) == state
    assert [one for one in TaintState if Taint.objects.filter(in_state(one, NOW)).exists()] == [state]


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(ValueError, match="later"):
        in_state("later", NOW)
