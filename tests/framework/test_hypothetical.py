"""What-if requests: with taints, statuses, lines and metrics supposed otherwise; the snapshot itself is not changed."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.facts import History, MetricFact
from idcsched.framework.hypothetical import suppose as suppose_in
from idcsched.framework.request import Hypothetical
from idcsched.framework.testing import NOW, IdcSpec, Outcome, decide_for, profile, snapshot, world

FLEET: dict[str, IdcSpec] = {
    "a": {
        "metrics": {"x": (3, 900)},
        "lines": {
            "ct": {"used_mbps": 500, "price_per_mbps": 20},
            "cu": {"used_mbps": 100, "price_per_gb": 0.1, "charge_type": "volume"},
        },
        "taints": ["k=v:NoSchedule", "k=v:NoExecute", "l:PreferNoSchedule"],
    },
    "b": {"metrics": {"x": 2}, "lines": {"ct": {"used_mbps": 100}}, "taints": ["k=v:NoSchedule"]},
    "c": {"status": "offline", "metrics": {"x": 1}},
}
KNOWN = snapshot(world(FLEET, metrics=[MetricFact(code="x", max_age=600)]))
POLICY = profile(
    "available",
    "taint",
    ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "none"}, "on_missing": "worst"}),
    ("flow", "network_flow", {"weight": 1, "normalizer": {"kind": "none"}}),
    ("bill", "billing_cost", {"weight": 1, "normalizer": {"kind": "none"}}),
)


def suppose(what_if: dict[str, Any], **fields: Any) -> Outcome:
    return decide_for(KNOWN, POLICY, hypothetical=what_if, **fields)


def ignoring(*taints: dict[str, Any]) -> dict[str, Any]:
    return {"ignore_taints": list(taints)}


def of_a(**change: Any) -> dict[str, Any]:
    """A hypothesis that changes IDC a and ignores the taint that would keep the request out."""
    return {"idcs": [{"code": "a", **change}], "ignore_taints": [{"idc": "a", "key": "k"}]}


def test_it_works() -> None:
    assert suppose({}).rejections == {"a": "untolerated_taint", "b": "untolerated_taint", "c": "not_online"}
    assert suppose({"idcs": [{"code": "c", "status": "online"}]}).winner == "c"


@pytest.mark.parametrize(
    ("what_if", "fits"),
    [
        pytest.param(ignoring({"idc": "b", "key": "k"}), {"b"}, id="ignored by key"),
        pytest.param(ignoring({"idc": "b", "key": "l"}), set(), id="another key"),
        pytest.param(ignoring({"idc": "a", "key": "k"}), {"a"}, id="every effect of the key"),
        pytest.param(ignoring({"idc": "a", "key": "k", "effect": "NoSchedule"}), set(), id="one effect leaves another"),
        pytest.param(
            ignoring({"idc": "a", "key": "k", "effect": "NoSchedule"}, {"idc": "a", "key": "k", "effect": "NoExecute"}),
            {"a"},
            id="both effects",
        ),
        pytest.param(
            {**ignoring({"idc": "b", "key": "k"}), "taints": [{"idc": "b", "key": "new", "effect": "NoExecute"}]},
            set(),
            id="added",
        ),
        pytest.param(
            {**ignoring({"idc": "b", "key": "k"}), "taints": [{"idc": "b", "key": "k", "effect": "NoSchedule"}]},
            set(),
            id="ignored and added anew",
        ),
    ],
)
def test_taints(what_if: dict[str, Any], fits: set[str]) -> None:
    assert set(suppose(what_if).totals) == fits


def test_an_added_taint_is_one_like_any() -> None:
    what_if = {
        "taints": [{"idc": "c", "key": "m", "value": "w", "effect": "NoSchedule"}],
        "idcs": [{"code": "c", "status": "online"}],
    }
    (rejected,) = [told for told in suppose(what_if).answer.rejected if told.idc == "c"]
    assert rejected.reason == "untolerated taint m=w:NoSchedule"
    assert "c" in suppose(what_if, tolerations=[{"key": "m", "value": "w"}]).totals


def test_a_supposed_value_is_as_of_now() -> None:
    score = suppose(of_a(metrics={"x": 7.5})).scores("x")["a"]
    assert (score.raw, score.age_seconds, score.missing) == (7.5, 0.0, None)
    assert suppose(of_a()).scores("x")["a"].missing == "left_out"


def test_one_metric_of_several_idcs() -> None:
    what_if = {
        "idcs": [{"code": "a", "metrics": {"x": 7}}, {"code": "b", "metrics": {"x": 8}}],
        "ignore_taints": [{"idc": "a", "key": "k"}, {"idc": "b", "key": "k"}],
    }
    assert {idc: score.raw for idc, score in suppose(what_if).scores("x").items()} == {"a": 7.0, "b": 8.0}


def test_null_is_missing() -> None:
    what_if = {
        "idcs": [{"code": "b", "metrics": {"x": None}}, {"code": "c", "status": "online"}],
        **ignoring({"idc": "b", "key": "k"}),
    }
    score = suppose(what_if).scores("x")["b"]
    assert (score.raw, score.age_seconds, score.missing) == (None, None, "worst")


@pytest.mark.parametrize(
    ("line", "line_code", "left"),
    [
        pytest.param({"line": "ct", "purchased_mbps": 2000}, "ct", 1200 / 2000, id="purchased"),
        pytest.param({"line": "ct", "max_level": 0.6}, "ct", 0.0, id="level"),
        pytest.param({"line": "ct", "metrics": {"bandwidth_mbps": 0}}, "ct", 0.8, id="bandwidth"),
        pytest.param({"line": "cu", "purchased_mbps": 500}, "cu", 0.5, id="another line"),
    ],
)
def test_lines(line: dict[str, Any], line_code: str, left: float) -> None:
    outcome = suppose(of_a(lines=[line]), isp=line_code, machines=[{"bandwidth_mbps": 100}])
    assert outcome.scores("flow")["a"].raw == pytest.approx(left)


def test_a_line_of_which_nothing_is_known() -> None:
    outcome = suppose(
        of_a(lines=[{"line": "ct", "metrics": {"bandwidth_mbps": None}}]), isp="ct", machines=[{"bandwidth_mbps": 1}]
    )
    assert outcome.rejections["a"] == "bandwidth_unknown"


@pytest.mark.parametrize(
    ("line", "bill"),
    [
        pytest.param({"line": "ct", "price_per_mbps": 30}, 30, id="a price per Mbps"),
        pytest.param({"line": "ct", "commit_mbps": 1200}, 20 * 0.25 * 0.5**2, id="a commit"),
        pytest.param({"line": "cu", "price_per_gb": 0.5}, 81, id="a price per GB"),
        pytest.param({"line": "cu", "price_per_mbps": 5}, 16.2, id="a price that its charge type does not know"),
    ],
)
def test_prices(line: dict[str, Any], bill: float) -> None:
    outcome = suppose(of_a(lines=[line]), isp=line["line"], machines=[{"bandwidth_mbps": 100}])
    assert outcome.scores("bill")["a"].raw == pytest.approx(bill)


def test_it_leaves_no_trace() -> None:
    before = msgspec.json.encode(decide_for(KNOWN, POLICY).answer)
    suppose(
        {
            "taints": [{"idc": "c", "key": "z", "effect": "NoSchedule"}],
            "ignore_taints": [{"idc": "b", "key": "k"}],
            "idcs": [
                {"code": "c", "status": "online", "metrics": {"x": 99}},
                {"code": "a", "lines": [{"line": "ct", "purchased_mbps": 5, "metrics": {"bandwidth_mbps": 1}}]},
            ],
        }
    )
    assert msgspec.json.encode(decide_for(KNOWN, POLICY).answer) == before


def test_what_flowed_is_copied_only_where_it_is_supposed_otherwise() -> None:
    """A hypothesis that supposes no other traffic shares the snapshot's history, so that the month's figures are not
    worked out again for a question about a taint.
    """
    history = History(hours=np.full((3, 720), 100, dtype=np.float32), weekday=0)
    known = replace(KNOWN, history=history)

    def supposed(**idc: Any) -> History | None:
        what_if = {"idcs": [{"code": "a", **idc}], "taints": [{"idc": "b", "key": "new", "effect": "NoSchedule"}]}
        return suppose_in(known, msgspec.convert(what_if, Hypothetical), now=NOW).history

    assert supposed(metrics={"x": 1}, lines=[{"line": "ct", "purchased_mbps": 5}]) is history
    other = supposed(lines=[{"line": "ct", "metrics": {"bandwidth_mbps": 7}}])
    assert other is not None
    assert other.figures.percentile.tolist() == [7, 100, 100]


def test_what_was_derived_before_does_not_stick() -> None:
    tier = {"match_labels": {"idc/tier": "edge"}}
    decide_for(KNOWN, POLICY, selector=tier)
    assert suppose({"idcs": [{"code": "c", "status": "online"}]}, selector=tier).winner == "c"


@pytest.mark.parametrize(
    ("what_if", "code", "pointer"),
    [
        ({"taints": [{"idc": "z", "key": "k", "effect": "NoSchedule"}]}, "unknown_idc", "/taints/0/idc"),
        ({"ignore_taints": [{"idc": "z", "key": "k"}]}, "unknown_idc", "/ignore_taints/0/idc"),
        ({"idcs": [{"code": "a"}, {"code": "z"}]}, "unknown_idc", "/idcs/1/code"),
        ({"idcs": [{"code": "a", "metrics": {"w": 1}}]}, "unknown_metric", "/idcs/0/metrics/w"),
        ({"idcs": [{"code": "a", "metrics": {"p/q": 1}}]}, "unknown_metric", "/idcs/0/metrics/p~1q"),
        (
            {"idcs": [{"code": "a", "metrics": {"bandwidth_mbps": 1}}]},
            "unknown_metric",
            "/idcs/0/metrics/bandwidth_mbps",
        ),
        ({"idcs": [{"code": "a", "lines": [{"line": "cm"}]}]}, "unknown_line", "/idcs/0/lines/0/line"),
        ({"idcs": [{"code": "c", "lines": [{"line": "ct"}]}]}, "unknown_line", "/idcs/0/lines/0/line"),
        (
            {"idcs": [{"code": "a", "lines": [{"line": "ct"}, {"line": "cu", "metrics": {"x": 1}}]}]},
            "unknown_metric",
            "/idcs/0/lines/1/metrics/x",
        ),
        ({"idcs": [{"code": "a", "status": "gone"}]}, "invalid_choice", "/idcs/0/status"),
        (
            {"idcs": [{"code": "a", "lines": [{"line": "ct", "purchased_mbps": 0}]}]},
            "out_of_range",
            "/idcs/0/lines/0/purchased_mbps",
        ),
        (
            {"idcs": [{"code": "a", "lines": [{"line": "ct", "max_level": 1.5}]}]},
            "out_of_range",
            "/idcs/0/lines/0/max_level",
        ),
        ({"idcs": [{"code": "a", "metrics": {"x": "high"}}]}, "wrong_type", "/idcs/0/metrics/x"),
    ],
)
def test_refused(what_if: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        suppose(what_if)
    assert (refusal.value.code, refusal.value.errors[0].pointer) == (code, f"/hypothetical{pointer}")
