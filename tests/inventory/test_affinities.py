"""Affinities: an affinity is about one IDC, or about all that its selector matches at the time of a decision."""

from datetime import UTC, datetime

import pytest

from idcsched.framework.errors import Invalid
from idcsched.inventory.models import Affinity
from idcsched.inventory.services import affinity_create, affinity_delete, affinity_update

from .recorded import changes, feed

pytestmark = pytest.mark.usefixtures("db")

ANY = {"match_labels": {"idc/tier": "edge"}}
MONDAY = datetime(2031, 5, 5, tzinfo=UTC)


def test_it_works(idc):
    affinity = affinity_create(idc="gz-ct-01", kind="prefer", weight=-5, request_selector={"match_labels": {"a": "b"}})
    assert str(affinity) == "prefer gz-ct-01 -5"
    affinity = affinity_update(affinity=affinity, changes={"weight": 7, "starts_at": MONDAY})
    affinity_delete(affinity=affinity)
    key = str(affinity.pk)
    assert changes() == [("create", "affinity", key), ("update", "affinity", key), ("delete", "affinity", key)]
    assert feed() == {("affinities", key)}


def test_a_selector_is_kept(db):
    affinity = affinity_create(selector=ANY, kind="forbid")
    assert Affinity.objects.get(pk=affinity.pk).selector == ANY
    assert str(affinity) == "forbid …"


def test_naming_the_one_drops_the_other(idc):
    affinity = affinity_create(idc=idc, kind="require")
    affinity = affinity_update(affinity=affinity, changes={"selector": ANY})
    assert (affinity.idc, affinity.selector) == (None, ANY)
    affinity = affinity_update(affinity=affinity, changes={"idc": "gz-ct-01"})
    assert (affinity.idc, affinity.selector) == (idc, None)


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"idc": None}, "/idc", "idc_or_selector", id="neither IDC nor selector"),
        pytest.param({"selector": ANY}, "/idc", "idc_or_selector", id="both"),
        pytest.param({"idc": "nowhere"}, "/idc", "unknown_idc", id="an unknown IDC"),
        pytest.param({"idc": None, "selector": {}}, "/selector", "empty_selector", id="an empty selector"),
        pytest.param({"request_selector": []}, "/request_selector", "empty_selector", id="an empty request selector"),
        pytest.param({"kind": "love", "weight": None}, "/kind", "invalid_choice", id="an unknown kind"),
        pytest.param({"weight": None}, "/weight", "weight_by_kind", id="a preference without a weight"),
        pytest.param({"kind": "forbid"}, "/weight", "weight_by_kind", id="a prohibition with a weight"),
        pytest.param({"kind": "require"}, "/weight", "weight_by_kind", id="a requirement with a weight"),
        pytest.param({"weight": 0}, "/weight", "out_of_range", id="a weight of nothing"),
        pytest.param({"weight": 101}, "/weight", "out_of_range", id="too heavy"),
        pytest.param({"weight": -101}, "/weight", "out_of_range", id="too light"),
        pytest.param({"starts_at": MONDAY, "ends_at": MONDAY}, "/ends_at", "window_order", id="an empty window"),
    ],
)
def test_an_affinity_is_refused(idc, fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        affinity_create(**({"idc": idc, "kind": "prefer", "weight": 5} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)
    assert changes() == []
