"""ISPs: a code or another name always means one ISP."""

import pytest

from idcsched.framework.errors import Conflict, Invalid
from idcsched.inventory.models import Isp
from idcsched.inventory.services import isp_create, isp_delete, isp_update

from .recorded import changes, feed

pytestmark = pytest.mark.usefixtures("db")


def test_it_works():
    isp = isp_create(code="ct", aliases=["telecom"])
    isp = isp_update(isp=isp, changes={"aliases": ["chinanet"]})
    isp_delete(isp=isp)
    assert changes()[-3:] == [("create", "isp", "ct"), ("update", "isp", "ct"), ("delete", "isp", "ct")]
    assert ("inventory", "ct") in feed()


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"aliases": ["cu"]}, "/aliases/0", "name_taken", id="an alias that is another's code"),
        pytest.param({"aliases": ["x", "unicom"]}, "/aliases/1", "name_taken", id="an alias that is another's alias"),
        pytest.param({"code": "unicom"}, "/code", "name_taken", id="a code that is another's alias"),
        pytest.param({"aliases": ["ct"]}, "/aliases/0", "name_taken", id="an alias that is its own code"),
        pytest.param({"aliases": ["x", "x"]}, "/aliases", "alias_twice", id="an alias twice"),
        pytest.param({"aliases": [""]}, "/aliases", "wrong_type", id="an empty alias"),
        pytest.param({"aliases": ["x" * 64]}, "/aliases", "wrong_type", id="too long an alias"),
        pytest.param({"aliases": [str(n) for n in range(101)]}, "/aliases", "too_many", id="too many aliases"),
        pytest.param({"code": "c t"}, "/code", "invalid_code", id="a blank in the code"),
    ],
)
def test_an_isp_is_refused(fields, pointer, code):
    isp_create(code="cu", aliases=["unicom"])
    with pytest.raises(Invalid) as created:
        isp_create(**({"code": "ct"} | fields))
    other = isp_create(code="ct")
    with pytest.raises(Invalid) as updated:
        isp_update(isp=other, changes=fields)
    for caught in (created, updated):
        assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)
    assert Isp.objects.get(pk=other.pk).aliases == []


def test_an_isp_may_keep_its_own_names(ct):
    assert isp_update(isp=ct, changes={"aliases": ct.aliases, "name": "电信"}).name == "电信"


def test_one_with_lines_stays(ct, idc):
    with pytest.raises(Conflict) as caught:
        isp_delete(isp=ct)
    assert caught.value.detail == "in use by line gz-ct-01/ct"
