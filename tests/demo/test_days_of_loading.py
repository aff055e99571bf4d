"""The demo's past orders depend on the day of loading alone, by the clock of the billing zone."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import transaction

from idcsched.demo.loading import demo_load
from idcsched.demo.past_orders import ORDERS, past_orders
from idcsched.placement.models import Placement

pytestmark = pytest.mark.usefixtures("db")

SHANGHAI, NEW_YORK = ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York")
EARLY = datetime(2026, 10, 25, 0, 1)  # noqa: DTZ001 - the zone is added by each test
LATE = datetime(2026, 10, 25, 23, 58)  # noqa: DTZ001 - likewise


def places(now: datetime) -> Mapping[str, tuple[str, str]]:
    """Where each order stands if the demo is loaded at that time."""
    with transaction.atomic():
        demo_load(now=now)
        rows = Placement.objects.values_list("request_id", "idc__code", "lines")
        found = {order: (idc, lines[0]["line"]) for order, idc, lines in rows}
        transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("zone", [SHANGHAI, NEW_YORK], ids=str)
def test_they_stand_at_the_same_places_whenever_on_a_day_it_is_loaded(zone: ZoneInfo, var: Path, settings: Any) -> None:
    settings.BILLING_ZONE = zone.key
    early = places(EARLY.replace(tzinfo=zone).astimezone(UTC))

    assert len(early) == ORDERS
    assert places(LATE.replace(tzinfo=zone).astimezone(UTC)) == early


@pytest.mark.parametrize("zone", [SHANGHAI, NEW_YORK, ZoneInfo("Pacific/Auckland")], ids=str)
@pytest.mark.parametrize("clock", [EARLY, LATE])
def test_they_come_in_working_hours_of_days_that_are_over(zone: ZoneInfo, clock: datetime, settings: Any) -> None:
    settings.BILLING_ZONE = zone.key
    now = clock.replace(tzinfo=zone).astimezone(UTC)
    orders = past_orders(now=now)

    assert len({order.code for order in orders}) == ORDERS
    for order in orders:
        came = order.at.astimezone(zone)
        assert 9 <= came.hour < 18
        assert timedelta(days=1) <= clock.date() - came.date() < timedelta(days=30), "records are kept for 30 days"
        assert order.until - order.at >= timedelta(days=2)


def test_where_nothing_fits_the_rest_of_the_demo_is_there(var: Path, settings: Any) -> None:
    settings.BANDWIDTH_MAX_LEVEL = 0.0
    with transaction.atomic():
        counts = demo_load(now=EARLY.replace(tzinfo=SHANGHAI).astimezone(UTC))
        transaction.set_rollback(True)

    assert (counts["orders"], counts["idcs"]) == (0, 47)
