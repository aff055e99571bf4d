"""Tolerations: which taints each of them tolerates, and which are refused as meaningless."""

from typing import Any

import pytest

from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.framework.matching import EFFECTS, Toleration, tolerated


def toleration(**fields: Any) -> Toleration:
    return convert(fields, Toleration)


def test_it_works() -> None:
    assert tolerated([toleration(key="disabled", value="true")], "disabled", "true", "NoSchedule")
    assert not tolerated([], "disabled", "true", "NoSchedule")


@pytest.mark.parametrize(
    ("fields", "taint", "expected"),
    [
        pytest.param({"key": "k", "value": "v"}, ("k", "v"), True, id="Equal is the default operator"),
        pytest.param({"key": "k", "operator": "Equal", "value": "v"}, ("k", "v"), True, id="Equal: key and value"),
        pytest.param({"key": "k", "value": "v"}, ("k", "w"), False, id="Equal: another value"),
        pytest.param({"key": "k", "value": "v"}, ("j", "v"), False, id="Equal: another key"),
        pytest.param({"key": "k"}, ("k", ""), True, id="Equal without a value tolerates a taint without one"),
        pytest.param({"key": "k"}, ("k", "v"), False, id="Equal without a value tolerates no other"),
        pytest.param({"key": "k", "operator": "Exists"}, ("k", "v"), True, id="Exists: every value"),
        pytest.param({"key": "k", "operator": "Exists"}, ("j", "v"), False, id="Exists: another key"),
        pytest.param({"operator": "Exists"}, ("j", "v"), True, id="an empty key with Exists matches every key"),
        pytest.param({"key": "", "operator": "Exists"}, ("j", "v"), True, id="empty means absent"),
    ],
)
def test_key_and_value(fields: dict[str, Any], taint: tuple[str, str], *, expected: bool) -> None:
    assert tolerated([toleration(**fields)], *taint, "NoSchedule") is expected


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_empty_effect_matches_every_effect(effect: str) -> None:
    assert tolerated([toleration(key="k", value="v")], "k", "v", effect)
    assert tolerated([toleration(key="k", value="v", effect="")], "k", "v", effect)


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("of_taint", EFFECTS)
def test_a_named_effect_matches_itself_only(effect: str, of_taint: str) -> None:
    assert tolerated([toleration(operator="Exists", effect=effect)], "k", "v", of_taint) is (effect == of_taint)


def test_one_of_several_is_enough() -> None:
    several = [toleration(key="other"), toleration(key="k", value="v")]
    assert tolerated(several, "k", "v", "NoSchedule")


@pytest.mark.parametrize(
    ("fields", "code", "pointer"),
    [
        pytest.param({"value": "v"}, "exists_required", "/operator", id="an empty key needs Exists"),
        pytest.param({"key": "", "operator": "Equal"}, "exists_required", "/operator", id="Equal needs a key"),
        pytest.param({}, "exists_required", "/operator", id="nothing at all"),
        pytest.param(
            {"key": "k", "operator": "Exists", "value": "v"}, "value_not_allowed", "/value", id="Exists takes no value"
        ),
        pytest.param({"key": "k", "operator": "In"}, "invalid_choice", "/operator", id="no such operator"),
        pytest.param({"key": "k", "effect": "Never"}, "invalid_choice", "/effect", id="no such effect"),
        pytest.param({"key": "k", "seconds": 5}, "unknown_field", "/seconds", id="an unknown field"),
    ],
)
def test_refused(fields: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        toleration(**fields)
    assert refusal.value.code == code
    assert refusal.value.errors[0].pointer == pointer
