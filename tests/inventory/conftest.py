import pytest

from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.inventory.models import Idc, Isp, Region
from idcsched.inventory.services import idc_create, isp_create, region_create


@pytest.fixture
def south(db: None) -> Region:
    return region_create(code="south")


@pytest.fixture
def guangzhou(south: Region) -> Region:
    return region_create(code="440100", name="广州", parent=south)


@pytest.fixture
def ct(db: None) -> Isp:
    return isp_create(code="ct", aliases=["telecom", "chinanet"])


@pytest.fixture
def cu(db: None) -> Isp:
    return isp_create(code="cu")


@pytest.fixture
def idc(guangzhou: Region, ct: Isp) -> Idc:
    """An IDC with one line; the history and the feed of creating it are deleted."""
    created = idc_create(code="gz-ct-01", region=guangzhou, lines=[{"isp": "ct", "purchased_mbps": 1000}])
    Change.objects.all().delete()
    FeedEntry.objects.all().delete()
    return created
