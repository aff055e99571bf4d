from datetime import UTC, datetime

import pytest

from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from metrics_ingest.models import Metric


@pytest.fixture
def idc(db: None) -> Idc:
    """One IDC with the lines ct and cu."""
    region_create(code="A")
    lines = [{"isp": isp_create(code=code), "purchased_mbps": 1000} for code in ("ct", "cu")]
    return idc_create(code="gz-01", region="A", lines=lines)


@pytest.fixture
def line(idc: Idc) -> Line:
    return idc.lines.get(code="ct")


@pytest.fixture
def bandwidth(db: None) -> Metric:
    return Metric.objects.get(code="bandwidth_mbps")


@pytest.fixture
def cpu(db: None) -> Metric:
    return Metric.objects.get(code="cpu_load")


@pytest.fixture
def now() -> datetime:
    """A Wednesday."""
    return datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
