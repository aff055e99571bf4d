"""In how many of the last four weeks a move would have saved, with figures on paper.

An order of 100 Mbps would move from `here`, at 30 a Mbps, which adds 3,000 to its bill, to `there`, at 40.
"""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone

from idcsched.framework.monthly_bill import Tariffs
from idcsched.framework.normalize import Floats
from idcsched.inventory.models import Line
from idcsched.ledger.models import Claim
from idcsched.planning.weeks import weeks_saved
from metrics_ingest.models import Metric
from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY
from metrics_ingest.services import history_store, rollups_refresh
from tests.planning.test_moves import idc, measure, stand, the_move, world  # noqa: F401 - a fixture

NAN = float("nan")
WEEK = 168
MONDAY = np.array([1.0] * 24 + [0.0] * 144)
TUESDAY = np.roll(MONDAY, 24)


def weeks(*mbps: float) -> Floats:
    """The traffic of each hour, where each week carries one of these values throughout."""
    return np.repeat(mbps, WEEK).astype(np.float64)


def terms(**columns: tuple[Any, Any]) -> Tariffs:
    given: dict[str, tuple[Any, Any]] = {
        "charge_types": ("p95_month", "p95_month"),
        "purchased": (2000.0, 2000.0),
        "commit": (NAN, NAN),
        "price_per_mbps": (30.0, 40.0),
        "price_per_gb": (NAN, NAN),
        **columns,
    }
    return Tariffs(**{name: np.array(column) for name, column in given.items()})


def told(here: Floats, there: Floats, tariffs: Tariffs, **fields: Any) -> tuple[int, int]:
    given = {"mbps": 100.0, "shape": None, "weekday": 0, "seen": 0, **fields}
    found = weeks_saved(np.stack([here, there]), tariffs, np.array([True, False]), **given)
    return found.saved, found.known


def test_it_works() -> None:
    """500 Mbps are paid for in `there`, and 300, 300, 450 and 600 flow: the order adds 0, 0, 50 × 40 and 100 × 40."""
    tariffs = terms(commit=(NAN, 500.0))
    assert told(weeks(400, 400, 400, 400), weeks(300, 300, 450, 600), tariffs) == (3, 4)


def test_gaps() -> None:
    """A week counts as known only if both lines have values for at least half of it."""
    here, there = weeks(400, 400, 400, 400), weeks(300, 300, 300, 300)
    here[-85:] = there[-253:-168] = NAN
    assert told(here, there, terms(commit=(NAN, 500.0))) == (2, 2)
    here[-85] = there[-253] = 0.0  # half of the week
    assert told(here, there, terms(commit=(NAN, 500.0))) == (4, 4)


@pytest.mark.parametrize(
    ("seen", "saved"),
    [
        pytest.param(0, 4, id="others: 500 are above the commit, 100 × 30 − 100 × 20"),
        pytest.param(2 * WEEK, 2, id="in the last two weeks 100 of the 500 are its own: 50 × 30 − 100 × 20"),
        pytest.param(4 * WEEK, 0, id="in all weeks"),
    ],
)
def test_the_order_s_own_traffic(seen: int, saved: int) -> None:
    tariffs = terms(commit=(450.0, NAN), price_per_mbps=(30.0, 20.0))
    assert told(weeks(500, 500, 500, 500), weeks(400, 400, 400, 400), tariffs, seen=seen) == (saved, 4)


@pytest.mark.parametrize(("shape", "saved"), [(MONDAY, 4), (TUESDAY, 0)])
def test_the_hours_in_which_the_order_flows(shape: Floats, saved: int) -> None:
    """`there` is busy on Tuesdays, which its percentile bills: an order adds something there on Tuesdays, but not on
    Mondays.
    """
    there = np.tile(np.roll(300 * TUESDAY, -2 * 24), 4)
    assert told(weeks(0, 0, 0, 0), there, terms(), shape=shape, weekday=2) == (saved, 4)


def test_its_own_traffic_flows_in_its_hours() -> None:
    """All that flows in `here` is on Mondays. If it is the order's own traffic, the commit pays for it with or without
    the order; if it is others', the order adds 3,000 there, and 100 × 20 in `there`.
    """
    here = np.tile(np.roll(100 * MONDAY, -2 * 24), 4)
    cheaper = terms(price_per_mbps=(30.0, 20.0), commit=(100.0, NAN))
    assert told(here, weeks(0, 0, 0, 0), cheaper, shape=MONDAY, weekday=2, seen=4 * WEEK) == (0, 4), "paid anyway"
    assert told(here, weeks(0, 0, 0, 0), cheaper, shape=MONDAY, weekday=2) == (4, 4)


@pytest.mark.parametrize(("price", "saved"), [(16.0, 4), (17.0, 0)])
def test_by_volume(price: float, saved: int) -> None:
    """By volume an order without a shape counts half of its Mbps: 50 Mbps are 16,200 GB a month, 1,620 at 0.1 each."""
    tariffs = terms(charge_types=("volume", "p95_month"), price_per_mbps=(NAN, price), price_per_gb=(0.1, NAN))
    assert told(weeks(400, 400, 400, 400), weeks(400, 400, 400, 400), tariffs) == (saved, 4)


def test_a_flat_rate_is_known_without_measurements() -> None:
    flat = terms(charge_types=("p95_month", "fixed"))
    assert told(weeks(400, NAN, 400, 400), weeks(NAN, NAN, NAN, NAN), flat) == (3, 3)


def test_a_price_is_not_known() -> None:
    assert told(weeks(1, 1, 1, 1), weeks(1, 1, 1, 1), terms(price_per_mbps=(30.0, NAN))) == (0, 0)


def flow(code: str, *mbps: float, days: int = 7, peak: float | None = None) -> None:
    """Store these values as the traffic of the last weeks (or other numbers of days) on the IDC's line; the first one
    also fills the 20 days before. In the first half day of each of the first two `peak` Mbps flow, if that is given.
    """
    line, now = Line.objects.select_related("idc").get(idc__code=code), timezone.now()
    midnight = now.astimezone(ZoneInfo(settings.BILLING_ZONE)).replace(hour=0, minute=0, second=0, microsecond=0)
    values = np.repeat(mbps, np.array([20 + days, *[days] * (len(mbps) - 1)]) * SLOTS_A_DAY).astype(np.float32)
    for part in range(2 if peak is not None else 0):
        begin = (20 + part * days) * SLOTS_A_DAY
        values[begin : begin + SLOTS_A_DAY // 2] = peak
    metric = Metric.objects.get(code="bandwidth_mbps")
    history_store(metric=metric, idc=line.idc, line=line, start=midnight - values.size * SLOT, values=values)
    rollups_refresh(now=now)
    measure(code, mbps[-1])


@pytest.mark.usefixtures("db")
def test_the_advice_says_it() -> None:
    """The commit of 700 carries what flows all month but for a day. In two of the four weeks 750 Mbps flowed for half a
    day, so that the order would have cost 100 × 60 if all weeks had been like these.
    """
    idc("here", used=None)
    idc("there", {"price_per_mbps": 60, "commit_mbps": 700}, used=None)
    flow("here", 400, 400, 400, 400)
    flow("there", 400, 400, 400, 400, peak=750)
    placement = stand()
    move = the_move()
    assert (move.weeks_saved, move.weeks_known) == (2, 4)
    Claim.objects.filter(placement=placement.pk).update(fading_since=timezone.now() - timedelta(days=40))
    Line.objects.filter(idc__code="here").update(commit_mbps=390)
    assert (the_move().saves, the_move().weeks_saved) == (300, 2), "of 400 with it 390 are paid for"


@pytest.mark.usefixtures("db")
def test_without_history_no_week_is_known() -> None:
    idc("here")
    idc("there", {"price_per_mbps": 10})
    stand()
    assert (the_move().weeks_saved, the_move().weeks_known) == (0, 0)
