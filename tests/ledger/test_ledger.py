"""The ledger: the rules that the database itself enforces, and what is read from it."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from idcsched.accounts.models import Tenant
from idcsched.inventory.models import Idc, Isp, Line, Region
from idcsched.ledger.models import Claim, Headcount, Holding, Resource
from idcsched.ledger.selectors import Taken, holdings_read

pytestmark = pytest.mark.usefixtures("db")

PLACEMENT = UUID(int=1)
CLAIM = {"placement": PLACEMENT, "amount": 10, "remaining": 10, "taken_after": 10, "ceiling": 10}
GONE = datetime(2031, 5, 5, tzinfo=UTC)


@pytest.fixture
def line() -> Line:
    idc = Idc.objects.create(code="gz-ct-01", region=Region.objects.create(code="A"))
    return Line.objects.create(idc=idc, code="ct", isp=Isp.objects.create(code="ct"), purchased_mbps=1000)


@pytest.fixture
def holding(line: Line) -> Holding:
    return Holding.objects.create(idc=line.idc, line=line, resource=Resource.BANDWIDTH_MBPS, taken=10, ordered=20)


def test_it_works(holding):
    claim = Claim.objects.create(**CLAIM, holding=holding)
    assert str(holding) == "gz-ct-01/ct bandwidth_mbps"
    assert str(claim) == f"{PLACEMENT} 10 bandwidth_mbps"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"taken": -1}, id="less than nothing taken"),
        pytest.param({"taken": float("inf")}, id="endlessly much taken"),
        pytest.param({"ordered": -1}, id="less than nothing ordered"),
        pytest.param({"resource": "cpu"}, id="stock of a line"),
        pytest.param({"line": None}, id="bandwidth of no line"),
        pytest.param({"resource": "love", "line": None}, id="an unknown resource"),
    ],
)
def test_a_holding_is_refused(line, fields):
    sound = {"idc": line.idc, "line": line, "resource": "bandwidth_mbps"}
    with pytest.raises(IntegrityError), transaction.atomic():
        Holding.objects.create(**(sound | fields))


def test_there_is_one_holding_of_a_line(holding):
    with pytest.raises(IntegrityError), transaction.atomic():
        Holding.objects.create(idc=holding.idc, line=holding.line, resource="bandwidth_mbps")


def test_there_is_one_holding_of_each_stock(line):
    for resource in ("cpu", "gpu"):
        Holding.objects.create(idc=line.idc, resource=resource)
        with pytest.raises(IntegrityError), transaction.atomic():
            Holding.objects.create(idc=line.idc, resource=resource)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"amount": 0, "remaining": 0}, id="nothing claimed"),
        pytest.param({"remaining": 11}, id="more remains than was claimed"),
        pytest.param({"remaining": -1}, id="less than nothing remains"),
        pytest.param({"taken_after": 10.001}, id="beyond the ceiling"),
        pytest.param({"released_at": GONE}, id="released, and something remains"),
    ],
)
def test_a_claim_is_refused(holding, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        Claim.objects.create(**(CLAIM | {"holding": holding} | fields))


def test_where_no_limit_is_set_none_is_violated(holding):
    Claim.objects.create(**(CLAIM | {"holding": holding, "taken_after": 1e9, "ceiling": None}))


def test_a_placement_claims_a_thing_once_at_a_time(holding):
    claim = Claim.objects.create(**CLAIM, holding=holding)
    with pytest.raises(IntegrityError), transaction.atomic():
        Claim.objects.create(**CLAIM, holding=holding)
    Claim.objects.filter(pk=claim.pk).update(remaining=0, released_at=GONE)
    Claim.objects.create(**CLAIM, holding=holding)


def test_a_tenants_business_is_counted_once_in_an_idc(line):
    tenant = Tenant.objects.create(code="live-cn")
    count = Headcount.objects.create(idc=line.idc, tenant=tenant, business="vod", machines=3)
    assert str(count) == "live-cn vod gz-ct-01: 3"
    Headcount.objects.create(idc=line.idc, tenant=tenant, business="live")
    with pytest.raises(IntegrityError), transaction.atomic():
        Headcount.objects.create(idc=line.idc, tenant=tenant, business="vod")
    with pytest.raises(IntegrityError), transaction.atomic():
        Headcount.objects.update(machines=-1)


def test_what_is_taken_is_read_with_one_query(holding, django_assert_num_queries):
    line = holding.line
    other = Idc.objects.create(code="b", region=line.idc.region)
    for idc in (line.idc, other):
        Holding.objects.create(idc=idc, resource="cpu", taken=4, ordered=4)
    with django_assert_num_queries(1):
        found = holdings_read()
    assert found == {
        (line.idc_id, line.pk, Resource.BANDWIDTH_MBPS): Taken(taken=10, ordered=20),
        (line.idc_id, None, Resource.CPU): Taken(taken=4, ordered=4),
        (other.pk, None, Resource.CPU): Taken(taken=4, ordered=4),
    }
    assert set(holdings_read(idc_ids=frozenset({other.pk}))) == {(other.pk, None, Resource.CPU)}
