"""The admin offers the coming night for a taint; it begins and ends by the clock of the user who plans it."""

from collections.abc import Container
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from idcsched.inventory.admin.taint_forms import NIGHTS, next_night

SHANGHAI, NEW_YORK = "Asia/Shanghai", "America/New_York"
ANY, SUNDAY = NIGHTS["night"], NIGHTS["sunday"]


@pytest.mark.parametrize(
    ("zone", "now", "weekdays", "starts", "ends"),
    [
        pytest.param(SHANGHAI, "2031-05-07 22:00", ANY, "2031-05-08 01:00", "2031-05-08 05:00", id="this evening"),
        pytest.param(SHANGHAI, "2031-05-08 00:30", ANY, "2031-05-08 01:00", "2031-05-08 05:00", id="after midnight"),
        pytest.param(SHANGHAI, "2031-05-08 03:20", ANY, "2031-05-08 03:20", "2031-05-08 05:00", id="within the night"),
        pytest.param(SHANGHAI, "2031-05-08 05:00", ANY, "2031-05-09 01:00", "2031-05-09 05:00", id="when it is over"),
        pytest.param(SHANGHAI, "2031-12-31 23:00", ANY, "2032-01-01 01:00", "2032-01-01 05:00", id="into a new year"),
        pytest.param(SHANGHAI, "2031-05-07 22:00", SUNDAY, "2031-05-11 01:00", "2031-05-11 05:00", id="from Wednesday"),
        pytest.param(SHANGHAI, "2031-05-11 04:00", SUNDAY, "2031-05-11 04:00", "2031-05-11 05:00", id="on that Sunday"),
        pytest.param(SHANGHAI, "2031-05-11 09:00", SUNDAY, "2031-05-18 01:00", "2031-05-18 05:00", id="a week later"),
        pytest.param(
            NEW_YORK, "2031-03-08 20:00", ANY, "2031-03-09 01:00", "2031-03-09 05:00", id="an hour is skipped"
        ),
    ],
)
def test_it_works(zone: str, now: str, weekdays: Container[int], starts: str, ends: str) -> None:
    def at(clock: str) -> datetime:
        return datetime.fromisoformat(clock).replace(tzinfo=ZoneInfo(zone))

    with timezone.override(zone):
        assert next_night(at(now), weekdays) == (at(starts), at(ends))
