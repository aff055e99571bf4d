"""A request that would mean nothing is refused at once, with the field and the values that it may have."""

from typing import Any

import pytest
from django.utils import timezone

from idcsched.inventory.models import Affinity
from tests.api.conftest import Api

ASKED = {"region": "A", "profile": "seed-example"}
SEVERAL = {"match_expressions": [{"key": "idc/nope", "operator": "Exists"}]}
NOBODYS = {"match_expressions": [{"key": "idc/region", "operator": "NotIn", "values": ["B", "nope"]}]}


@pytest.mark.parametrize(
    ("extra", "code", "pointer"),
    [
        pytest.param({"isp_match": "all"}, "isp_required", "/isp_match", id="all of no ISP"),
        pytest.param({"partition": ""}, "required", "/partition", id="a partition without a name"),
        pytest.param({"selector": SEVERAL}, "unknown_fact", "/selector/match_expressions/0/key", id="no such fact"),
        pytest.param(
            {"selector": [{"match_labels": {"a": "b"}}, {"match_labels": {"idc/x": "y"}}]},
            "unknown_fact",
            "/selector/1/match_labels",
            id="… among several terms",
        ),
        pytest.param(
            {"prefer": [{"weight": 1, **SEVERAL}]}, "unknown_fact", "/prefer/0/match_expressions/0/key", id="preferred"
        ),
        pytest.param({"fallback": [SEVERAL]}, "unknown_fact", "/fallback/0/match_expressions/0/key", id="a group"),
        pytest.param(
            {"selector": {"match_labels": {"idc/isp": "nope"}}},
            "unknown_isp",
            "/selector/match_labels/idc~1isp",
            id="no such ISP",
        ),
        pytest.param(
            {"prefer": [{"weight": -1, **NOBODYS}]},
            "unknown_region",
            "/prefer/0/match_expressions/0/values/1",
            id="no such region to be avoided",
        ),
        pytest.param(
            {"fallback": [{"match_labels": {"idc/code": "nope"}}]},
            "unknown_idc",
            "/fallback/0/match_labels/idc~1code",
            id="a group of no such IDC",
        ),
        pytest.param(
            {"selector": [{"match_labels": {"idc/tier": "nope"}}]},
            "invalid_choice",
            "/selector/0/match_labels/idc~1tier",
            id="no such tier",
        ),
        pytest.param(
            {"hypothetical": {"ignore_taints": [{"idc": "c", "key": "nope"}]}},
            "unknown_taint",
            "/hypothetical/ignore_taints/0/key",
            id="a taint that is not there",
        ),
    ],
)
def test_it_is_refused(seed: Api, portal: Api, extra: dict[str, Any], code: str, pointer: str) -> None:
    problem = portal.post("/schedule/", {**ASKED, **extra}, status=400)
    assert [(error["code"], error["pointer"]) for error in problem["errors"]] == [(code, pointer)]


def test_a_taint_supposed_under_a_profile_that_looks_at_none(seed: Api, portal: Api) -> None:
    blind = {"code": "blind", "plugins": [{"name": "available", "plugin": "available"}]}
    seed.post("/profiles/", blind, status=201)
    supposed = {"taints": [{"idc": "a", "key": "k", "effect": "NoSchedule"}]}
    problem = portal.post("/schedule/", {**ASKED, "profile": "blind", "hypothetical": supposed}, status=400)
    assert problem["errors"][0]["code"] == "taints_not_judged"


@pytest.mark.parametrize(
    ("extra", "pointer"),
    [
        ({"isp_match": "all"}, "/isp_match"),
        ({"selector": {"match_labels": {"idc/isp": "nope"}}}, "/selector/match_labels/idc~1isp"),
    ],
)
def test_counting_refuses_the_same(seed: Api, portal: Api, extra: dict[str, Any], pointer: str) -> None:
    asked = {"machine": {"cpu": 1}, "region": "A", "profile": "seed-example", **extra}
    assert portal.post("/capacity/", asked, status=400)["errors"][0]["pointer"] == pointer


def test_a_replay_needs_no_names_that_the_decision_could_do_without(seed: Api, portal: Api) -> None:
    """The record has the IDCs of region A only, so a replay must not refuse the selector's IDC `e` as unknown."""
    elsewhere = {"match_labels": {"idc/code": "e"}}
    answer = portal.schedule(**ASKED, selector=[{"match_labels": {"idc/code": "b"}}, elsewhere])
    assert answer["idc"]["code"] == "b"
    assert portal.post(f"/decisions/{answer['decision_id']}/replay/", {}, status=200)["identical"]


def test_the_other_names_of_an_isp_are_understood_in_selectors(seed: Api, portal: Api) -> None:
    seed.post("/isps/", {"code": "ct", "aliases": ["telecom"]}, status=201)
    seed.call("PATCH", "/idcs/a/", {"lines": [{"isp": "ct", "purchased_mbps": 10}]}, status=200)
    answer = portal.schedule(**ASKED, selector={"match_labels": {"idc/isp": "telecom"}})
    assert answer["idc"]["code"] == "a"


NOT_NOPE = {"match_expressions": [{"key": "idc/nope", "operator": "DoesNotExist"}]}
"""A selector of a label that no IDC has: if it were accepted, it would match every IDC."""
UNKNOWN = "match_expressions/0/key"


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        pytest.param(
            "/affinities/", {"kind": "forbid", "selector": NOT_NOPE}, f"/selector/{UNKNOWN}", id="an affinity"
        ),
        pytest.param(
            "/affinities/",
            [{"kind": "forbid", "idc": "a"}, {"kind": "forbid", "selector": [SEVERAL]}],
            f"/1/selector/0/{UNKNOWN}",
            id="one of several affinities",
        ),
        pytest.param("/taints/", {"key": "k", "selector": NOT_NOPE}, f"/selector/{UNKNOWN}", id="taints"),
        pytest.param(
            "/taints/", [{"key": "k", "selector": [NOT_NOPE]}], f"/0/selector/0/{UNKNOWN}", id="taints in a list"
        ),
        pytest.param(
            "/profiles/",
            {"code": "p", "plugins": [], "fallback": [{"match_labels": {"a": "b"}}, {"match_labels": {"idc/x": "y"}}]},
            "/fallback/1/match_labels",
            id="a profile's groups",
        ),
    ],
)
def test_what_operators_write_names_known_facts(seed: Api, path: str, body: Any, pointer: str) -> None:
    problem = seed.post(path, body, status=400)
    assert [(error["code"], error["pointer"]) for error in problem["errors"]] == [("unknown_fact", pointer)]


@pytest.mark.parametrize(
    ("path", "body", "code", "pointer"),
    [
        pytest.param(
            "/affinities/",
            [{"kind": "forbid", "selector": [NOBODYS]}],
            "unknown_region",
            "/0/selector/0/match_expressions/0/values/1",
            id="an affinity",
        ),
        pytest.param(
            "/taints/",
            {"key": "k", "selector": {"match_labels": {"idc/code": "nope"}}},
            "unknown_idc",
            "/selector/match_labels/idc~1code",
            id="taints",
        ),
        pytest.param(
            "/profiles/",
            {"code": "p", "plugins": [], "fallback": [{"match_labels": {"idc/isp": "nope"}}]},
            "unknown_isp",
            "/fallback/0/match_labels/idc~1isp",
            id="a profile's groups",
        ),
    ],
)
def test_what_operators_write_names_what_is_there(seed: Api, path: str, body: Any, code: str, pointer: str) -> None:
    problem = seed.post(path, body, status=400)
    assert [(error["code"], error["pointer"]) for error in problem["errors"]] == [(code, pointer)]


def test_an_affinity_cannot_be_changed_to_an_unknown_fact(seed: Api) -> None:
    path = f"/affinities/{seed.post('/affinities/', {'kind': 'forbid', 'idc': 'a'}, status=201)['id']}/"
    assert seed.refused("PATCH", path, {"selector": NOT_NOPE}, status=400) == (
        "unknown_fact",
        [f"/selector/{UNKNOWN}"],
    )


def test_an_affinity_stored_with_an_unknown_fact_can_be_read_and_ended(seed: Api) -> None:
    row = Affinity.objects.create(kind="forbid", selector=SEVERAL)
    now = timezone.now().isoformat()
    path = f"/affinities/{row.pk}/"
    assert seed.get(path)["selector"] == SEVERAL
    assert seed.call("PATCH", path, {"selector": SEVERAL, "ends_at": now}, status=200)["ends_at"]


def test_the_other_names_of_an_isp_are_understood_in_taints_and_affinities(seed: Api) -> None:
    seed.post("/isps/", {"code": "ct", "aliases": ["telecom"]}, status=201)
    seed.call("PATCH", "/idcs/a/", {"lines": [{"isp": "ct", "purchased_mbps": 10}]}, status=200)
    by_alias = {"match_labels": {"idc/isp": "telecom"}}
    assert seed.post("/taints/", {"key": "k", "selector": by_alias}, status=201)["idc"] == "a"
    drawn = seed.post("/affinities/", {"kind": "prefer", "weight": 1, "selector": by_alias}, status=201)["id"]
    shown = {code: [row["id"] for row in seed.get(f"/idcs/{code}/state/")["affinities"]] for code in "ab"}
    assert (drawn in shown["a"], drawn in shown["b"]) == (True, False)


@pytest.mark.parametrize(
    ("plugin", "args", "ok"),
    [
        pytest.param("cost", {}, False, id="an index of no range"),
        pytest.param("metric", {"metric": "free"}, False, id="a metric of no range"),
        pytest.param("metric", {"metric": "bound"}, True, id="a metric that has one"),
        pytest.param("taint", {}, True, id="a plugin that has one"),
    ],
)
def test_a_fixed_range_that_nobody_says_is_refused_when_the_profile_is_saved(
    seed: Api, plugin: str, args: dict[str, Any], *, ok: bool
) -> None:
    for code, bounds in (("free", {}), ("bound", {"low": 0, "high": 9})):
        seed.post("/metrics/", {"code": code, "scope": "idc", "direction": "lower", **bounds}, status=201)
    entry = {"name": "x", "plugin": plugin, "weight": 1, "args": args, "normalizer": {"kind": "fixed"}}
    answer = seed.post("/profiles/", {"code": "fixed", "plugins": [entry]}, status=201 if ok else 400)
    if not ok:
        assert [(each["code"], each["pointer"]) for each in answer["errors"]] == [
            ("range_required", "/plugins/0/normalizer")
        ]


@pytest.mark.parametrize(
    ("plugin", "policy", "allowed"),
    [
        pytest.param("cost", "reject", "worst, neutral, last", id="a word for filters to a scorer"),
        pytest.param("cost", {"filter": "pass"}, "worst, neutral, last", id="the filter of a scorer"),
        pytest.param("taint", "worst", None, id="a word for scorers to what filters, too"),
        pytest.param("available", "neutral", "reject, pass, last", id="a word for scorers to a filter"),
        pytest.param("cost", {"filter": "pass", "score": "worst"}, None, id="both to a scorer"),
        pytest.param("cost", {}, None, id="nothing"),
        pytest.param("available", "last", None, id="a word for both to a filter"),
    ],
)
def test_a_policy_for_missing_data_that_says_nothing_is_refused(
    seed: Api, plugin: str, policy: Any, allowed: str | None
) -> None:
    document = {"code": "p", "plugins": [{"name": "x", "plugin": plugin, "on_missing": policy}]}
    answer = seed.post("/profiles/", document, status=400 if allowed else 201)
    if allowed:
        (error,) = answer["errors"]
        assert (error["code"], error["pointer"]) == ("policy_ignored", "/plugins/0/on_missing")
        assert error["detail"] == f"this says nothing to plugin {plugin}; for it, say one of {allowed}"


def test_a_metric_of_lines_may_be_scored(seed: Api, portal: Api) -> None:
    """An IDC's score comes from the line of the request's ISP."""
    seed.post("/isps/", {"code": "ct"}, status=201)
    seed.post("/metrics/", {"code": "loss", "scope": "line", "direction": "lower"}, status=201)
    for idc, loss in (("a", 3.0), ("b", 1.0)):
        seed.call("PATCH", f"/idcs/{idc}/", {"lines": [{"isp": "ct", "purchased_mbps": 10}]}, status=200)
        sample = {"idc": idc, "line": "ct", "metric": "loss", "value": loss, "at": timezone.now().isoformat()}
        assert seed.post("/samples/", [sample], status=200)["accepted"] == 1
    entry = {"name": "loss", "plugin": "metric", "weight": 1, "args": {"metric": "loss"}}
    seed.post("/profiles/", {"code": "lossless", "plugins": [entry]}, status=201)
    answer = portal.schedule(region="A", profile="lossless", only=["a", "b"], isp="ct")
    assert (answer["idc"]["code"], answer["candidates"][0]["scores"]["loss"]["raw"]) == ("b", 1.0)


def test_a_metric_of_lines_may_move_a_weight(seed: Api, portal: Api) -> None:
    """The weight of 10 is multiplied by the mean loss of the lines of the request's ISP: 2 for `ct`, 8 for `cu`."""
    seed.post("/isps/", [{"code": "ct"}, {"code": "cu"}], status=201)
    seed.post("/metrics/", {"code": "loss", "scope": "line", "direction": "lower"}, status=201)
    for idc, losses in (("a", {"ct": 3.0, "cu": 9.0}), ("b", {"ct": 1.0, "cu": 7.0})):
        lines = [{"isp": isp, "purchased_mbps": 10} for isp in losses]
        seed.call("PATCH", f"/idcs/{idc}/", {"lines": lines}, status=200)
        samples = [{"idc": idc, "line": isp, "metric": "loss", "value": loss} for isp, loss in losses.items()]
        assert seed.post("/samples/", samples, status=200)["accepted"] == len(samples)
    moving = {"metric": "loss", "aggregate": "mean", "reference": 1, "factor": 1}
    entry = {"name": "x", "plugin": "metric", "weight": 10, "args": {"metric": "x"}, "dynamic_weight": moving}
    seed.post("/profiles/", {"code": "moving", "plugins": [entry]}, status=201)
    for isp, weight in (("ct", 20.0), ("cu", 80.0)):
        answer = portal.schedule(region="A", profile="moving", only=["a", "b"], isp=isp)
        (score,) = (each["scores"]["x"] for each in answer["candidates"][:1])
        assert (score["nominal_weight"], score["weight"]) == (10.0, weight)
