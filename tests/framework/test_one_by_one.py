"""Plugins that judge one IDC at a time: they come after the vectorised filters, visit the most promising IDCs first,
and stop when enough were found.
"""

from typing import Any

import pytest

from idcsched.framework.context import Cycle
from idcsched.framework.errors import PluginFailed
from idcsched.framework.facts import MetricFact
from idcsched.framework.one_by_one import IdcView, enough
from idcsched.framework.plugin import Plugin, Reason, Rejection
from idcsched.framework.testing import IdcSpec, Outcome, decide_for, profile, world

ODD = Reason("odd", "odd", "{number} is odd", cures=("metrics",))
LARGE = Reason("large", "large", "{number} is large", cures=("metrics",))
X = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "none"}})


class Picky(Plugin):
    """A plugin that rejects odd numbers and numbers from `large` on, and notes which IDCs it has seen."""

    name = "picky"
    seen: list[str] = []
    large = 10_000

    def filter_one(self, ctx: Cycle, idc: IdcView) -> Rejection | None:
        self.seen.append(idc.code)
        number = idc.metric("number")
        if number is None:
            return None
        if number % 2:
            return Rejection(ODD, {"number": number})
        return Rejection(LARGE, {"number": number}) if number >= self.large else None


class Liking(Plugin):
    """A plugin that scores one IDC at a time, by its number."""

    name = "liking"

    def score_one(self, ctx: Cycle, idc: IdcView) -> float | None:
        return idc.metric("number")


@pytest.fixture
def picky() -> type[Picky]:
    return type("Picky", (Picky,), {"seen": [], "__module__": __name__})


def fleet(count: int, **spec: Any) -> dict[str, IdcSpec]:
    """IDCs with their numbers as a metric; the lower the number, the more promising the IDC."""
    return {
        f"idc{number:04}": IdcSpec(metrics={"number": float(number), "x": float(-number)}, **spec)
        for number in range(count)
    }


def decided(idcs: dict[str, IdcSpec], *entries: Any, plugins: Any, body: Any = None, **fields: Any) -> Outcome:
    known = world(idcs, metrics=[MetricFact(code="number", max_age=600)])
    return decide_for(known, profile(*entries, plugins=plugins, **(body or {})), **fields)


def test_it_works(picky: type[Picky]) -> None:
    outcome = decided(fleet(5), X, "picky", plugins=[picky])
    assert list(outcome.totals) == ["idc0000", "idc0002", "idc0004"]
    assert outcome.rejections == {"idc0001": "odd", "idc0003": "odd"}
    told = outcome.answer.rejected[0]
    assert (told.plugin, told.reason, told.detail) == ("picky", "1.0 is odd", {"number": 1.0})
    assert outcome.answer.summary == "3/5 IDCs fit: 2 odd"


def test_it_joins_the_points_as_any_plugin_does() -> None:
    assert (Picky.points(), Picky.scores()) == (("filter",), False)
    assert (Liking.points(), Liking.scores()) == (("score",), True)


@pytest.mark.parametrize(
    ("candidates", "percent", "wanted"),
    [
        pytest.param(0, None, 0, id="nobody"),
        pytest.param(99, None, 99, id="below 100: all of them"),
        pytest.param(99, 10, 99, id="below 100: all of them, whatever the profile says"),
        pytest.param(100, None, 100, id="never fewer than 100"),
        pytest.param(250, None, 120, id="48 %"),
        pytest.param(1000, None, 420, id="42 %"),
        pytest.param(5000, None, 500, id="10 %"),
        pytest.param(5625, None, 281, id="5 %"),
        pytest.param(10_000, None, 500, id="never less than 5 %"),
        pytest.param(1000, 30, 300, id="as the profile says"),
        pytest.param(1000, 2.5, 100, id="but never fewer than 100"),
        pytest.param(1000, 100, 1000, id="all of them"),
    ],
)
def test_how_many_are_looked_for(candidates: int, percent: float | None, wanted: int) -> None:
    assert enough(candidates, percent) == wanted


def test_the_cut_drops_the_least_promising(picky: type[Picky]) -> None:
    outcome = decided(fleet(300), X, "picky", plugins=[picky])
    answer = outcome.answer
    assert enough(300, None) == 144
    assert list(outcome.totals) == [f"idc{number:04}" for number in range(0, 288, 2)]
    assert (answer.evaluated, answer.feasible, answer.not_visited) == (300, 144, 13)
    assert [count.count for count in answer.rejected_counts] == [143]
    assert picky.seen == [f"idc{number:04}" for number in range(287)]
    assert answer.summary == "144/300 IDCs fit: 143 odd, 13 not visited"


def test_a_profile_may_want_more(picky: type[Picky]) -> None:
    outcome = decided(fleet(300), X, "picky", plugins=[picky], body={"candidates_percent": 100})
    assert (outcome.answer.feasible, outcome.answer.not_visited) == (150, 0)


def test_who_is_equally_promising_is_visited_by_the_requests_hash(picky: type[Picky]) -> None:
    for number in ("1", "1", "2"):
        decided(fleet(150), "picky", plugins=[picky], request_id=number, body={"candidates_percent": 100})
    first, again, other = (picky.seen[start : start + 150] for start in (0, 150, 300))
    assert first == again != other
    assert first != sorted(first)


def test_they_come_after_the_vectorised_filters(picky: type[Picky]) -> None:
    idcs = {**fleet(2), "late": IdcSpec(metrics={"number": 1.0}, taints=["k:NoSchedule"])}
    outcome = decided(idcs, "picky", "taint", plugins=[picky])
    assert "late" not in picky.seen
    assert outcome.rejections == {"idc0001": "odd", "late": "untolerated_taint"}


def test_the_first_word_against_an_idc_counts(picky: type[Picky]) -> None:
    picky.large = 2
    outcome = decided(fleet(4), "picky", plugins=[picky])
    assert outcome.rejections == {"idc0001": "odd", "idc0002": "large", "idc0003": "odd"}
    assert [(count.code, count.count) for count in outcome.answer.rejected_counts] == [("odd", 2), ("large", 1)]


def test_near_misses_and_counts_when_nothing_fits(picky: type[Picky]) -> None:
    picky.large = 0
    answer = decided(fleet(2), "picky", plugins=[picky]).answer
    assert (answer.result, answer.evaluated, answer.not_visited) == ("unschedulable", 2, 0)
    assert {miss.idc: miss.reason for miss in answer.near_misses} == {
        "idc0000": "0.0 is large",
        "idc0001": "1.0 is odd",
    }


def test_group_by_group(picky: type[Picky]) -> None:
    idcs: dict[str, IdcSpec] = {
        "own": {"partition": "own", "metrics": {"number": 1}},
        "partner": {"partition": "partner", "metrics": {"number": 2}},
        "cloud": {"partition": "cloud", "metrics": {"number": 4}},
        "stray": {"metrics": {"number": 6}},
    }
    groups = [{"match_labels": {"idc/partition": name}} for name in ("own", "partner", "cloud")]
    outcome = decided(idcs, "picky", plugins=[picky], fallback=groups)
    assert picky.seen == ["own", "partner"]
    assert (outcome.winner, outcome.answer.fallback_group.index) == ("partner", 1)
    assert outcome.rejections == {"own": "odd", "stray": "no_group"}
    assert outcome.answer.not_visited == 1


def test_nobody_to_visit(picky: type[Picky]) -> None:
    answer = decided(fleet(2), "picky", plugins=[picky], exclude=["idc0000", "idc0001"]).answer
    assert (answer.evaluated, answer.feasible, answer.not_visited, picky.seen) == (2, 0, 0, [])


def test_scores_one_by_one() -> None:
    outcome = decided(
        {**fleet(3), "unknown": {}, "stale": {"metrics": {"number": (9.0, 601)}}},
        ("liking", "liking", {"weight": 1, "on_missing": "worst"}),
        plugins=[Liking],
    )
    found = {idc: (score.raw, score.normalized, score.missing) for idc, score in outcome.scores("liking").items()}
    assert found == {
        "idc0002": (2.0, 100.0, None),
        "idc0001": (1.0, 50.0, None),
        "idc0000": (0.0, 0.0, None),
        "stale": (9.0, 0.0, "worst"),
        "unknown": (None, 0.0, "worst"),
    }


def test_normalising_is_over_the_final_survivors() -> None:
    outcome = decided(fleet(300), X, ("liking", "liking", {"weight": 1}), plugins=[Liking], request_id="1")
    assert outcome.answer.feasible == 144
    normalized = [score.normalized for score in outcome.scores("liking").values()]
    assert (min(normalized), max(normalized)) == (0.0, 100.0)


def test_scores_of_those_that_were_dropped_leave_no_note(picky: type[Picky]) -> None:
    idcs: dict[str, IdcSpec] = {"a": {"metrics": {"number": 1}}, "b": {"metrics": {"number": 2, "x": 5}}}
    assert [entry.idc for entry in decided(idcs, X, "picky", plugins=[picky]).answer.stale] == []


def test_what_a_view_tells() -> None:
    told: list[Any] = []

    class Curious(Plugin):
        name = "curious"

        def filter_one(self, ctx: Cycle, idc: IdcView) -> None:
            told.append([idc.code, idc.name, idc.region, idc.tier, idc.partition, idc.provider, idc.labels, idc.lines])
            told.append([idc.metric(code) for code in ("fresh", "number", "none", "unheard", "bandwidth_mbps")])

    spec: IdcSpec = {
        "name": "Alpha",
        "region": "B",
        "tier": "center",
        "partition": "own",
        "provider": "vm",
        "labels": {"k": "v"},
        "metrics": {"fresh": 5, "number": (1.0, 601), "none": None},
        "lines": {"1": {"isp": "ct", "used_mbps": 5}, "2": {"isp": "cu", "used_mbps": 0}},
    }
    decided({"other": {}, "a": spec}, "curious", plugins=[Curious], region="B", isp="ct")
    assert told == [
        ["a", "Alpha", "B", "center", "own", "vm", {"k": "v"}, ("1",)],
        [5.0, None, None, None, 5.0],
    ]


class Sick(Plugin):
    """A plugin whose filter does what `act` does, such as failing."""

    name = "sick"
    act: Any = None

    def filter_one(self, ctx: Cycle, idc: IdcView) -> Any:
        return self.act(idc)


def sick(act: Any) -> type[Plugin]:
    return type("Ill", (Sick,), {"act": staticmethod(act), "__module__": __name__})


@pytest.mark.parametrize(
    ("act", "error"),
    [
        pytest.param(lambda idc: 1 / 0, "ZeroDivisionError: division by zero", id="raises"),
        pytest.param(lambda idc: False, "TypeError: gave bool, not Rejection", id="gives something else"),
    ],
)
def test_a_failing_filter(act: Any, error: str) -> None:
    with pytest.raises(PluginFailed, match=error):
        decided(fleet(3), "sick", plugins=[sick(act)])
    outcome = decided(fleet(3), ("ill", "sick", {"on_error": "skip_filter"}), plugins=[sick(act)])
    assert outcome.answer.feasible == 3
    assert [(told.plugin, told.point, told.error) for told in outcome.answer.plugin_errors] == [
        ("ill", "filter", error)
    ]


def test_a_failing_scorer() -> None:
    class Falling(Plugin):
        name = "falling"

        def score_one(self, ctx: Cycle, idc: IdcView) -> float | None:
            return float("nan")

    outcome = decided(fleet(2), ("falling", "falling", {"weight": 1}), plugins=[Falling])
    assert [(told.point, told.error) for told in outcome.answer.plugin_errors] == [
        ("score", "ValueError: gave a value that is not finite")
    ]


@pytest.mark.parametrize("weight", [0, 1])
def test_a_one_by_one_scorer_may_break_ties(weight: float) -> None:
    entry = ("liking", "liking", {"weight": weight, "normalizer": {"kind": "fixed", "low": 10, "high": 20}})
    outcome = decided(fleet(3), entry, plugins=[Liking], body={"tie_breakers": ["liking"]})
    assert (outcome.winner, outcome.answer.tie.broken_by) == ("idc0002", "liking")
