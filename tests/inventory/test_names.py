"""Finding rows by the names that clients know."""

import pytest

from idcsched.framework.errors import Invalid
from idcsched.inventory.labels import RegionTree, idc_labels
from idcsched.inventory.selectors import idc_named, line_named, region_named

pytestmark = pytest.mark.usefixtures("db")


def test_it_works(guangzhou, idc):
    assert region_named("440100") == guangzhou
    assert idc_named("gz-ct-01") == idc
    assert line_named(idc, "ct") == idc.lines.get()


def test_unknown_names_are_pointed_at(idc):
    cases = {
        "unknown_region": lambda: region_named("x", "/at"),
        "unknown_idc": lambda: idc_named("x", "/at"),
        "unknown_line": lambda: line_named(idc, "x", "/at"),
    }
    for code, find in cases.items():
        with pytest.raises(Invalid) as caught:
            find()
        assert (caught.value.code, caught.value.errors[0].pointer) == (code, "/at")


def test_an_idc_as_selectors_see_it(idc):
    idc.labels = {"rack": "new"}
    assert idc_labels(idc, RegionTree.read()) == {
        "rack": "new",
        "idc/code": "gz-ct-01",
        "idc/region": frozenset({"440100", "south"}),
        "idc/isp": frozenset({"ct", "telecom", "chinanet"}),
        "idc/tier": "edge",
    }


def test_empty_facts_are_missing(guangzhou, idc):
    idc.lines.all().delete()
    assert "idc/isp" not in idc_labels(idc, RegionTree.read())
