"""When a source is due: every so many seconds, or by cron in the billing zone."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from idcsched.framework.errors import Invalid
from metrics_ingest.sources.schedules import Cron, Every, parse_schedule

SHANGHAI = ZoneInfo("Asia/Shanghai")

pytestmark = pytest.mark.usefixtures("in_shanghai")


def test_it_works() -> None:
    now = datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
    assert parse_schedule("300").next_after(now) == now + timedelta(minutes=5)
    assert parse_schedule("30 3 * * *").next_after(now) == datetime(2031, 5, 8, 3, 30, tzinfo=SHANGHAI)
    assert parse_schedule(" */5  * * * * ") == Cron("*/5 * * * *")
    assert parse_schedule("60") == Every(60)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("4", "out_of_range"),
        ("604801", "out_of_range"),
        ("9" * 40, "out_of_range"),
        ("", "invalid_schedule"),
        ("every hour", "invalid_schedule"),
        ("* * * *", "invalid_schedule"),
        ("61 * * * *", "invalid_schedule"),
        ("a b c d e", "invalid_schedule"),
        ("²", "invalid_schedule"),
        ("-5", "invalid_schedule"),
    ],
)
def test_nonsense_is_refused(said: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_schedule(said)
    assert caught.value.code == code
    assert caught.value.errors[0].pointer == "/schedule"


@pytest.mark.parametrize("text", ["0 0 31 2 *", "0 0 30 2 1", "0 0 31 4,6,9,11 *", "* * 30-31 2 *"])
def test_a_day_that_never_comes_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="never occurs") as caught:
        parse_schedule(text)
    assert (caught.value.code, caught.value.errors[0].pointer) == ("invalid_schedule", "/schedule")


def test_one_that_comes_seldom_comes() -> None:
    """The next 29 February that is a Sunday is 40 years away, because the year 2100 has none."""
    found = parse_schedule("0 0 29 2 0").next_after(datetime(2088, 3, 1, tzinfo=SHANGHAI))
    assert found == datetime(2128, 2, 29, tzinfo=SHANGHAI)


@pytest.mark.parametrize("text", ["*/5 * * * *", "0 3 * * *", "30 2 1 * *", "15,45 8-18 * * 1-5", "0 0 29 2 *"])
@pytest.mark.parametrize("zone", ["Asia/Shanghai", "Europe/Berlin"])
def test_cron_agrees_with_a_search_minute_by_minute(settings: Any, text: str, zone: str) -> None:
    settings.BILLING_ZONE = zone
    schedule, chance = parse_schedule(text), random.Random(text)
    for _ in range(20):
        now = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(4 * 10**7))
        assert schedule.next_after(now) == searched(schedule.celery(), now.astimezone(ZoneInfo(zone)))


def searched(cron: Any, now: datetime) -> datetime:
    found = now.replace(second=0, microsecond=0, tzinfo=None) + timedelta(minutes=1)
    while not named(cron, found):
        day = found.day in cron.day_of_month and found.month in cron.month_of_year
        found = found + timedelta(minutes=1) if day else found.replace(hour=0, minute=0) + timedelta(days=1)
    return found.replace(tzinfo=now.tzinfo)


def named(cron: Any, at: datetime) -> bool:
    hit: Callable[[str, int], bool] = lambda name, value: value in getattr(cron, name)  # noqa: E731
    day = hit("day_of_month", at.day) and hit("month_of_year", at.month) and hit("day_of_week", at.isoweekday() % 7)
    return day and hit("hour", at.hour) and hit("minute", at.minute)
