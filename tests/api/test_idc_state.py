"""`GET idcs/{code}/state/`: what is known of an IDC now."""

from collections.abc import Callable

import pytest

from tests.api.conftest import Api

KEYS = {"idc", "status", "at", "lines", "stock", "machines", "values", "taints", "affinities"}


def test_it_works(seed: Api) -> None:
    """The seed example's c: a taint in force, and the values of X and Y with their ages."""
    state = seed.get("/idcs/c/state/")
    assert set(state) == KEYS
    assert (state["idc"], state["status"], state["machines"]) == ("c", "online", 0)
    values = {value["metric"]: value for value in state["values"]}
    assert {metric: values[metric]["value"] for metric in ("x", "y")} == {"x": 3.0, "y": 3.0}
    assert all(0 <= value["age_seconds"] < 60 and not value["stale"] for value in values.values())
    (taint,) = state["taints"]
    assert (taint["key"], taint["value"], taint["effect"], taint["state"]) == (
        "disabled",
        "true",
        "NoSchedule",
        "in_force",
    )
    assert seed.get("/idcs/d/state/")["affinities"][0]["weight"] == 1


@pytest.mark.parametrize("role", ["viewer", "portal", "operator"])
def test_everybody_may_look(seed: Api, api: Callable[..., Api], role: str) -> None:
    assert set(api(role).get("/idcs/c/state/")) == KEYS


def test_without_a_token_it_is_refused(seed: Api, anonymous: Api) -> None:
    assert anonymous.refused("GET", "/idcs/c/state/", status=401)[0] == "token_missing"


def test_an_idc_that_is_not_there_has_no_state(seed: Api) -> None:
    assert seed.call("GET", "/idcs/nowhere/state/", status=404)["code"] == "not_found"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_it_can_only_be_read(seed: Api, method: str) -> None:
    seed.call(method, "/idcs/c/state/", {}, status=405)
