from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from metrics_ingest.models import Metric, Source
from metrics_ingest.services import source_create
from tests.keeping import Kept
from tests.outbound.peers import loopback_allowed

ROOM: Kept[None] = Kept()


@pytest.fixture
def idc(db: None) -> Idc:
    """One IDC with the lines ct and cu."""
    ROOM.write(_room)
    return Idc.objects.get(code="gz-01")


def _room() -> None:
    region_create(code="A")
    lines = [{"isp": isp_create(code=code), "purchased_mbps": 1000} for code in ("ct", "cu")]
    idc_create(code="gz-01", region="A", lines=lines)


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


@pytest.fixture
def loopback(settings: Any) -> Iterator[None]:
    """Sources on this machine may be asked."""
    with loopback_allowed(settings):
        yield


@pytest.fixture
def make_source(idc: Idc, loopback: None) -> Callable[..., Source]:
    """A function that creates a source of CPU loads by IDC, as JSON; other fields may be given."""

    def make(url: str = "http://127.0.0.1:9/", **fields: Any) -> Source:
        given = {
            "code": "loads",
            "kind": "http_json",
            "schedule": "60",
            "config": {"url": url, "timeout_seconds": 60},
            "mapping": {"idc": "site", "values": {"cpu_load": "cpu"}},
        }
        return source_create(**given | fields)

    return make
