"""The last 30 days of all lines by the hour, which exact bills are computed from."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings
from django.db.models import Max, Sum

from idcsched.framework.facts import History, Ints
from idcsched.framework.monthly_bill import HOURS_A_MONTH, MEASURED
from metrics_ingest.models import BandwidthHistory

__all__ = ["history_known", "history_version"]

HOUR = timedelta(hours=1)
AT_ONCE = 2000
"""Rows that are held in memory at a time."""


def history_known(lines: Ints) -> History | None:
    """Return what the lines, by ascending primary keys, carried; None: there are more than the setting allows.

    The hours end at the newest midnight that any line's end at. Of a line whose end earlier, the last are gaps, and the
    figures by five-minute values are not known.
    """
    if lines.size > settings.EXACT_BILL_LINES:
        return None
    version = history_version()
    hours = np.full((lines.size, HOURS_A_MONTH), np.nan, dtype=np.float32)
    measured = np.full((lines.size, MEASURED), np.nan, dtype=np.float32)
    until = BandwidthHistory.objects.aggregate(until=Max("until"))["until"]
    rows = BandwidthHistory.objects.order_by().values_list("line_id", "hours", "until", "measured")
    for line, packed, ends, figures in rows.iterator(AT_ONCE):
        if (late := (until - ends) // HOUR) < HOURS_A_MONTH:
            values, place = np.frombuffer(packed, dtype="<f4")[late:], np.searchsorted(lines, line)
            hours[place, : values.size] = values
            if figures and not late:
                measured[place] = np.frombuffer(figures, dtype="<f4")
    return History(hours=hours, weekday=_weekday(until), version=version, measured=measured)


def history_version() -> str:
    """Return what differs where the stored hours do: the newest midnight, and how many values they rest on."""
    newest = BandwidthHistory.objects.aggregate(until=Max("until"), known=Sum("known_slots"))
    return f"{newest['until']} {newest['known']}"


def _weekday(until: datetime | None) -> int:
    """Return the weekday of the first of the 30 days before a midnight."""
    if until is None:
        return 0
    return (until.astimezone(ZoneInfo(settings.BILLING_ZONE)) - timedelta(days=30)).weekday()
