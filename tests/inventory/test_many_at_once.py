"""The services that write many: each row by the rules of the service that writes one."""

import pytest

from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.inventory import services
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint

from .recorded import changes

pytestmark = pytest.mark.usefixtures("db")


def refused(service: object, **given: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as caught:
        service(**given)
    return [(item.pointer, item.code) for item in caught.value.errors]


def test_it_works(guangzhou, ct, cu):
    documents = [
        {"code": "a", "region": "440100", "lines": [{"isp": "telecom", "purchased_mbps": 10}]},
        {"code": "b", "region": guangzhou, "labels": {"k": "v"}, "lines": [{"isp": "cu", "purchased_mbps": 5}]},
    ]
    a, b = services.idcs_create(documents=documents)
    assert set(Line.objects.values_list("idc__code", "code")) == {("a", "ct"), ("b", "cu")}
    services.idcs_update(updates=[(a, {"name": "A"}), (b, {"region": "south", "lines": []})])
    assert set(Idc.objects.values_list("code", "name", "region__code")) == {("a", "A", "440100"), ("b", "", "south")}
    assert changes()[-5:] == [
        ("create", "line", "a/ct"),
        ("create", "line", "b/cu"),
        ("update", "idc", "a"),
        ("update", "idc", "b"),
        ("delete", "line", "b/cu"),
    ]


def test_ten_thousand_rows_would_take_as_few_statements(guangzhou, ct, django_assert_max_num_queries):
    lines = [{"isp": "ct", "purchased_mbps": 1}, {"isp": "ct", "code": "ct-2", "purchased_mbps": 1}]
    documents = [{"code": f"i-{index}", "region": "440100", "lines": lines} for index in range(300)]
    with django_assert_max_num_queries(60):
        services.idcs_create(documents=documents)
    assert Change.objects.filter(kind="line").count() == 600


def test_many_are_recorded_as_one_is(guangzhou, ct):
    document = {"code": "a", "region": "440100", "lines": [{"isp": "ct", "purchased_mbps": 10}]}
    services.idcs_create(documents=[document])
    services.idc_create(**document | {"code": "b"})
    for kind in ("idc", "line"):
        many, one = Change.objects.filter(kind=kind).order_by("id").values_list("after", flat=True)
        assert {**many, "code": "", "idc": ""} == {**one, "code": "", "idc": ""}


def test_everything_wrong_with_idcs_and_their_lines_is_said_at_once(guangzhou, ct):
    documents = [
        {"code": "a", "region": "nowhere"},
        {"code": "b", "region": "440100", "lines": [{"isp": "ct", "purchased_mbps": -1}]},
        {"code": "c", "region": "440100", "lines": [{"isp": "ct", "purchased_mbps": 1}, {"isp": "xx"}]},
        {"code": "d"},
        {"code": "e", "region": "440100", "colour": "red"},
        {"code": "f", "region": "440100"},
    ]
    assert refused(services.idcs_create, documents=documents) == [
        ("/0/region", "unknown_region"),
        ("/1/lines/0/purchased_mbps", "out_of_range"),
        ("/2/lines/1/isp", "unknown_isp"),
        ("/4/colour", "unknown_field"),
    ]
    assert not Idc.objects.exists()


def test_the_region_is_required(ct):
    assert refused(services.idcs_create, documents=[{"code": "a"}]) == [("/0/region", "required")]


def test_regions_may_come_before_their_parents(south):
    documents = [{"code": "c", "parent": "b"}, {"code": "b", "parent": "a"}, {"code": "a", "parent": "south"}]
    services.regions_create(documents=documents)
    parents = dict(Region.objects.exclude(parent=None).values_list("code", "parent__code"))
    assert parents == {"c": "b", "b": "a", "a": "south"}


def test_regions_in_a_circle_are_refused():
    documents = [{"code": "fine"}, {"code": "a", "parent": "b"}, {"code": "b", "parent": "a"}]
    expected = [("/1/parent", "region_cycle"), ("/2/parent", "region_cycle")]
    assert refused(services.regions_create, documents=documents) == expected
    services.regions_create(documents=[{"code": "a"}, {"code": "b"}, {"code": "c", "parent": "a"}])
    a, b, c = Region.objects.order_by("code")
    assert refused(services.regions_update, updates=[(a, {"parent": "b"}), (b, {"parent": "c"})]) == [
        ("/0/parent", "region_cycle"),
        ("/1/parent", "region_cycle"),
    ]
    services.regions_update(updates=[(c, {"parent": None}), (a, {"parent": "c"})])
    assert Region.objects.get(code="a").parent == c


def test_an_unknown_parent_is_named():
    assert refused(services.regions_create, documents=[{"code": "a", "parent": "x"}]) == [
        ("/0/parent", "unknown_region")
    ]


def test_isps_may_not_share_names_and_may_swap_them(ct, cu):
    documents = [{"code": "x", "aliases": ["y"]}, {"code": "z", "aliases": ["y", "telecom"]}]
    assert refused(services.isps_create, documents=documents) == [
        ("/0/aliases/0", "name_taken"),
        ("/1/aliases/0", "name_taken"),
        ("/1/aliases/1", "name_taken"),
    ]
    assert Isp.objects.count() == 2
    services.isps_update(updates=[(ct, {"aliases": []}), (cu, {"aliases": ["telecom"]})])
    assert Isp.objects.get(code="cu").aliases == ["telecom"]


def test_lines_taints_and_affinities(idc, cu):
    (line,) = services.lines_create(documents=[{"idc": "gz-ct-01", "isp": "cu", "purchased_mbps": 1}])
    services.lines_update(updates=[(line, {"purchased_mbps": 2, "isp": "telecom"})])
    assert (Line.objects.get(code="cu").isp.code, Line.objects.get(code="cu").purchased_mbps) == ("ct", 2)
    (taint,) = services.taints_create(documents=[{"idc": "gz-ct-01", "key": "k"}])
    services.taints_update(updates=[(taint, {"reason": "why"})])
    assert (Taint.objects.get().effect, Taint.objects.get().reason) == ("NoSchedule", "why")
    (affinity,) = services.affinities_create(documents=[{"idc": "gz-ct-01", "kind": "prefer", "weight": 1}])
    services.affinities_update(updates=[(affinity, {"weight": 2})])
    assert Affinity.objects.get().weight == 2


@pytest.mark.parametrize(
    ("service", "document", "expected"),
    [
        (services.lines_create, {"idc": "x", "isp": "ct", "purchased_mbps": 1}, ("/0/idc", "unknown_idc")),
        (services.lines_create, {"isp": "ct", "purchased_mbps": 1}, ("/0/idc", "required")),
        (services.lines_create, {"idc": "gz-ct-01"}, ("/0/isp", "required")),
        (services.lines_create, {"idc": "gz-ct-01", "isp": "ct", "mbps": 1}, ("/0/mbps", "unknown_field")),
        (services.taints_create, {"idc": "x", "key": "k"}, ("/0/idc", "unknown_idc")),
        (services.taints_create, {"idc": "gz-ct-01"}, ("/0/key", "required")),
        (services.taints_create, {"idc": "gz-ct-01", "key": "k", "by": 1}, ("/0/by", "unknown_field")),
        (services.affinities_create, {"idc": "x", "kind": "forbid"}, ("/0/idc", "unknown_idc")),
        (services.affinities_create, {"kind": "forbid"}, ("/0/idc", "idc_or_selector")),
        (services.affinities_create, {"idc": "gz-ct-01", "kind": "prefer"}, ("/0/weight", "weight_by_kind")),
    ],
)
def test_a_document_is_refused(idc, service, document, expected):
    assert refused(service, documents=[document]) == [expected]


def test_a_taken_code_names_its_place(idc):
    with pytest.raises(Conflict) as caught:
        services.idcs_create(documents=[{"code": "x", "region": "south"}, {"code": "gz-ct-01", "region": "south"}])
    assert caught.value.pointer == "/1"
    assert Idc.objects.count() == 1


def test_an_update_that_fails_anywhere_changes_nothing(idc):
    (other,) = services.idcs_create(documents=[{"code": "x", "region": "south"}])
    with pytest.raises(IdcschedError):
        services.idcs_update(updates=[(idc, {"name": "new"}), (other, {"status": "asleep"})])
    assert not Idc.objects.filter(name="new").exists()
