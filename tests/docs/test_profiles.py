"""docs/profiles.md says what the shipped profiles, the engine and the API really do."""

import json
import re
from typing import Any

import numpy as np
import pytest

from idcsched.framework.decoding import convert
from idcsched.framework.normalize import Scale, normalize
from idcsched.framework.one_by_one import enough
from idcsched.framework.profile import PluginEntry, ProfileBody, compile_profile
from idcsched.framework.registry import load_registry
from idcsched.framework.testing import IdcSpec, decide_for, profile, world
from idcsched.scheduling.shipped import SHIPPED, shipped_document
from tests.docs.pages import agrees, blocks, page, section, tables

PAGE = page("profiles.md")
REGISTRY = load_registry()
LINKED = re.compile(r"\[(.*?)\]\(.*\)")


def weights(code: str) -> dict[str, float]:
    """What a shipped profile's scorers weigh; one that it lists without a weight: 0."""
    listed = shipped_document(code)["plugins"]
    return {each["name"]: each.get("weight", 0) for each in listed if REGISTRY.plugins[each["plugin"]].scores()}


def test_it_works() -> None:
    (table,) = tables(section(PAGE, "The shipped profiles"))
    for code in SHIPPED:
        told = {LINKED.sub(r"\1", row["scorer"]): row[code] for row in table}
        assert {name: float(cell) for name, cell in told.items() if cell != "–"} == weights(code)


@pytest.mark.parametrize("code", SHIPPED)
def test_the_rationale_is_the_one_that_is_shipped(code: str) -> None:
    quoted = [line.removeprefix("> ") for line in section(PAGE, code).splitlines() if line.startswith("> ")]
    assert " ".join(quoted) == shipped_document(code)["message"]


@pytest.mark.parametrize("code", SHIPPED)
def test_all_filter_by_the_plugins_named(code: str) -> None:
    listed = {each["plugin"] for each in shipped_document(code)["plugins"]}
    assert listed >= {"available", "isp", "network_flow", "taint", "resource", "affinity"}
    (table,) = tables(section(PAGE, "Which line"))
    told = {row["line_choice"].split(",")[0]: row["in the shipped profiles"] for row in table}
    assert code in told[shipped_document(code).get("line_choice", "roomiest")]


def test_every_field_is_told() -> None:
    entry, whole = tables(section(PAGE, "What stands in a profile"))
    assert {row["field"] for row in entry} == set(PluginEntry.__struct_fields__)
    assert {row["field"] for row in whole} | {"plugins"} == set(ProfileBody.__struct_fields__)


def documents() -> list[dict[str, Any]]:
    return [json.loads(block) for block in blocks(PAGE, "json")]


@pytest.mark.parametrize("shown", documents(), ids=lambda shown: next(iter(shown)))
def test_every_document_shown_is_a_profile_or_a_part_of_one(shown: dict[str, Any]) -> None:
    body = {"plugins": [shown]} if "plugin" in shown else {"plugins": [], **shown}
    named = {name: value for name, value in body.items() if name not in ("code", "name")}
    assert compile_profile(convert(named, ProfileBody), REGISTRY, code="test", revision=1)


@pytest.mark.parametrize("row", tables(section(PAGE, "What a weight is worth"))[0], ids=lambda row: row["on the range"])
def test_differences_are_worth_what_is_told(row: dict[str, str]) -> None:
    difference, name = re.match(r"([\d.]+) .*\((\w+)\)$", row["one IDC is better by"]).groups()
    low, high = map(float, row["on the range"].split(".."))
    scale = Scale(kind="fixed", low=low, high=high)
    worse, better = normalize(np.array([low, low + float(difference)]), scale).tolist()

    natural = REGISTRY.plugins[name].scale
    assert (natural.low, natural.high) == (low, high) or name == "billing_cost"
    assert float(row["weight"]) == weights("default")[name]
    assert agrees(row["points"], [better - worse])
    assert agrees(row["worth"], [(better - worse) * float(row["weight"])])


@pytest.mark.parametrize("row", tables(section(PAGE, "Weights that move by themselves"))[0], ids=str)
def test_moving_weights_move_as_told(row: dict[str, str]) -> None:
    (shown,) = blocks(section(PAGE, "Weights that move by themselves"), "json")
    entry = json.loads(shown)
    load = row["mean CPU load"]
    apart = {} if load.startswith("nobody") else {"cpu_load": float(load)}
    idcs: dict[str, IdcSpec] = {"a": {"metrics": {**apart, "disk_load": 0.1}}, "b": {"metrics": {"disk_load": 0.2}}}
    policy = profile((entry.pop("name"), entry.pop("plugin"), {**entry, "on_missing": {"score": "last"}}))
    score = decide_for(world(idcs), policy, only=["a"]).scores("resource")["a"]

    assert (score.weight, score.nominal_weight) == (float(row["weight in force"]), 20)


@pytest.mark.parametrize("row", tables(section(PAGE, "Many candidates"))[0], ids=lambda row: row["enough, by default"])
def test_enough_is_as_many_as_told(row: dict[str, str]) -> None:
    candidates, by_default, five = map(int, row.values())
    assert (enough(candidates, None), enough(candidates, 5)) == (by_default, five)
