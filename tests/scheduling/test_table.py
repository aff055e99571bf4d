"""An answer in the terminal says everything that a person must know, and nothing that does not apply."""

from typing import Any

import msgspec
import pytest

from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.in_words import amount
from idcsched.scheduling.table import aligned, render

SCORE = {
    "raw": 0.5,
    "normalized": 50.0,
    "weight": 2.0,
    "nominal_weight": 2.0,
    "contribution": 100.0,
    "age_seconds": 12.0,
    "missing": None,
}
ANSWER: dict[str, Any] = {
    "decision_id": "0192",
    "request_id": None,
    "http_request_id": "h",
    "result": "scheduled",
    "reason_code": None,
    "idc": {"code": "d", "name": "d", "region": "A"},
    "lines": [{"line": "ct", "isp": "ct", "bandwidth_mbps": 900.0}],
    "score": 100.0,
    "score_mean": 50.0,
    "candidates": [
        {
            "rank": 1,
            "idc": "d",
            "lines": [{"line": "ct", "isp": "ct", "bandwidth_mbps": 900.0}],
            "score": 100.0,
            "scores": {"x": SCORE},
        }
    ],
    "tie": None,
    "margin": None,
    "rejected": None,
    "rejected_counts": [],
    "near_misses": [],
    "summary": "1/1 IDCs fit",
    "evaluated": 1,
    "feasible": 1,
    "not_visited": 0,
    "picked": "best",
    "fallback_group": None,
    "stale": [],
    "plugin_errors": [],
    "degraded": False,
    "profile": {"code": "default", "revision": 3},
    "snapshot": {"id": "s", "age_seconds": 0.4},
    "commit_token": None,
    "elapsed_ms": 0.6,
}


def rendered(**changes: Any) -> str:
    return render(msgspec.convert(ANSWER | changes, Scheduled))


def test_it_works() -> None:
    assert rendered().splitlines() == [
        "d, region A: 900 Mbps on ct",
        "1/1 IDCs fit",
        "",
        "#  IDC  lines  score    x",
        "                       ×2",
        "1  d    ct       100  100",
        "",
        "Profile default, revision 3; data 0.4 s old; decision 0192 in 0.6 ms",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param(
            {"idc": {"code": "d", "name": "深圳 Shenzhen", "region": "A"}}, "d 深圳 Shenzhen, region A", id="a name"
        ),
        pytest.param(
            {"lines": [{"line": "ct", "isp": "ct", "bandwidth_mbps": 0.0}]}, "region A: line ct", id="no bandwidth"
        ),
        pytest.param(
            {"margin": {"runner_up": "b", "score": 4.0, "flips": [{"scorer": "x", "weight": 1.5}]}},
            "b is next, 4 behind. It would draw level if x weighed 1.5 instead of 2.",
            id="a margin that a weight would close",
        ),
        pytest.param(
            {"margin": {"runner_up": "b", "score": 4.0, "flips": [{"scorer": "x", "weight": None}]}},
            "b is next, 4 behind. No change of a single weight would let it draw level.",
            id="a margin that no weight closes",
        ),
        pytest.param(
            {"tie": {"between": ["d", "b"], "broken_by": "headroom", "values": {"d": 0.5, "b": None}}},
            "Tie between d, b, broken by headroom: d 0.5, b -.",
            id="a tie with an unknown value",
        ),
        pytest.param(
            {"plugin_errors": [{"plugin": "x", "point": "score", "error": "ValueError: no"}]},
            "Plugin x failed at score: ValueError: no",
            id="a plugin that failed",
        ),
        pytest.param(
            {
                "stale": [
                    {"idc": "a", "line": "ct", "metric": "m", "age_seconds": 1200.0, "used_as": "last"},
                    {"idc": "b", "line": None, "metric": "m", "age_seconds": None, "used_as": "last"},
                ]
            },
            "m (last): a/ct 1,200 s old, b missing",
            id="stale and missing values",
        ),
        pytest.param(
            {"fallback_group": {"index": 1, "earlier": [{"index": 0, "rejected_counts": []}]}},
            "From fallback group 2.",
            id="a fallback group",
        ),
        pytest.param({"candidates": None}, "1/1 IDCs fit\n\nProfile default", id="without an explanation"),
    ],
)
def test_what_applies_is_said(changes: dict[str, Any], said: str) -> None:
    assert said in rendered(**changes)


def test_with_a_full_explanation_every_score_shows_its_way_and_every_rejection_its_reason() -> None:
    scores = {"x": SCORE | {"missing": "neutral", "note": "said by the scorer"}}
    rejected = {"idc": "c", "plugin": "taint", "code": "t", "reason": "untolerated", "detail": {}, "also": ["isp", "x"]}
    said = rendered(candidates=[ANSWER["candidates"][0] | {"scores": scores}], rejected=[rejected])

    assert "d:\n  x  raw 0.5  → 50  × 2  = 100  12 s old; missing: neutral; said by the scorer\n" in said
    assert "Rejected:\n  c  taint  untolerated (also isp, x)\n" in said


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (220.0, "220"), (0.125, "0.12"), (999.5, "999.5"), (14036.8, "14,037"), (-1.5, "-1.5")],
)
def test_amounts_are_as_short_as_they_can_be(value: float | None, text: str) -> None:
    assert amount(value) == text


def test_wide_characters_take_two_columns() -> None:
    assert aligned([["深圳", "1"], ["a", "22"]], right=[1]) == ["深圳   1", "a     22"]


def test_it_says_by_which_line_and_shape() -> None:
    line = {**ANSWER["lines"][0], "note": "cu has more room"}
    shown = rendered(lines=[line], shape_from="flat", shape_note="its traffic counts as flat")
    assert "ct and not the roomiest line: cu has more room\nits traffic counts as flat" in shown
    assert "roomiest" not in rendered()
