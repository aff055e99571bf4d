"""`resource`: overloaded IDCs are out, and those whose stock can't hold the machines; load scores."""

from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import IdcSpec, Outcome, Value, decide_for, profile, world

LOADS = [MetricFact(code=f"{name}_load", max_age=600) for name in ("cpu", "memory", "disk")]
STALE = 601.0


def decided(idcs: dict[str, IdcSpec], machines: list[dict[str, Any]] | None = None, **entry: Any) -> Outcome:
    policy = profile(("load", "resource", {"weight": 1, **entry}))
    return decide_for(world(idcs, metrics=LOADS), policy, machines=machines or [])


def loaded(**loads: Value) -> IdcSpec:
    return {"metrics": {f"{name}_load": value for name, value in loads.items()}}


def test_it_works() -> None:
    outcome = decided({"a": loaded(cpu=0.2), "b": loaded(cpu=0.5), "c": loaded(cpu=0.95)})
    assert outcome.totals == {"a": 80.0, "b": 50.0}
    (rejected,) = outcome.answer.rejected
    assert (rejected.plugin, rejected.code) == ("load", "overloaded")
    assert rejected.reason == "its cpu load is 95%, the limit is 90%"
    assert rejected.detail == {"resource": "cpu", "value": 0.95, "limit": 0.9, "short_by": 0.05}


@pytest.mark.parametrize(
    ("loads", "args", "out"),
    [
        pytest.param({"cpu": 0.9}, {}, False, id="at the limit is not over it"),
        pytest.param({"cpu": 0.91}, {}, True, id="cpu over it"),
        pytest.param({"memory": 0.91}, {}, True, id="memory over it"),
        pytest.param({"disk": 0.91}, {}, True, id="disk over it"),
        pytest.param({"cpu": 0.1, "memory": 0.1, "disk": 0.91}, {}, True, id="one is enough"),
        pytest.param({"cpu": 0.7}, {"cpu": 0.6}, True, id="a limit of its own"),
        pytest.param({"cpu": 0.7}, {"memory": 0.6}, False, id="another's limit is no matter"),
    ],
)
def test_overload(loads: dict[str, float], args: dict[str, float], *, out: bool) -> None:
    assert ("a" in decided({"a": loaded(**loads)}, args=args).rejections) is out


@pytest.mark.parametrize(
    ("stock", "taken", "machines", "reason"),
    [
        pytest.param({}, {}, [{"cpu": 1e6}], None, id="no stock given: unlimited"),
        pytest.param({"cpu": 8}, {}, [{"cpu": 8}], None, id="just enough"),
        pytest.param({"cpu": 8}, {}, [{"cpu": 9}], "needs 9 cpu, 8 left", id="too little"),
        pytest.param({"cpu": 8}, {"cpu": 5}, [{"cpu": 4}], "needs 4 cpu, 3 left", id="what is taken is gone"),
        pytest.param({"cpu": 8}, {"cpu": 9}, [{"cpu": 1}], "needs 1 cpu, 0 left", id="less than nothing is nothing"),
        pytest.param({"cpu": 0.3}, {"cpu": 0.1}, [{"cpu": 0.2}], None, id="fractions are not lost on the way"),
        pytest.param({"cpu": 8}, {}, [{"count": 3, "cpu": 3}], "needs 9 cpu, 8 left", id="count times"),
        pytest.param({"cpu": 8}, {}, [{"cpu": 5}, {"cpu": 4}], "needs 9 cpu, 8 left", id="the sum of all"),
        pytest.param({"memory_gib": 8}, {}, [{"memory_gib": 9}], "needs 9 memory_gib, 8 left", id="memory"),
        pytest.param({"disk_gib": 8}, {}, [{"disk_gib": 9}], "needs 9 disk_gib, 8 left", id="disk"),
        pytest.param({"gpu": 0}, {}, [{"gpu": 1}], "needs 1 gpu, 0 left", id="gpu"),
        pytest.param({"cpu": 8}, {}, [{"memory_gib": 900}], None, id="each resource on its own"),
        pytest.param({"cpu": 0}, {}, [{"bandwidth_mbps": 5}], None, id="nothing needed, nothing missed"),
    ],
)
def test_stock(
    stock: dict[str, float], taken: dict[str, float], machines: list[dict[str, Any]], reason: str | None
) -> None:
    outcome = decided({"a": {"stock": stock, "taken": taken}}, machines)
    assert [rejected.reason for rejected in outcome.answer.rejected] == ([reason] if reason else [])
    assert set(outcome.rejections.values()) <= {"not_enough_stock"}


def test_a_shortage_tells_how_far_off() -> None:
    (rejected,) = decided({"a": {"stock": {"cpu": 8}}}, [{"cpu": 10.5}]).answer.rejected
    assert rejected.detail == {"resource": "cpu", "need": 10.5, "free": 8.0, "short_by": 2.5}


@pytest.mark.parametrize(
    ("strategy", "raw", "normalized"),
    [
        pytest.param("least", 0.7, 30, id="least: the highest load, less is better"),
        pytest.param("most", 0.7, 70, id="most: the highest load, more is better"),
        pytest.param("balanced", 0.5, 50, id="balanced: the highest less the lowest, less is better"),
    ],
)
def test_strategy(strategy: str, raw: float, normalized: float) -> None:
    outcome = decided({"a": loaded(cpu=0.2, memory=0.7, disk=0.4)}, args={"strategy": strategy})
    score = outcome.scores("load")["a"]
    assert (score.raw, score.normalized) == (pytest.approx(raw), pytest.approx(normalized))


def test_the_age_is_that_of_the_oldest_load() -> None:
    score = decided({"a": loaded(cpu=(0.2, 30), memory=(0.7, 90))}).scores("load")["a"]
    assert score.age_seconds == 90.0


def test_a_load_that_nobody_reports_plays_no_part() -> None:
    outcome = decided({"a": loaded(cpu=0.2)}, on_missing="reject")
    assert outcome.scores("load")["a"].raw == 0.2


def test_no_loads_at_all_leave_the_sum() -> None:
    outcome = decided({"a": {}})
    assert outcome.winner == "a"
    assert outcome.scores("load") == {}


@pytest.mark.parametrize(
    ("on_missing", "rejected", "normalized"),
    [
        pytest.param(None, {}, {"known": 50, "stale": 0, "none": 0}, id="by default: pass, worst"),
        pytest.param(
            "reject", {"stale": "load_unknown", "none": "load_unknown"}, {"known": 50}, id="reject: what is not known"
        ),
        pytest.param("neutral", {}, {"known": 50, "stale": 50, "none": 50}, id="neutral: the median of the known"),
        pytest.param(
            "last",
            {"none": "load_unknown", "over": "overloaded"},
            {"known": 50, "stale": 60},
            id="last: the stale value",
        ),
    ],
)
def test_missing_data(on_missing: Any, rejected: dict[str, str], normalized: dict[str, float]) -> None:
    idcs = {"known": loaded(cpu=0.5), "stale": loaded(cpu=(0.4, STALE)), "none": {}}
    if "over" in rejected:
        idcs["over"] = loaded(cpu=(0.95, STALE))
    outcome = decided(idcs, on_missing=on_missing)
    assert outcome.rejections == rejected
    assert {idc: score.normalized for idc, score in outcome.scores("load").items()} == normalized


def test_one_unknown_load_makes_the_whole_unknown() -> None:
    scores = decided({"a": loaded(cpu=0.1), "b": loaded(cpu=0.2, memory=0.3)}).scores("load")
    assert (scores["a"].missing, scores["b"].missing) == ("worst", None)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"cpu": 0}, "out_of_range"),
        ({"cpu": 1.1}, "out_of_range"),
        ({"strategy": "random"}, "invalid_choice"),
        ({"gpu": 0.5}, "unknown_field"),
    ],
)
def test_arguments_are_checked(args: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid, match="plugin resource: ") as refusal:
        profile(("load", "resource", {"args": args}))
    assert refusal.value.code == code
