"""What the answer shows at each level, and how much of it."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pytest

from idcsched.framework.context import Cycle
from idcsched.framework.explain import MOST_SHOWN, answer
from idcsched.framework.plugin import Note, Plugin, Reason, Verdict
from idcsched.framework.testing import IdcSpec, decide_for, profile, world

X = ("x", "metric", {"weight": 2, "args": {"metric": "x"}, "normalizer": {"kind": "fixed", "low": 0, "high": 10}})
FLEET: dict[str, IdcSpec] = {
    "a": {"name": "Alpha", "region": "A", "metrics": {"x": (8.0, 12.0)}, "lines": {"ct": {"used_mbps": 0}}},
    "b": {"metrics": {"x": 5}},
    "c": {"metrics": {"x": 3}},
    "d": {"taints": ["k:NoSchedule"]},
}
EXPLAINED = ("candidates", "tie", "margin", "rejected", "rejected_counts", "near_misses", "stale")


def told(explain: str, **fields: Any) -> dict[str, Any]:
    """The decoded JSON of the answer at this level of explanation."""
    document = msgspec.json.encode(decide_for(world(FLEET), profile("taint", X), explain=explain, **fields).answer)
    return msgspec.json.decode(document)


def test_it_works() -> None:
    document = told("full", machines=[{"bandwidth_mbps": 50}], top=1)
    assert document["idc"] == {"code": "a", "name": "Alpha", "region": "A"}
    assert document["lines"] == [{"line": "ct", "isp": "ct", "bandwidth_mbps": 50.0}]
    assert (document["score"], document["score_mean"], document["picked"]) == (160.0, 80.0, "best")
    assert [candidate["idc"] for candidate in document["candidates"]] == ["a", "b", "c"]
    assert document["candidates"][0] == {
        "rank": 1,
        "idc": "a",
        "lines": document["lines"],
        "score": 160.0,
        "scores": {
            "x": {
                "raw": 8.0,
                "normalized": 80.0,
                "weight": 2.0,
                "nominal_weight": 2.0,
                "contribution": 160.0,
                "age_seconds": 12.0,
                "missing": None,
                "range": [0.0, 10.0],
            }
        },
        "bill": None,
        "bill_unknown": "no_price",
    }
    assert document["rejected"] == [
        {
            "idc": "d",
            "plugin": "taint",
            "code": "untolerated_taint",
            "reason": "untolerated taint k:NoSchedule",
            "detail": {"taint": "k:NoSchedule"},
            "also": [],
        }
    ]


def test_none_explains_nothing_and_still_says_it_in_a_sentence() -> None:
    document = told("none")
    assert {name for name in EXPLAINED if document[name] is not None} == set()
    assert document["summary"] == "3/4 IDCs fit: 1 untolerated taint"
    assert (document["idc"]["code"], document["evaluated"], document["feasible"]) == ("a", 4, 3)


def test_summary_shows_the_top_and_no_rejections() -> None:
    document = told("summary", top=2)
    assert [candidate["idc"] for candidate in document["candidates"]] == ["a", "b"]
    assert document["rejected"] is None
    assert document["rejected_counts"] == [{"plugin": "taint", "code": "untolerated_taint", "count": 1}]
    assert (document["near_misses"], document["stale"]) == ([], [])


def test_summary_is_what_is_shown_unless_asked_otherwise() -> None:
    decision = decide_for(world(FLEET), profile(X)).decision
    assert answer(decision) == answer(decision, explain="summary", top=5)


def many(count: int, **spec: Any) -> dict[str, IdcSpec]:
    return {f"idc{number:04}": IdcSpec(**spec) for number in range(count)}


@pytest.mark.parametrize(
    ("fleet", "explain", "candidates", "rejected", "truncated"),
    [
        pytest.param(many(MOST_SHOWN), "full", MOST_SHOWN, 0, False, id="as many candidates as may be"),
        pytest.param(many(MOST_SHOWN + 1), "full", MOST_SHOWN, 0, True, id="one candidate more"),
        pytest.param(
            many(MOST_SHOWN, taints=["k:NoSchedule"]), "full", 0, MOST_SHOWN, False, id="as many rejections as may be"
        ),
        pytest.param(
            many(MOST_SHOWN + 1, taints=["k:NoSchedule"]), "full", 0, MOST_SHOWN, True, id="one rejection more"
        ),
        pytest.param(many(MOST_SHOWN + 1), "summary", 5, None, False, id="a summary is never truncated"),
    ],
)
def test_truncated(
    fleet: Mapping[str, IdcSpec], explain: str, candidates: int, rejected: int | None, *, truncated: bool
) -> None:
    answered = decide_for(world(fleet), profile("taint"), explain=explain).answer
    document = msgspec.json.decode(msgspec.json.encode(answered))
    assert len(document["candidates"]) == candidates
    assert (None if document["rejected"] is None else len(document["rejected"])) == rejected
    assert document.get("truncated", False) is truncated
    assert document["evaluated"] == len(fleet)


def test_a_tie_of_very_many_names_no_more_than_are_shown() -> None:
    tie = decide_for(world(many(MOST_SHOWN + 5))).answer.tie
    assert len(tie.between) == len(tie.values) == MOST_SHOWN


def test_stale_values_are_listed_no_further_than_is_shown() -> None:
    known = world({**many(MOST_SHOWN + 5), "z": {"metrics": {"x": 1}}})
    assert len(decide_for(known, profile(X)).answer.stale) == MOST_SHOWN


def test_not_visited_is_no_rejection_when_truncating() -> None:
    fleet = {**many(MOST_SHOWN + 1), "own": {"partition": "own"}}
    everybody = {"match_expressions": [{"key": "idc/code", "operator": "Exists"}]}
    answered = decide_for(world(fleet), fallback=[{"match_labels": {"idc/partition": "own"}}, everybody]).answer
    assert (answered.feasible, answered.not_visited, answered.rejected) == (1, MOST_SHOWN + 1, ())
    assert answered.truncated is msgspec.UNSET


def test_sentences_are_said_by_whoever_renders_them() -> None:
    def shout(template: str, params: Mapping[str, Any]) -> str:
        return template.format_map(params).upper()

    decision = decide_for(world(FLEET), profile("taint", X)).decision
    answered = answer(decision, explain="full", say=shout)
    assert answered.summary == "3/4 IDCS FIT: 1 UNTOLERATED TAINT"
    assert answered.rejected[0].reason == "UNTOLERATED TAINT K:NOSCHEDULE"
    assert answered.rejected[0].detail == {"taint": "k:NoSchedule"}


def test_what_is_not_shown_is_not_computed() -> None:
    said: list[str] = []

    def listen(template: str, params: Mapping[str, Any]) -> str:
        said.append(template)
        return template

    decision = decide_for(world(FLEET), profile("taint", X)).decision
    answer(decision, explain="none", say=listen)
    assert "untolerated taint {taint}" not in said


class Tongue(Plugin):
    """A plugin that filters and scores well, and fails when it is asked for reasons or notes."""

    name = "tongue"

    def filter(self, ctx: Cycle) -> Verdict:
        keep = np.arange(ctx.size) == 0
        return Verdict(keep, TIED, lambda i: {"words": 1 / 0})

    def score(self, ctx: Cycle) -> Any:
        return np.zeros(ctx.size)

    def note(self, ctx: Cycle, position: int) -> Note:
        return Note("{words}", {"word": position})


TIED = Reason("tied", "tongue tied", "it says {words}")


def test_a_plugin_that_cannot_say_why_is_named_and_its_verdict_stands() -> None:
    policy = profile(("dumb", "tongue", {"weight": 1}), plugins=[Tongue])
    answered = decide_for(world({"a": {}, "b": {}, "c": {}}), policy).answer
    assert (answered.idc.code, answered.candidates[0].scores["dumb"].note) == ("a", msgspec.UNSET)
    assert [(told.idc, told.reason, told.detail) for told in answered.rejected] == [
        ("b", "tongue tied", {}),
        ("c", "tongue tied", {}),
    ]
    assert [(error.plugin, error.point, error.error) for error in answered.plugin_errors] == [
        ("dumb", "note", "KeyError: 'words'"),
        ("dumb", "detail", "ZeroDivisionError: division by zero"),
    ]


NEEDED = {"machines": [{"bandwidth_mbps": 50, "cpu": 4}]}
PASSED: dict[str, IdcSpec] = {
    "a": {"stock": {"cpu": 10}, "metrics": {"cpu_load": 0.25, "x": 7}, "lines": {"ct": {"used_mbps": 20}}},
    "b": {"stock": {"cpu": 1}, "lines": {"ct": {"used_mbps": 20}}},
    "c": {"lines": {"ct": {"used_mbps": None}}},
}


def figures(candidate: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(passed["plugin"], passed["figures"]) for passed in candidate.get("filters", ())]


def test_what_a_candidate_passed_by() -> None:
    policy = profile(
        ("network_flow", "network_flow", {"on_missing": "pass"}),
        ("x", "metric", {"args": {"metric": "x", "at_most": 9}}),
        "resource",
    )
    answered = decide_for(world(PASSED), policy, explain="full", **NEEDED).answer
    shown = {candidate["idc"]: figures(candidate) for candidate in msgspec.to_builtins(answered.candidates)}
    assert shown == {
        "a": [
            ("network_flow", {"line": "ct", "need": 50.0, "free": 880.0, "short_by": 0.0}),
            ("x", {"metric": "x", "value": 7.0, "at_least": None, "at_most": 9.0}),
            ("resource", {"resource": "cpu", "value": 0.25, "limit": 0.9}),
            ("resource", {"resource": "cpu", "need": 4.0, "free": 10.0, "short_by": 0.0}),
        ],
        "c": [
            ("network_flow", {"line": "ct", "need": 50.0, "free": None, "short_by": None}),
            ("x", {"metric": "x", "value": None, "at_least": None, "at_most": 9.0}),
            ("resource", {"resource": "cpu", "value": None, "limit": 0.9}),
            ("resource", {"resource": "cpu", "need": 4.0, "free": None, "short_by": 0.0}),
        ],
    }


@pytest.mark.parametrize("explain", ["summary", "none"])
def test_figures_are_for_the_full_explanation(explain: str) -> None:
    answered = decide_for(world(PASSED), profile("network_flow"), explain=explain, **NEEDED).answer
    assert not any(figures(candidate) for candidate in msgspec.to_builtins(answered.candidates) or ())
