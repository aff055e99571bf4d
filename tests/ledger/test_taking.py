"""Capacity is taken only as far as there is any, given back once, and fades as monitoring begins to see it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from idcsched.accounts.models import Tenant
from idcsched.feed.models import FeedEntry
from idcsched.framework.capacity import Claim as Wanted
from idcsched.framework.overlay import Allocation
from idcsched.inventory.models import Idc, Isp, Line, Region
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.ledger.taking import Entry, claims_fade, claims_fade_begin, claims_release, claims_take, oversold

pytestmark = pytest.mark.usefixtures("db")

NOW = datetime(2031, 5, 5, tzinfo=UTC)
DAY = 86_400
GONE = 999


@pytest.fixture(autouse=True)
def idc() -> Idc:
    idc = Idc.objects.create(code="gz-ct-01", region=Region.objects.create(code="A"))
    Line.objects.create(idc=idc, code="ct", isp=Isp.objects.create(code="ct"), purchased_mbps=1000)
    Tenant.objects.create(code="live-cn")
    return idc


def entry(number: int = 1, *claims: Wanted, machines: int = 3, idc: str = "gz-ct-01") -> Entry:
    wanted = claims or (bandwidth(300), Wanted(resource="cpu", amount=8, ceiling=16))
    return Entry(
        placement=UUID(int=number),
        allocation=Allocation(idc=idc, claims=wanted, machines=machines),
        idc_key=Idc.objects.filter(code=idc).values_list("pk", flat=True).first() or GONE,
        line_keys=dict(Line.objects.filter(idc__code=idc).values_list("code", "pk")),
        tenant_key=Tenant.objects.get().pk,
    )


def bandwidth(amount: float, ceiling: float | None = 900, line: str = "ct", **extra: str) -> Wanted:
    return Wanted(resource="bandwidth_mbps", line=line, amount=amount, ceiling=ceiling, **extra)


def take(*entries: Entry) -> None:
    with transaction.atomic():
        claims_take(entries, at=NOW)


def take_to_the_end(*entries: Entry) -> None:
    """Take capacity in a transaction, and check the constraints that are deferred to its end."""
    with transaction.atomic():
        take(*entries)
        connection.check_constraints()


def release(number: int = 1, machines: int = 3) -> int:
    return claims_release(
        placement=UUID(int=number), idc="gz-ct-01", tenant="live-cn", business="", machines=machines, at=NOW
    )


def held() -> dict[str, tuple[float, float]]:
    return {row.resource: (row.taken, row.ordered) for row in Holding.objects.all()}


def test_it_works() -> None:
    take(entry())
    take(entry(2, bandwidth(600)))

    assert held() == {"bandwidth_mbps": (900, 900), "cpu": (8, 8)}
    assert [(claim.taken_after, claim.ceiling) for claim in Claim.objects.order_by("id")] == [
        (8, 16),
        (300, 900),
        (900, 900),
    ]
    assert Headcount.objects.get().machines == 6
    assert list(FeedEntry.objects.filter(topic="ledger").values_list("key", flat=True)) == ["gz-ct-01"] * 2


@pytest.mark.both
@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(bandwidth(600.001), id="bandwidth"),
        pytest.param(Wanted(resource="cpu", amount=8.5, ceiling=16), id="stock"),
        pytest.param(bandwidth(600.001, counted="ordered"), id="by what is ordered"),
    ],
)
def test_no_more_than_there_is(claim: Wanted) -> None:
    take(entry())
    with pytest.raises(IntegrityError) as refusal:
        take(entry(2, claim))
    assert oversold(refusal.value)
    assert held() == {"bandwidth_mbps": (300, 300), "cpu": (8, 8)}
    assert Headcount.objects.get().machines == 3, "all of it is undone"


@pytest.mark.parametrize(
    ("claim", "where"),
    [
        pytest.param(bandwidth(1), {"idc": "gone"}, id="the IDC"),
        pytest.param(Wanted(resource="bandwidth_mbps", line="gone", amount=1), {}, id="the line"),
        pytest.param(Wanted(resource="cpu", amount=1), {"idc": "gone", "machines": 0}, id="the IDC of a stock"),
    ],
)
def test_what_is_gone_cannot_be_taken(claim: Wanted, where: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError) as refusal:
        take_to_the_end(entry(1, claim, **where))
    assert not oversold(refusal.value)
    assert not Claim.objects.exists()


def test_what_has_been_renamed_is_still_what_was_meant(idc: Idc) -> None:
    before = entry(1)
    Line.objects.update(code="old")
    Line.objects.create(idc=idc, code="ct", isp=Isp.objects.get(), purchased_mbps=1000)
    Idc.objects.update(code="moved")
    take(before, entry(2, bandwidth(100, line="old"), idc="moved"))
    assert [(row.line.code, row.taken) for row in Holding.objects.filter(line__isnull=False)] == [("old", 400)]


def test_without_a_limit_everything_fits() -> None:
    take(entry(1, bandwidth(1e6, ceiling=None)))
    assert held() == {"bandwidth_mbps": (1e6, 1e6)}


@pytest.mark.both
def test_several_at_once_or_none() -> None:
    with pytest.raises(IntegrityError):
        take(entry(1, bandwidth(500)), entry(2, bandwidth(500)))
    assert not Holding.objects.exists()
    take(entry(1, bandwidth(400)), entry(2, bandwidth(500)))
    assert held() == {"bandwidth_mbps": (900, 900)}


def shares(*numbers: int) -> list[Entry]:
    return [entry(number, bandwidth(100 * number), Wanted(resource="cpu", amount=number)) for number in numbers]


def rows() -> list[object]:
    """All that taking writes but for keys and times."""
    claims = Claim.objects.order_by("placement", "holding__resource")
    return [
        *claims.values_list("placement", "holding__resource", "amount", "remaining", "taken_after", "ceiling"),
        *Holding.objects.order_by("resource").values_list("idc__code", "line__code", "resource", "taken", "ordered"),
        *Headcount.objects.values_list("idc__code", "tenant__code", "business", "machines"),
        *set(FeedEntry.objects.values_list("topic", "key")),
    ]


@pytest.mark.both
def test_many_together_write_what_each_by_itself_would() -> None:
    with transaction.atomic():
        take(*shares(1, 2, 3))
        together = rows()
        transaction.set_rollback(True)
    for one in shares(1, 2, 3):
        take(one)
    assert together == rows()
    assert [claim.taken_after for claim in Claim.objects.filter(ceiling=900).order_by("placement")] == [100, 300, 600]


def test_many_together_are_as_few_statements_as_one(django_assert_num_queries: Callable[[int], Any]) -> None:
    """One statement each writes the feed, headcounts, stocks, lines and claims."""
    for entries in (shares(1), shares(2, 3)):
        with transaction.atomic(), django_assert_num_queries(5):
            claims_take(entries, at=NOW)


@pytest.mark.both
def test_it_is_given_back_once() -> None:
    take(entry())
    take(entry(2, bandwidth(100), machines=1))

    assert [release(), release(machines=0)] == [2, 0]
    assert held() == {"bandwidth_mbps": (100, 100), "cpu": (0, 0)}
    assert Headcount.objects.get().machines == 1
    assert Claim.objects.filter(released_at__isnull=True).count() == 1


def test_sums_gather_no_dust() -> None:
    for number in range(1, 11):
        take(entry(number, bandwidth(0.1), machines=0))
    assert held() == {"bandwidth_mbps": (1.0, 1.0)}
    for number in range(1, 11):
        release(number, machines=0)
    assert held() == {"bandwidth_mbps": (0.0, 0.0)}


@pytest.mark.parametrize(
    ("after", "left"),
    [
        pytest.param(timedelta(0), 300, id="at first all of it counts"),
        pytest.param(timedelta(days=1), 200, id="after a third of the time two thirds"),
        pytest.param(timedelta(days=3), 0, id="in the end nothing"),
        pytest.param(timedelta(days=-1), 300, id="a clock that was put back gives nothing away"),
        pytest.param(timedelta(days=9), 0, id="and never less than nothing"),
    ],
)
def test_bandwidth_fades(after: timedelta, left: float) -> None:
    take(entry())
    claims_fade_begin(placement=UUID(int=1), since=NOW)
    claims_fade(now=NOW + after, over_seconds=3 * DAY)
    assert held() == {"bandwidth_mbps": (left, 300), "cpu": (8, 8)}
    assert claims_fade(now=NOW + after, over_seconds=3 * DAY) == 0, "twice is once"


def test_what_has_faded_is_not_given_back_again() -> None:
    take(entry())
    take(entry(2, bandwidth(100), machines=0))
    claims_fade_begin(placement=UUID(int=1), since=NOW)
    claims_fade(now=NOW + timedelta(days=1), over_seconds=3 * DAY)
    release()
    assert held() == {"bandwidth_mbps": (100, 100), "cpu": (0, 0)}


def test_a_reserved_one_does_not_fade(idc: Idc) -> None:
    take(entry())
    assert claims_fade(now=NOW + timedelta(days=30), over_seconds=DAY) == 0


def test_by_what_is_ordered_nothing_ever_fades() -> None:
    take(entry())
    claims_fade_begin(placement=UUID(int=1), since=NOW)
    claims_fade(now=NOW + timedelta(days=3), over_seconds=3 * DAY)
    with pytest.raises(IntegrityError) as refusal:
        take(entry(2, bandwidth(700, counted="ordered")))
    assert oversold(refusal.value)
    take(entry(3, bandwidth(700)))
