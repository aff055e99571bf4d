"""Regions: a region may lie in another one, but never in itself."""

import pytest

from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Invalid
from idcsched.inventory.labels import RegionTree
from idcsched.inventory.models import Region
from idcsched.inventory.services import region_create, region_delete, region_update

pytestmark = pytest.mark.usefixtures("db")


def test_it_works(guangzhou):
    assert guangzhou.parent.code == "south"
    changed = region_update(region=guangzhou, changes={"latitude": 23.1, "longitude": 113.3, "parent": None})
    assert (changed.latitude, changed.longitude, changed.parent) == (23.1, 113.3, None)
    change = Change.objects.filter(kind="region", action="update").get()
    assert change.before == {"latitude": None, "longitude": None, "parent": "south"}
    assert change.after == {"latitude": 23.1, "longitude": 113.3, "parent": None}
    region_delete(region=guangzhou)
    assert list(Region.objects.values_list("code", flat=True)) == ["south"]


def test_a_parent_can_be_named_by_its_code(south):
    assert region_create(code="a", parent="south").parent == south


def test_the_lineage_goes_up(guangzhou):
    region_create(code="tianhe", parent=guangzhou)
    assert RegionTree.read().lineage("tianhe") == ("tianhe", "440100", "south")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("Guangzhou", "gz Guangzhou", id="a name of its own"),
        pytest.param("gz", "gz", id="the code again"),
        pytest.param("", "gz", id="no name"),
    ],
)
def test_what_people_are_shown_of_it(name, shown):
    assert str(region_create(code="gz", name=name)) == shown


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"code": "华南"}, "/code", "invalid_code", id="a code that is not ASCII"),
        pytest.param({"code": "x" * 64}, "/code", "invalid_code", id="too long a code"),
        pytest.param({"code": "a\n"}, "/code", "invalid_code", id="a code with a line break"),
        pytest.param({"parent": "nowhere"}, "/parent", "unknown_region", id="an unknown parent"),
        pytest.param({"latitude": 1}, "/latitude", "coordinates_incomplete", id="half a place"),
        pytest.param({"latitude": 91, "longitude": 0}, "/latitude", "out_of_range", id="north of the pole"),
        pytest.param({"latitude": 0, "longitude": -181}, "/longitude", "out_of_range", id="round the world"),
        pytest.param({"latitude": float("nan"), "longitude": 0}, "/latitude", "not_finite", id="nowhere"),
        pytest.param({"labels": {"idc/code": "x"}}, "/labels", "label_reserved", id="a label that is a fact"),
        pytest.param({"labels": {"a": 1}}, "/labels", "wrong_type", id="a label that is no text"),
        pytest.param({"labels": {"": "x"}}, "/labels", "label_length", id="a label without a key"),
        pytest.param({"labels": {"a": "x" * 257}}, "/labels", "label_length", id="too long a label"),
        pytest.param({"labels": {str(n): "" for n in range(101)}}, "/labels", "too_many", id="too many labels"),
    ],
)
def test_a_region_is_refused(fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        region_create(**({"code": "A"} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)
    assert not Region.objects.exists()


def test_a_region_does_not_lie_in_itself(south, guangzhou):
    tianhe = region_create(code="tianhe", parent=guangzhou)
    for inner in (south, guangzhou, tianhe):
        with pytest.raises(Invalid) as caught:
            region_update(region=south, changes={"parent": inner})
        assert (caught.value.code, caught.value.errors[0].pointer) == ("region_cycle", "/parent")


def test_a_region_with_something_in_it_stays(south, guangzhou, idc):
    for region, name in ((south, "region 440100 广州"), (guangzhou, "IDC gz-ct-01")):
        with pytest.raises(Conflict) as caught:
            region_delete(region=region)
        assert (caught.value.code, caught.value.detail) == ("in_use", f"in use by {name}")


def test_a_code_is_taken_once(south):
    with pytest.raises(Conflict) as caught:
        region_create(code="south")
    assert caught.value.code == "already_exists"
