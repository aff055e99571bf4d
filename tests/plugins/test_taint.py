"""`taint`: hard taints in force keep an IDC out unless tolerated, soft ones count against it."""

from typing import Any

import pytest

from idcsched.framework.testing import NOW, decide_for, profile, world

HARD = profile("taint")
SOFT = profile(("taint", "taint", {"weight": 1}))


def test_it_works() -> None:
    outcome = decide_for(world({"a": {}, "c": {"taints": ["disabled=true:NoSchedule"]}}), HARD)
    assert outcome.winner == "a"
    (rejected,) = outcome.answer.rejected
    assert (rejected.idc, rejected.plugin, rejected.code) == ("c", "taint", "untolerated_taint")
    assert rejected.reason == "untolerated taint disabled=true:NoSchedule"
    assert rejected.detail == {"taint": "disabled=true:NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "tolerations", "fits"),
    [
        pytest.param(["k=v:NoSchedule"], [], False, id="NoSchedule is hard"),
        pytest.param(["k=v:NoExecute"], [], False, id="NoExecute is hard"),
        pytest.param(["k=v:PreferNoSchedule"], [], True, id="PreferNoSchedule is soft"),
        pytest.param(["k=v:NoSchedule"], [{"key": "k", "value": "v"}], True, id="a tolerated taint keeps nobody out"),
        pytest.param(
            ["k=v:NoSchedule", "l:NoExecute"], [{"key": "k", "value": "v"}], False, id="one untolerated taint is enough"
        ),
        pytest.param(["k=v:NoSchedule", "l:NoExecute"], [{"operator": "Exists"}], True, id="all may be tolerated"),
        pytest.param(
            ["k=v:NoExecute"],
            [{"key": "k", "value": "v", "effect": "NoSchedule"}],
            False,
            id="a toleration of one effect leaves the other",
        ),
    ],
)
def test_hard_taints(taints: list[str], tolerations: list[dict[str, Any]], *, fits: bool) -> None:
    outcome = decide_for(world({"a": {"taints": taints}}), HARD, tolerations=tolerations)
    assert outcome.decision.scheduled is fits


@pytest.mark.parametrize(
    ("starts_at", "ends_at", "in_force"),
    [
        pytest.param(None, None, True, id="no window: always"),
        pytest.param(NOW + 1, None, False, id="before its start"),
        pytest.param(NOW, None, True, id="at its start"),
        pytest.param(NOW - 1, NOW + 1, True, id="during"),
        pytest.param(None, NOW + 1, True, id="open start"),
        pytest.param(None, NOW, False, id="at its end"),
        pytest.param(NOW - 2, NOW - 1, False, id="after its end"),
    ],
)
@pytest.mark.parametrize("effect", ["NoSchedule", "PreferNoSchedule"])
def test_outside_its_window_a_taint_does_not_exist(
    starts_at: float | None, ends_at: float | None, effect: str, *, in_force: bool
) -> None:
    taint = {"key": "k", "effect": effect, "starts_at": starts_at, "ends_at": ends_at}
    outcome = decide_for(world({"a": {"taints": [taint]}}), SOFT)
    if effect == "NoSchedule":
        assert outcome.decision.scheduled is not in_force
    else:
        assert outcome.scores("taint")["a"].raw == float(in_force)


def test_windows_are_judged_when_the_decision_is_made() -> None:
    known = world({"a": {"taints": [{"key": "k", "starts_at": NOW + 10, "ends_at": NOW + 20}]}})
    fits = [decide_for(known, HARD, now=NOW + seconds).decision.scheduled for seconds in (0, 10, 19, 20)]
    assert fits == [True, False, False, True]


def test_next_weeks_maintenance_stands_beside_todays() -> None:
    same = {"key": "maintenance", "effect": "NoSchedule"}
    known = world(
        {"a": {"taints": [{**same, "starts_at": NOW, "ends_at": NOW + 10}, {**same, "starts_at": NOW + 600}]}}
    )
    fits = [decide_for(known, HARD, now=NOW + seconds).decision.scheduled for seconds in (0, 300, 600)]
    assert fits == [False, True, False]


def test_the_reason_names_a_taint_that_is_neither_tolerated_nor_soft_nor_over() -> None:
    taints = ["a:PreferNoSchedule", "b:NoSchedule", {"key": "c", "ends_at": NOW}, "d:NoExecute"]
    outcome = decide_for(world({"a": {"taints": taints}}), HARD, tolerations=[{"key": "b"}])
    assert outcome.answer.rejected[0].reason == "untolerated taint d:NoExecute"


def test_each_idc_is_told_its_own_taint() -> None:
    known = world({"a": {"taints": ["one:NoSchedule"]}, "b": {}, "c": {"taints": ["two:NoSchedule"]}})
    told = {rejected.idc: rejected.detail["taint"] for rejected in decide_for(known, HARD).answer.rejected}
    assert told == {"a": "one:NoSchedule", "c": "two:NoSchedule"}


def test_soft_taints_count_and_fewer_is_better() -> None:
    known = world(
        {
            "none": {},
            "one": {"taints": ["k:PreferNoSchedule"]},
            "two": {"taints": ["k:PreferNoSchedule", "l:PreferNoSchedule"]},
            "four": {"taints": [f"{key}:PreferNoSchedule" for key in "klmn"]},
        }
    )
    scores = decide_for(known, SOFT).scores("taint")
    assert {idc: score.raw for idc, score in scores.items()} == {"none": 0, "one": 1, "two": 2, "four": 4}
    assert scores["none"].normalized == 100.0
    assert scores["one"].normalized == pytest.approx(100 * 2 / 3, abs=1e-6)
    assert scores["two"].normalized == pytest.approx(100 / 3, abs=1e-6)
    assert scores["four"].normalized == 0.0


def test_tolerated_soft_taints_do_not_count() -> None:
    known = world({"a": {"taints": ["k:PreferNoSchedule", "l:PreferNoSchedule"]}})
    assert decide_for(known, SOFT, tolerations=[{"key": "k"}]).scores("taint")["a"].raw == 1.0


def test_not_listed_it_does_nothing() -> None:
    assert decide_for(world({"a": {"taints": ["k:NoSchedule"]}})).decision.scheduled


def test_a_rejection_tells_why_the_taint_is_there_and_until_when() -> None:
    taint = {"key": "works", "reason": "New cooling.", "ends_at": NOW + 3600}
    (rejected,) = decide_for(world({"a": {"taints": [taint]}}), HARD).answer.rejected
    assert rejected.detail == {
        "taint": "works:NoSchedule",
        "reason": "New cooling.",
        "ends_at": "2025-06-15T16:06:40Z",
    }
