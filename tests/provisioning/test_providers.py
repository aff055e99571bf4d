"""Providers: their configuration is checked when they are saved, and while something needs them they stay."""

from typing import Any

import pytest

from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Invalid
from idcsched.inventory.services import idc_create, region_create
from idcsched.placement.models import Provider
from idcsched.provisioning.services import provider_create, provider_delete, provider_update

pytestmark = pytest.mark.usefixtures("db")


def make(**given: Any) -> Provider:
    return provider_create(**{"code": "edge", "kind": "simulated", **given})


def test_it_works() -> None:
    provider = make(config={"up_after_seconds": 3})
    changed = provider_update(provider=provider, changes={"enabled": False, "name": "Edge"})
    assert (changed.code, changed.enabled, changed.name, changed.config) == (
        "edge", False, "Edge", {"up_after_seconds": 3},
    )  # fmt: skip
    provider_delete(provider=changed)
    assert list(Change.objects.filter(kind="provider").order_by("id").values_list("action", flat=True)) == [
        "create", "update", "delete",
    ]  # fmt: skip


WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a kind that nobody has": ({"kind": "wishful"}, [("/kind", "unknown_kind")]),
    "an unknown setting": ({"config": {"speed": 1}}, [("/config/speed", "unknown_field")]),
    "a share beyond all": ({"config": {"broken": 1.5}}, [("/config/broken", "out_of_range")]),
    "no tries at all": ({"config": {"tries": 0}}, [("/config/tries", "out_of_range")]),
    "no object": ({"config": []}, [("/config", "wrong_type")]),
    "a secret itself": ({"secret_ref": "hunter2"}, [("/secret_ref", "invalid_secret_ref")]),
    "everything at once": (
        {"kind": "wishful", "secret_ref": "x"},
        [("/kind", "unknown_kind"), ("/secret_ref", "invalid_secret_ref")],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_not_saved(case: str) -> None:
    given, errors = WRONG[case]
    with pytest.raises(Invalid) as refusal:
        make(**given)
    assert [(error.pointer, error.code) for error in refusal.value.errors] == errors
    assert not Provider.objects.exists()


def test_nor_by_a_change() -> None:
    provider = make()
    with pytest.raises(Invalid):
        provider_update(provider=provider, changes={"config": {"speed": 1}})
    provider.refresh_from_db()
    assert provider.config == {}


def test_a_code_is_given_once() -> None:
    make()
    with pytest.raises(Conflict) as refusal:
        make()
    assert refusal.value.code == "already_exists"


def test_one_that_an_idc_names_is_kept() -> None:
    region_create(code="A")
    idc_create(code="a", region="A", provider="edge")
    with pytest.raises(Conflict) as refusal:
        provider_delete(provider=make())
    assert (refusal.value.code, refusal.value.params) == ("in_use", {"examples": "IDC a"})
