"""The rows of the inventory that orders need are looked up once, and again when the inventory has changed."""

from collections.abc import Callable
from typing import Any

import pytest

from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, isp_create, line_create, region_create
from idcsched.scheduling.keys import KnownRows
from idcsched.scheduling.live import Live

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def idc() -> Idc:
    region_create(code="A")
    isp_create(code="ct")
    isp_create(code="cu")
    return idc_create(code="a", region="A", lines=[{"isp": "ct", "purchased_mbps": 100}])


def test_it_works(idc: Idc, django_assert_num_queries: Callable[[int], Any]) -> None:
    rows = KnownRows()
    line = idc.lines.get()
    with django_assert_num_queries(1):
        assert [rows.lines(idc.pk), rows.lines(idc.pk)] == [{"ct": line.pk}] * 2


def test_an_idc_of_which_more_is_wanted_is_read(idc: Idc, django_assert_num_queries: Callable[[int], Any]) -> None:
    known = KnownRows().idc(idc.pk, "a")
    with django_assert_num_queries(0):
        assert (known.pk, known.code) == (idc.pk, "a")
    with django_assert_num_queries(1):
        assert known.status == "online"


def test_a_line_that_is_added_is_known(idc: Idc) -> None:
    live = Live()
    assert live.current().rows.lines(idc.pk).keys() == {"ct"}
    line_create(idc=idc, isp="cu", purchased_mbps=100)
    assert live.current().rows.lines(idc.pk).keys() == {"ct", "cu"}
