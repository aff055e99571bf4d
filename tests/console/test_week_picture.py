"""The picture of a line's week before and after a move, with figures on paper."""

from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest

from idcsched.console.week_picture import HEIGHT, weeks_of
from idcsched.framework.facts import History, ShapeFact
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import snapshot, world
from idcsched.planning.moves import LineChange, Move, Place
from idcsched.planning.weeks import mean_week

NAN = float("nan")
HOURS = [float(hour % 168) for hour in range(720)]
"""Each hour of 30 days from a Monday on carries its number in the week."""


def known(here: list[float] = HOURS, weekday: int = 0, shapes: tuple[ShapeFact, ...] = ()) -> Snapshot:
    lines = {"here": here, "there": [100.0] * 720}
    picture = world({idc: {"lines": {"ct": {"history": hours, "commit_mbps": 150}}} for idc, hours in lines.items()})
    assert picture.history is not None
    history = History(hours=picture.history.hours, weekday=weekday)
    return snapshot(replace(picture, history=history, shapes=shapes))


def the_move(business: str = "") -> Move:
    lines = tuple(
        LineChange(
            idc=idc,
            line="ct",
            purchased_mbps=1000.0,
            carries_before_mbps=None,
            carries_after_mbps=None,
            bill_before=None,
            bill_after=None,
        )
        for idc in ("here", "there", "gone")
    )
    return Move(
        placement=uuid4(),
        request_id="",
        tenant="t",
        business=business,
        origin=Place(idc="here", lines=("ct",)),
        target=Place(idc="there", lines=("ct",)),
        saves=1.0,
        machines=0,
        bandwidth_mbps=50.0,
        lines=lines,
    )


def levels(points: str) -> list[float]:
    return [float(point.partition(",")[2]) for point in points.split()]


def test_it_works() -> None:
    """What the order has carried is taken from the line that it leaves, and added to the other."""
    found = weeks_of(the_move(), known())
    assert set(found) == {("here", "ct"), ("there", "ct")}, "an IDC that is gone has no week"
    here, there = found["here", "ct"], found["there", "ct"]
    assert (here.peak_before, here.peak_after) == (167.0, 117.0)
    assert (there.peak_before, there.peak_after) == (100.0, 150.0)
    assert levels(here.after)[0] == HEIGHT, "no line carries less than nothing"
    assert levels(here.after) == sorted(levels(here.after), reverse=True), "from Monday to Sunday it carries more"
    assert here.commit == pytest.approx(HEIGHT * (1 - 150 / (167 * 1.05)), abs=0.06)


def test_the_traffic_goes_by_the_shape_of_the_business() -> None:
    monday = ShapeFact(business="live", hours=np.repeat([1.0, 0.0], [24, 144]).astype(np.float32))
    there = weeks_of(the_move("live"), known(shapes=(monday,)))["there", "ct"]
    after = levels(there.after)
    assert (len(after), len(set(after[:12])), len(set(after[12:]))) == (84, 1, 1)
    assert after[0] < after[12], "higher on Monday, and up is less"


@pytest.mark.parametrize("weekday", range(7))
def test_the_week_begins_on_monday_whatever_the_first_day_of_the_history(weekday: int) -> None:
    hours = [float((hour + 24 * weekday) % 168) for hour in range(720)]
    week = mean_week(known(hours, weekday), 0)
    assert week is not None
    assert week.tolist() == list(range(168))


def test_gaps_are_left_out_of_the_mean() -> None:
    gaps = [NAN if hour < 720 - 168 or hour % 168 == 5 else 7.0 for hour in range(720)]
    week = mean_week(known(gaps), 0)
    assert week is not None
    assert np.isnan(week[5])
    assert set(week[~np.isnan(week)]) == {7.0}
    assert mean_week(known([NAN] * 700 + [1.0] * 20), 0) is None, "too little is known"
    assert ("here", "ct") not in weeks_of(the_move(), known([NAN] * 720))
