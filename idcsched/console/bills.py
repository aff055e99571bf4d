"""What the running month costs beside the last: the sum of all lines, and the dearest of them against their commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from django.db.models import Max

from metrics_ingest.billing.report import BandwidthReport, BillReport, rollups_reported
from metrics_ingest.models import BandwidthRollup

__all__ = ["LineBill", "Month", "month_billed"]

DEAREST: Final = 8
ENOUGH: Final = 0.9
"""The share of a month's values of which more must be known for its bill to be compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBill:
    """A line's month: billed Mbps against the commit, as places on a bar that is as long as what was bought.

    `before` is what the last month cost by the same contract; None where too little of it was measured.
    """

    idc: str
    line: str
    before: float | None
    amount: float
    forecast: float
    billable: float
    commit: float
    commit_at: str
    above: str
    beyond: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The running month of all lines with a price; `forecast` is what it will have cost at its end.

    `before` is what the last month cost; None unless it is known of each of them.
    """

    name: str
    before: float | None
    amount: float
    forecast: float
    currency: str
    dearest: Sequence[LineBill]


def month_billed() -> Month | None:
    """Return the running month; None where no line has a bill.

    It is what the latest roll-ups say, which are computed every five minutes: until the next, it is read once.
    """
    computed_at = BandwidthRollup.objects.aggregate(latest=Max("computed_at"))["latest"]
    return _month_billed(computed_at) if computed_at else None


@lru_cache(maxsize=1)
def _month_billed(now: datetime) -> Month | None:
    reports = (BandwidthReport.of(row, now) for row in rollups_reported(now))
    billed = [(report, report.month) for report in reports if report.month is not None and report.month.bill.amount]
    if not billed:
        return None
    lines = sorted((_line(report, month.bill) for report, month in billed), key=lambda line: -line.amount)
    before = [line.before for line in lines if line.before is not None]
    return Month(
        name=billed[0][1].month,
        before=sum(before) if len(before) == len(lines) else None,
        amount=sum(line.amount for line in lines),
        forecast=sum(line.forecast for line in lines),
        currency=billed[0][1].bill.currency,
        dearest=lines[:DEAREST],
    )


def _line(report: BandwidthReport, bill: BillReport) -> LineBill:
    amount, commit = bill.amount or 0.0, report.commit_mbps or 0.0
    most = max(report.purchased_mbps, bill.billable_mbps, commit) or 1.0
    expected = report.forecast.amount if report.forecast else None
    last = report.last_month
    return LineBill(
        idc=report.idc,
        line=report.code,
        before=last.bill.amount if last is not None and last.complete and last.coverage > ENOUGH else None,
        amount=amount,
        forecast=amount if expected is None else expected,
        billable=bill.billable_mbps,
        commit=commit,
        commit_at=f"{100 * commit / most:.1f}%",
        above=f"{100 * max(bill.billable_mbps - commit, 0.0) / most:.1f}%",
        beyond=f"{100 * min(bill.billable_mbps, commit) / most:.1f}%",
    )
