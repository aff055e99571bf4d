"""IDCs with their lines."""

import pytest

from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.inventory.models import Affinity, Idc, Line, Taint
from idcsched.inventory.services import (
    affinity_create,
    idc_create,
    idc_delete,
    idc_update,
    line_create,
    line_delete,
    line_update,
    taint_create,
)
from idcsched.ledger.models import Holding

from .recorded import changes, feed

pytestmark = pytest.mark.usefixtures("db")


def lines(idc: Idc) -> dict[str, float]:
    return dict(idc.lines.values_list("code", "purchased_mbps"))


def test_it_works(guangzhou, ct, cu):
    idc = idc_create(
        code="gz-01",
        region="440100",
        tier="center",
        labels={"rack": "new"},
        latitude=23.1,
        longitude=113.3,
        stock_cpu=512,
        lines=[
            {"isp": "telecom", "purchased_mbps": 1000, "commit_mbps": 300, "price_per_mbps": 50},
            {"isp": cu, "code": "cu-2", "purchased_mbps": 500, "charge_type": "daily_peak", "max_level": 0.8},
        ],
    )
    assert lines(idc) == {"ct": 1000, "cu-2": 500}
    idc = idc_update(idc=idc, changes={"status": "draining"})
    assert changes()[-4:] == [
        ("create", "idc", "gz-01"),
        ("create", "line", "gz-01/ct"),
        ("create", "line", "gz-01/cu-2"),
        ("update", "idc", "gz-01"),
    ]
    assert {("inventory", "gz-01"), ("inventory", "gz-01/ct"), ("inventory", "gz-01/cu-2")} <= feed()
    assert Change.objects.latest("id").after == {"status": "draining"}


def test_lines_given_to_an_update_become_the_lines(idc, cu):
    line = idc.lines.get()
    line_update(line=line, changes={"commit_mbps": 100})
    line_create(idc=idc, isp=cu, purchased_mbps=1)
    idc_update(
        idc=idc,
        changes={"lines": [{"isp": "ct", "purchased_mbps": 2000}, {"isp": "cu", "code": "b", "purchased_mbps": 3}]},
    )
    assert lines(idc) == {"ct": 2000, "b": 3}
    kept = idc.lines.get(code="ct")
    assert kept.pk == line.pk, "it is the same line"
    assert kept.commit_mbps is None, "what is not said is as for a new one"


def test_no_lines_given_leaves_them_alone(idc):
    idc_update(idc=idc, changes={"name": "x"})
    assert lines(idc) == {"ct": 1000}
    idc_update(idc=idc, changes={"lines": []})
    assert lines(idc) == {}


def test_the_same_lines_again_are_no_change(idc):
    idc_update(idc=idc, changes={"lines": [{"isp": "ct", "purchased_mbps": 1000}]})
    assert changes() == []
    assert feed() == set()


def test_with_an_idc_goes_what_is_about_it(idc):
    taint_create(idc=idc, key="dedicated")
    affinity_create(idc=idc, kind="prefer", weight=1)
    affinity = Affinity.objects.get()
    Change.objects.all().delete()
    idc_delete(idc=idc)
    assert not any(model.objects.exists() for model in (Idc, Line, Taint, Affinity))
    assert set(changes()) == {
        ("delete", "line", "gz-ct-01/ct"),
        ("delete", "taint", "gz-ct-01/dedicated:NoSchedule"),
        ("delete", "affinity", str(affinity.pk)),
        ("delete", "idc", "gz-ct-01"),
    }


def test_one_of_which_something_was_taken_stays(idc):
    Holding.objects.create(idc=idc, resource="cpu")
    with pytest.raises(Conflict) as caught:
        idc_delete(idc=idc)
    assert caught.value.code == "in_use"
    assert lines(idc) == {"ct": 1000}, "and so do its lines"


def test_a_line_of_which_something_was_taken_stays(idc):
    line = idc.lines.get()
    Holding.objects.create(idc=idc, line=line, resource="bandwidth_mbps")
    for act in (lambda: line_delete(line=line), lambda: idc_update(idc=idc, changes={"lines": []})):
        with pytest.raises(Conflict) as caught:
            act()
        assert caught.value.code == "in_use"


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"code": ""}, "/code", "required", id="no code"),
        pytest.param({"region": "nowhere"}, "/region", "unknown_region", id="an unknown region"),
        pytest.param({"tier": "core"}, "/tier", "invalid_choice", id="an unknown tier"),
        pytest.param({"status": "asleep"}, "/status", "invalid_choice", id="an unknown status"),
        pytest.param({"provider": "no provider"}, "/provider", "invalid_code", id="no provider's code"),
        pytest.param({"partition": "x" * 64}, "/partition", "too_long", id="too long a partition"),
        pytest.param({"labels": {"idc/isp": "ct"}}, "/labels", "label_reserved", id="a label that is a fact"),
        pytest.param({"longitude": 1}, "/latitude", "coordinates_incomplete", id="half a place"),
        pytest.param({"stock_gpu": -1}, "/stock_gpu", "out_of_range", id="less than nothing"),
        pytest.param({"stock_cpu": float("inf")}, "/stock_cpu", "not_finite", id="endless stock"),
    ],
)
def test_an_idc_is_refused(idc, fields, pointer, code):
    with pytest.raises(Invalid) as created:
        idc_create(**({"code": "b", "region": "440100"} | fields))
    with pytest.raises(Invalid) as updated:
        idc_update(idc=idc, changes=fields)
    for caught in (created, updated):
        assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)
    assert Idc.objects.count() == 1
    assert changes() == []


@pytest.mark.parametrize(
    ("document", "pointer", "code"),
    [
        pytest.param({"purchased_mbps": 1}, "/isp", "required", id="no ISP"),
        pytest.param({"isp": "nobody", "purchased_mbps": 1}, "/isp", "unknown_isp", id="an unknown ISP"),
        pytest.param({"isp": "cu"}, "/purchased_mbps", "required", id="no bandwidth"),
        pytest.param({"isp": "cu", "purchased_mbps": -1}, "/purchased_mbps", "out_of_range", id="below zero"),
        pytest.param({"isp": "cu", "purchased_mbps": float("nan")}, "/purchased_mbps", "not_finite", id="no number"),
        pytest.param(
            {"isp": "cu", "purchased_mbps": 1, "colour": 1}, "/colour", "unknown_field", id="an unknown field"
        ),
        pytest.param({"isp": "cu", "purchased_mbps": 1, "code": "a b"}, "/code", "invalid_code", id="a bad code"),
        pytest.param(
            {"isp": "cu", "purchased_mbps": 1, "max_level": 1.1}, "/max_level", "out_of_range", id="over full"
        ),
        pytest.param(
            {"isp": "cu", "purchased_mbps": 1, "max_level": 0}, "/max_level", "out_of_range", id="never usable"
        ),
        pytest.param(
            {"isp": "cu", "purchased_mbps": 1, "charge_type": "x"}, "/charge_type", "invalid_choice", id="bill"
        ),
        pytest.param(
            {"isp": "cu", "purchased_mbps": 1, "price_per_gb": -1}, "/price_per_gb", "out_of_range", id="price"
        ),
        pytest.param({"isp": "ct", "purchased_mbps": 1}, "/code", "line_twice", id="a line twice"),
    ],
)
def test_a_nested_line_is_refused_by_its_place(idc, cu, document, pointer, code):
    both = [{"isp": "ct", "purchased_mbps": 7}, document]
    with pytest.raises(Invalid) as created:
        idc_create(code="b", region="440100", lines=both)
    with pytest.raises(Invalid) as updated:
        idc_update(idc=idc, changes={"lines": both})
    for caught in (created, updated):
        assert (caught.value.errors[0].pointer, caught.value.code) == (f"/lines/1{pointer}", code)
    assert lines(idc) == {"ct": 1000}
    assert Idc.objects.count() == 1


def test_a_line_is_called_like_its_isp_unless_named(idc, cu):
    assert line_create(idc=idc, isp="cu", purchased_mbps=1).code == "cu"
    assert line_create(idc=idc, isp=cu, purchased_mbps=1, code="cu-2").code == "cu-2"


def test_a_line_can_change_its_isp(idc, cu):
    line = line_update(line=idc.lines.get(), changes={"isp": "cu", "code": "cu"})
    assert (line.isp, str(line)) == (cu, "gz-ct-01/cu")
    assert changes()[-1] == ("update", "line", "gz-ct-01/ct")
    assert {("inventory", "gz-ct-01/ct"), ("inventory", "gz-ct-01/cu")} <= feed()


def test_a_code_is_taken_once(idc):
    with pytest.raises(Conflict):
        idc_create(code="gz-ct-01", region="440100")
    with pytest.raises(Conflict) as caught:
        line_create(idc=idc, isp="ct", purchased_mbps=1)
    assert (caught.value.code, caught.value.detail) == ("already_exists", "The IDC has a line of this code already.")


def test_one_that_is_gone_is_not_found(idc):
    line = idc.lines.get()
    Line.objects.all().delete()
    with pytest.raises(NotFound):
        line_update(line=line, changes={"purchased_mbps": 1})
    Idc.objects.all().delete()
    with pytest.raises(NotFound):
        idc_update(idc=idc, changes={})
