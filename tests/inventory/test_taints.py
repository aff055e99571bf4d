"""Taints: put on one IDC, or on each IDC that a selector matches at that time."""

from datetime import UTC, datetime, timedelta

import pytest

from idcsched.accounts.roles import Principal, Role
from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Forbidden, Invalid
from idcsched.inventory.models import Taint
from idcsched.inventory.services import idc_create, region_create, taint_create, taint_delete, taint_update

from .recorded import changes, feed

pytestmark = pytest.mark.usefixtures("db")

MONDAY = datetime(2031, 5, 5, tzinfo=UTC)


def test_it_works(idc):
    (taint,) = taint_create(idc=idc, key="disabled", value="true", reason="fire drill")
    assert str(taint) == "disabled=true:NoSchedule"
    taint = taint_update(taint=taint, changes={"effect": "NoExecute", "ends_at": MONDAY})
    taint_delete(taint=taint)
    assert changes() == [
        ("create", "taint", "gz-ct-01/disabled=true:NoSchedule"),
        ("update", "taint", "gz-ct-01/disabled=true:NoSchedule"),
        ("delete", "taint", "gz-ct-01/disabled=true:NoExecute"),
    ]
    assert {topic for topic, _ in feed()} == {"taints"}
    assert Change.objects.get(action="update").after == {"effect": "NoExecute", "ends_at": "2031-05-05T00:00:00Z"}


def test_a_selector_taints_what_it_matches_now(idc):
    idc_create(code="gz-02", region="440100", labels={"rack": "new"})
    created = taint_create(selector={"match_labels": {"idc/region": "south"}}, key="maintenance")
    assert [taint.idc.code for taint in created] == ["gz-02", "gz-ct-01"]
    idc_create(code="gz-03", region="440100")
    assert Taint.objects.count() == 2
    assert Change.objects.filter(kind="taint", action="create").count() == 2
    expected = {("taints", f"{code}/maintenance:NoSchedule") for code in ("gz-02", "gz-ct-01")}
    assert expected <= feed()


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        pytest.param({"match_labels": {"idc/isp": "ct"}}, {"gz-ct-01"}, id="a line's ISP"),
        pytest.param({"match_labels": {"rack": "new"}}, {"gz-02"}, id="a label"),
        pytest.param(
            [{"match_labels": {"rack": "new"}}, {"match_labels": {"idc/isp": "ct"}}],
            {"gz-02", "gz-ct-01"},
            id="either of two terms",
        ),
        pytest.param(
            {"match_expressions": [{"key": "idc/tier", "operator": "In", "values": ["center"]}]}, {"gz-02"}, id="a tier"
        ),
        pytest.param(
            {"match_expressions": [{"key": "idc/partition", "operator": "DoesNotExist"}]},
            {"gz-ct-01"},
            id="no partition",
        ),
        pytest.param(
            {"match_expressions": [{"key": "idc/region", "operator": "NotIn", "values": ["south"]}]},
            set(),
            id="outside of a region that holds them all",
        ),
    ],
)
def test_facts_match_like_labels(idc, selector, codes):
    idc_create(code="gz-02", region="440100", tier="center", partition="p", labels={"rack": "new"})
    if codes:
        assert {taint.idc.code for taint in taint_create(selector=selector, key="k")} == codes
    else:
        with pytest.raises(Invalid) as caught:
            taint_create(selector=selector, key="k")
        assert (caught.value.code, caught.value.errors[0].pointer) == ("selector_matches_nothing", "/selector")


def test_many_cost_few_queries(idc, django_assert_max_num_queries):
    for number in range(30):
        idc_create(code=f"gz-{number:02}", region="440100", lines=[{"isp": "ct", "purchased_mbps": 1}])
    with django_assert_max_num_queries(12):
        taint_create(selector={"match_labels": {"idc/isp": "ct"}}, key="maintenance")
    assert Taint.objects.count() == 31


@pytest.mark.parametrize(
    ("first", "second", "stands"),
    [
        pytest.param({}, {}, False, id="the same twice, from ever on"),
        pytest.param({"starts_at": MONDAY}, {"starts_at": MONDAY}, False, id="the same twice, from Monday on"),
        pytest.param({}, {"ends_at": MONDAY}, False, id="the same with another end"),
        pytest.param({}, {"starts_at": MONDAY}, True, id="next week's beside today's"),
        pytest.param({}, {"value": "x"}, True, id="another value"),
        pytest.param({}, {"effect": "NoExecute"}, True, id="another effect"),
    ],
)
def test_two_on_one_idc(idc, first, second, stands):
    taint_create(idc=idc, key="k", **first)
    if stands:
        taint_create(idc=idc, key="k", **second)
    else:
        with pytest.raises(Conflict) as caught:
            taint_create(idc=idc, key="k", **second)
        assert caught.value.code == "already_exists"


def test_all_or_none(idc):
    other = idc_create(code="gz-02", region="440100")
    taint_create(idc=other, key="k")
    with pytest.raises(Conflict):
        taint_create(selector={"match_labels": {"idc/region": "440100"}}, key="k")
    assert Taint.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"idc": None}, "/idc", "idc_or_selector", id="neither IDC nor selector"),
        pytest.param({"selector": {"match_labels": {"a": "b"}}}, "/idc", "idc_or_selector", id="both"),
        pytest.param({"idc": "nowhere"}, "/idc", "unknown_idc", id="an unknown IDC"),
        pytest.param({"idc": None, "selector": {}}, "/selector", "empty_selector", id="an empty selector"),
        pytest.param({"idc": None, "selector": []}, "/selector", "empty_selector", id="no terms"),
        pytest.param({"idc": None, "selector": {"x": 1}}, "/selector/x", "unknown_field", id="a strange selector"),
        pytest.param({"key": ""}, "/key", "required", id="no key"),
        pytest.param({"key": " k"}, "/key", "invalid_key", id="a blank before the key"),
        pytest.param({"key": "k" * 129}, "/key", "too_long", id="too long a key"),
        pytest.param({"value": "v" * 257}, "/value", "too_long", id="too long a value"),
        pytest.param({"effect": "Maybe"}, "/effect", "invalid_choice", id="an unknown effect"),
        pytest.param({"starts_at": MONDAY, "ends_at": MONDAY}, "/ends_at", "window_order", id="an empty window"),
        pytest.param(
            {"starts_at": MONDAY, "ends_at": MONDAY - timedelta(1)}, "/ends_at", "window_order", id="the end first"
        ),
    ],
)
def test_a_taint_is_refused(idc, fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        taint_create(**({"idc": idc, "key": "k"} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)
    assert not Taint.objects.exists()
    assert changes() == []


def test_a_taint_stays_on_its_idc(idc):
    (taint,) = taint_create(idc=idc, key="k")
    with pytest.raises(Invalid) as caught:
        taint_update(taint=taint, changes={"idc": idc})
    assert caught.value.code == "unknown_field"


def test_only_within_ones_regions(idc):
    idc_create(code="bj-01", region=region_create(code="north"))
    someone = Principal(user_id=1, username="olga", role=Role.OPERATOR, regions=("south",))
    assert taint_create(idc=idc, key="a", principal=someone)
    for target in ({"idc": "bj-01"}, {"selector": {"match_labels": {"idc/tier": "edge"}}}):
        with pytest.raises(Forbidden) as caught:
            taint_create(**target, key="b", principal=someone)
        assert caught.value.code == "region_not_allowed"
    assert Taint.objects.count() == 1
