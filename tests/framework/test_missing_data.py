"""What a missing or stale value means, and that the answer says so. Unknown never looks like good."""

from typing import Any

import numpy as np
import pytest

from idcsched.framework.context import Cycle, IdcView
from idcsched.framework.errors import PluginFailed
from idcsched.framework.explain import answer
from idcsched.framework.facts import MetricFact
from idcsched.framework.plugin import Plugin, Reason, Rejection, Verdict
from idcsched.framework.snapshot import Reading
from idcsched.framework.testing import NOW, Outcome, Value, decide_for, profile, world

X, Y = MetricFact(code="x", max_age=600), MetricFact(code="y", max_age=600)
STALE = 601.0


def decided(
    values: dict[str, Value], on_missing: Any = None, normalizer: dict[str, Any] | None = None, **fields: Any
) -> Outcome:
    """The decision by one metric, on a fixed 0..10 unless said otherwise."""
    normalizer = normalizer or {"kind": "fixed", "low": 0, "high": 10}
    entry = {"weight": 1, "args": {"metric": "x"}, "normalizer": normalizer, "on_missing": on_missing}
    known = world({code: {"metrics": {"x": value}} for code, value in values.items()}, metrics=[X])
    return decide_for(known, profile(("x", "metric", entry)), **fields)


def normalized(*args: Any, **more: Any) -> dict[str, float | None]:
    return {idc: score.normalized for idc, score in decided(*args, **more).scores("x").items()}


def test_it_works() -> None:
    outcome = decided({"a": 4, "b": None}, "worst")
    assert outcome.totals == {"a": 40.0, "b": 0.0}
    assert outcome.scores("x")["b"].missing == "worst"
    (entry,) = outcome.answer.stale
    assert (entry.idc, entry.line, entry.metric, entry.age_seconds, entry.used_as) == ("b", None, "x", None, "worst")


@pytest.mark.parametrize(
    ("age", "known"),
    [
        pytest.param(0.0, True, id="just measured"),
        pytest.param(600.0, True, id="as old as may be"),
        pytest.param(600.5, False, id="older than max_age"),
        pytest.param(-30.0, True, id="from a clock that is ahead"),
    ],
)
def test_stale(age: float, *, known: bool) -> None:
    outcome = decided({"a": (4.0, age)})
    score = outcome.scores("x")["a"]
    assert (score.missing is None) is known
    assert score.age_seconds == age
    assert (outcome.answer.stale == ()) is known


def test_staleness_is_judged_when_the_decision_is_made() -> None:
    missing = [decided({"a": 4.0, "b": 4.0}, now=NOW + later).scores("x")["a"].missing for later in (600, 601)]
    assert missing == [None, "left_out"]


def test_what_is_shown_may_be_known_where_others_are_not() -> None:
    decision = decided({"a": 9, "b": 8, "c": None}, "worst").decision
    (best,) = answer(decision, top=1).candidates or ()
    assert (best.idc, best.scores["x"].missing, best.scores["x"].raw) == ("a", None, 9.0)


def test_without_max_age_a_metric_never_goes_stale() -> None:
    known = world({"a": {"metrics": {"y": (4.0, 1e9)}}})
    outcome = decide_for(known, profile(("y", "metric", {"weight": 1, "args": {"metric": "y"}})))
    assert outcome.scores("y")["a"].missing is None


KNOWN: dict[str, Value] = {"lo": 1, "mid": 3, "hi": 4, "top": 8}


@pytest.mark.parametrize(
    ("values", "policy", "normalizer", "score", "missing"),
    [
        pytest.param(KNOWN, "worst", {"kind": "fixed", "low": 0, "high": 10}, 0, "worst", id="worst: 0"),
        pytest.param(KNOWN, "worst", {"kind": "min_max"}, 0, "worst", id="worst under min_max: 0"),
        pytest.param(KNOWN, "worst", {"kind": "none"}, 1, "worst", id="worst under none: the lowest known score"),
        pytest.param(KNOWN, "neutral", {"kind": "max_ratio"}, 43.75, "neutral", id="neutral: the median, not the mean"),
        pytest.param(KNOWN, "neutral", {"kind": "none"}, 3.5, "neutral", id="neutral under none: the median"),
        pytest.param(
            KNOWN,
            "neutral",
            {"kind": "fixed", "low": 0, "high": 10},
            35,
            "neutral",
            id="neutral under fixed: the median",
        ),
        pytest.param(KNOWN, "neutral", {"kind": "fixed", "low": 0, "high": 5}, 50, "neutral", id="… but at most 50"),
        pytest.param(KNOWN, "neutral", {"kind": "min_max"}, 250 / 7, "neutral", id="neutral under min_max: the median"),
        pytest.param({"lo": 9, "hi": 10}, "neutral", {"kind": "max_ratio"}, 95, "neutral", id="… of whatever height"),
        pytest.param(KNOWN, None, {"kind": "fixed", "low": 0, "high": 5}, 50, "neutral", id="neutral is the default"),
        pytest.param(
            KNOWN, "last", {"kind": "fixed", "low": 0, "high": 10}, 0, "worst", id="last: none at all is worst"
        ),
        pytest.param(KNOWN, "last", {"kind": "none"}, 1, "worst", id="last under none: none at all is the lowest"),
        pytest.param(KNOWN, {"score": "worst"}, {"kind": "min_max"}, 0, "worst", id="said for the score alone"),
        pytest.param(KNOWN, {"filter": "last"}, {"kind": "none"}, 3.5, "neutral", id="said for the filter alone"),
        pytest.param(KNOWN, {"filter": "pass"}, {"kind": "none"}, 3.5, "neutral", id="a word that only filters know"),
    ],
)
def test_nothing_known(
    values: dict[str, Value], policy: Any, normalizer: dict[str, Any], score: float, missing: str
) -> None:
    outcome = decided({**values, "?": None}, policy, normalizer)
    found = outcome.scores("x")["?"]
    assert found.normalized == pytest.approx(score, abs=1e-6)
    assert (found.raw, found.missing) == (None, missing)
    assert [entry.used_as for entry in outcome.answer.stale] == [missing]


def test_the_known_are_scored_among_themselves() -> None:
    assert normalized({"a": 10, "b": 20, "?": (1000, STALE)}, "worst", {"kind": "min_max"}) == {
        "b": 100,
        "a": 0,
        "?": 0,
    }


def test_last_uses_the_stale_value() -> None:
    outcome = decided({"a": 4, "b": (6, STALE), "c": None}, "last")
    found = {idc: (score.raw, score.normalized, score.missing) for idc, score in outcome.scores("x").items()}
    assert found == {"b": (6.0, 60.0, "last"), "a": (4.0, 40.0, None), "c": (None, 0.0, "worst")}
    assert {(entry.idc, entry.age_seconds, entry.used_as) for entry in outcome.answer.stale} == {
        ("b", STALE, "last"),
        ("c", None, "worst"),
    }


def test_last_may_be_all_there_is() -> None:
    assert normalized({"a": (6, STALE)}, "last") == {"a": 60.0}


@pytest.mark.parametrize("policy", ["worst", "neutral"])
def test_a_stale_value_does_not_count_though_it_is_shown(policy: str) -> None:
    score = decided({"a": 4, "b": (10, STALE)}, policy).scores("x")["b"]
    assert (score.raw, score.age_seconds, score.missing) == (10.0, STALE, policy)
    assert score.normalized <= 40


@pytest.mark.parametrize("policy", ["worst", "neutral", "last"])
def test_where_nobodys_value_is_known_the_scorer_leaves_the_sum(policy: str) -> None:
    outcome = decided({"a": None, "b": None}, policy)
    assert outcome.totals.keys() == {"a", "b"}
    for score in outcome.scores("x").values():
        assert (score.raw, score.normalized, score.weight, score.nominal_weight) == (None, None, 0.0, 1.0)
        assert (score.contribution, score.missing) == (0.0, "left_out")
    assert outcome.answer.score_mean == 0.0
    assert outcome.answer.margin.flips == ()
    assert {entry.used_as for entry in outcome.answer.stale} == {"left_out"}


@pytest.mark.parametrize("policy", ["worst", "neutral"])
def test_stale_everywhere_is_known_nowhere(policy: str) -> None:
    assert decided({"a": (4, STALE)}, policy).scores("x")["a"].missing == "left_out"


@pytest.mark.parametrize("kind", ["fixed", "share", "min_max", "max_ratio", "none"])
@pytest.mark.parametrize("policy", ["worst", "neutral", "last"])
def test_unknown_is_never_better_than_the_best_known(kind: str, policy: str) -> None:
    normalizer = {"kind": kind, **({"low": 0, "high": 10} if kind == "fixed" else {})}
    found = normalized({"a": 3, "b": 5, "c": 9, "?": None}, policy, normalizer)
    assert found["?"] < found["c"]


def test_a_value_that_two_scorers_miss_is_listed_once() -> None:
    entry = {"weight": 1, "args": {"metric": "x"}, "on_missing": "worst"}
    known = world({"a": {"metrics": {"x": 1}}, "b": {}}, metrics=[X])
    outcome = decide_for(known, profile(("one", "metric", entry), ("two", "metric", entry)))
    assert [(entry.idc, entry.metric) for entry in outcome.answer.stale] == [("b", "x")]


def test_a_value_is_not_told_of_where_a_filter_before_has_rejected_the_idc() -> None:
    known = world({"a": {"metrics": {"x": 1}}, "b": {"metrics": {"x": 9}}, "c": {"metrics": {"x": 9}}}, metrics=[X, Y])
    limits = {"x": {"metric": "x", "at_most": 5}, "y": {"metric": "y", "at_most": 5}}
    entries = [(name, "metric", {"args": args, "on_missing": "reject"}) for name, args in limits.items()]
    outcome = decide_for(known, profile(*entries))
    assert outcome.winner is None
    assert [(each.idc, each.metric, each.used_as) for each in outcome.answer.stale or ()] == [("a", "y", "reject")]


TOO_LOUD = Reason("too_loud", "too loud", "{noise:g} dB is too much")
UNHEARD = Reason("unheard", "unheard", "nobody listened at {place}")


class Quiet(Plugin):
    """Keeps IDCs whose `x` is at most 5, all at once."""

    name = "quiet"
    unknown: Rejection | None = None

    def filter(self, ctx: Cycle) -> Verdict:
        reading = ctx.metric("x")
        return Verdict(
            reading.values <= 5,
            TOO_LOUD,
            lambda i: {"noise": reading.values.item(i)},
            reading=reading,
            unknown=self.unknown,
        )


class QuietOne(Plugin):
    """Keeps IDCs whose `x` is at most 5, and scores by it, one by one."""

    name = "quiet"

    def filter_one(self, ctx: Cycle, idc: IdcView) -> Rejection | None:
        noise = idc.metric("x")
        return None if noise is None or noise <= 5 else Rejection(TOO_LOUD, {"noise": noise})

    def score_one(self, ctx: Cycle, idc: IdcView) -> float | None:
        noise, other = idc.metric("x"), idc.metric("y")
        return None if noise is None else -noise - (other or 0.0)


FILTERED: dict[str, Value] = {"low": 1, "high": 9, "stale low": (1, STALE), "stale high": (9, STALE), "none": None}


def filtered(plugin: type[Plugin], on_missing: Any, *, weight: float = 0, y: Value = 0) -> Outcome:
    known = world({code: {"metrics": {"x": x, "y": y}} for code, x in FILTERED.items()}, metrics=[X, Y])
    return decide_for(
        known, profile(("quiet", "quiet", {"on_missing": on_missing, "weight": weight}), plugins=[plugin])
    )


@pytest.mark.parametrize("plugin", [Quiet, QuietOne])
@pytest.mark.parametrize(
    ("policy", "unknown", "loud", "treated"),
    [
        pytest.param("pass", set(), {"high"}, dict.fromkeys(("stale low", "stale high", "none"), "pass"), id="pass"),
        pytest.param(
            "reject",
            {"stale low", "stale high", "none"},
            {"high"},
            dict.fromkeys(("stale low", "stale high", "none"), "reject"),
            id="reject",
        ),
        pytest.param(
            "last",
            {"none"},
            {"high", "stale high"},
            {"stale low": "last", "stale high": "last", "none": "reject"},
            id="last",
        ),
    ],
)
def test_a_filter_leaves_it_to_the_profile(
    plugin: type[Plugin], policy: str, unknown: set[str], loud: set[str], treated: dict[str, str]
) -> None:
    outcome = filtered(plugin, {"filter": policy})
    assert outcome.rejections == {**dict.fromkeys(unknown, "metric_unknown"), **dict.fromkeys(loud, "too_loud")}
    assert {each.idc: each.used_as for each in outcome.answer.stale or ()} == treated
    reasons = {each.idc: each.reason for each in outcome.answer.rejected or ()}
    assert {reasons[idc] for idc in unknown} <= {"the value of x is not known"}


def test_a_filter_may_have_words_of_its_own_for_what_is_unknown() -> None:
    class Listening(Quiet):
        """A filter with its own reason and details for IDCs whose value is unknown."""

        unknown = Rejection(UNHEARD, {"place": "the fence"})

    (rejected,) = [each for each in filtered(Listening, "last").answer.rejected or () if each.idc == "none"]
    assert (rejected.code, rejected.reason) == ("unheard", "nobody listened at the fence")


def test_a_reading_of_another_length_is_a_failure() -> None:
    class Short(Quiet):
        """A filter whose reading has one value, whatever the number of IDCs."""

        def filter(self, ctx: Cycle) -> Verdict:
            reading = ctx.metric("x").take(np.array([0]))
            return Verdict(np.ones(ctx.size, dtype=np.bool_), TOO_LOUD, reading=reading)

    with pytest.raises(PluginFailed, match="a reading of"):
        filtered(Short, "reject")


@pytest.mark.parametrize(
    ("policy", "treated"),
    [
        pytest.param("worst", dict.fromkeys(("stale low", "stale high", "none"), "worst"), id="worst"),
        pytest.param("last", {"stale low": "last", "stale high": "last", "none": "worst"}, id="last"),
    ],
)
def test_what_one_idc_is_scored_by_counts_as_its_metrics_do(policy: str, treated: dict[str, str]) -> None:
    outcome = filtered(QuietOne, {"filter": "pass", "score": policy}, weight=1)
    scores = outcome.scores("quiet")
    assert {idc: score.missing for idc, score in scores.items() if score.missing} == treated
    assert (scores["stale low"].raw, scores["stale low"].age_seconds, scores["none"].raw) == (-1.0, STALE, None)
    assert {each.metric for each in outcome.answer.stale or ()} == {"x"}


def test_a_score_that_passes_over_a_missing_value_is_missing() -> None:
    outcome = filtered(QuietOne, {"filter": "pass", "score": "last"}, weight=1, y=None)
    assert {score.missing for score in outcome.scores("quiet").values()} == {"left_out"}


def test_values_from_several_readings_are_known_where_all_are() -> None:
    never = np.nan
    one = Reading(metric="x", values=np.array([1.0, 2.0, 3.0]), known=np.array([True, True, False]), at=np.arange(3.0))
    other = Reading(
        metric="y", values=np.array([never, 5.0, 6.0]), known=np.zeros(3, np.bool_), at=np.array([never, 9, 1])
    )
    derived = Reading.derived(one.values * other.values, one, other)
    assert (derived.metric, derived.known.tolist()) == ("y", [False, False, False])
    np.testing.assert_array_equal(derived.values, [never, 10.0, 18.0])
    np.testing.assert_array_equal(derived.at, [never, 1.0, 1.0])
