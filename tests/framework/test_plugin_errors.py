"""A plugin that raises, or gives what it must not: the profile says what that means, and nothing is swallowed."""

from typing import Any

import numpy as np
import pytest

from idcsched.framework.context import Cycle
from idcsched.framework.errors import PluginFailed, Unavailable
from idcsched.framework.explain import answer
from idcsched.framework.plugin import Plugin, Reason, Universe, Verdict
from idcsched.framework.testing import Outcome, decide_for, profile, world

KNOWN = world({"a": {"metrics": {"x": 1}}, "b": {"metrics": {"x": 2}}})
X = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "none"}})
NOPE = Reason("nope", "nope", "nope")


class Sick(Plugin):
    """Fails at whatever point `symptom` says."""

    name = "sick"
    symptom = ""

    def pre_filter(self, ctx: Cycle) -> Any:
        return _act(self.symptom, "pre_filter", ctx)

    def filter(self, ctx: Cycle) -> Any:
        return _act(self.symptom, "filter", ctx)

    def pre_score(self, ctx: Cycle) -> None:
        _act(self.symptom, "pre_score", ctx)

    def score(self, ctx: Cycle) -> Any:
        return _act(self.symptom, "score", ctx, otherwise=np.zeros(ctx.size))


def _act(symptom: str, point: str, ctx: Cycle, otherwise: Any = None) -> Any:
    kind, _, where = symptom.partition(" at ")
    return SYMPTOMS[kind](ctx) if where == point else otherwise


def _raise(_: Cycle) -> Any:
    raise ZeroDivisionError("no luck today")


SYMPTOMS: dict[str, Any] = {
    "raises": _raise,
    "mask of floats": lambda ctx: Verdict(np.ones(ctx.size), NOPE),
    "mask too short": lambda ctx: Verdict(np.ones(ctx.size - 1, dtype=np.bool_), NOPE),
    "mask of two dimensions": lambda ctx: Verdict(np.ones((ctx.size, 1), dtype=np.bool_), NOPE),
    "mask that is a list": lambda ctx: Verdict([True] * ctx.size, NOPE),
    "bare mask": lambda ctx: np.zeros(ctx.size, dtype=np.bool_),
    "nonsense": lambda _: "keep them all",
    "nonsense among verdicts": lambda _: (None,),
    "NaN": lambda ctx: np.full(ctx.size, np.nan),
    "infinity": lambda ctx: np.full(ctx.size, np.inf),
    "too few": lambda ctx: np.zeros(ctx.size - 1),
    "a scalar": lambda _: 5.0,
    "words": lambda ctx: ["good"] * ctx.size,
}


def sick(symptom: str) -> type[Plugin]:
    return type("Ill", (Sick,), {"symptom": symptom, "__module__": __name__})


def decided(symptom: str, on_error: str | None = None, *, weight: float = 5, **body: Any) -> Outcome:
    entry = ("ill", "sick", {"weight": weight, "on_error": on_error})
    return decide_for(KNOWN, profile(entry, X, plugins=[sick(symptom)], **body))


FILTER_SYMPTOMS = [
    "raises at pre_filter",
    "raises at filter",
    "mask of floats at filter",
    "mask too short at filter",
    "mask of two dimensions at filter",
    "mask that is a list at filter",
    "bare mask at filter",
    "bare mask at pre_filter",
    "nonsense at filter",
    "nonsense among verdicts at filter",
]
SCORE_SYMPTOMS = [
    "raises at pre_score",
    "raises at score",
    "NaN at score",
    "infinity at score",
    "too few at score",
    "a scalar at score",
    "words at score",
]


def test_it_works() -> None:
    outcome = decided("")
    assert outcome.answer.plugin_errors == ()
    assert set(outcome.scores("ill")) == {"a", "b"}


@pytest.mark.parametrize("on_error", [None, "fail", "ignore"])
@pytest.mark.parametrize("symptom", FILTER_SYMPTOMS)
def test_a_failing_filter_fails_the_decision(symptom: str, on_error: str | None) -> None:
    with pytest.raises(PluginFailed) as failure:
        decided(symptom, on_error)
    assert failure.value.code == "plugin_failed"
    assert isinstance(failure.value, Unavailable)
    assert failure.value.params["plugin"] == "ill"
    assert failure.value.params["point"] == symptom.partition(" at ")[2]


@pytest.mark.parametrize("symptom", FILTER_SYMPTOMS)
def test_or_is_skipped_where_the_profile_says_so(symptom: str) -> None:
    outcome = decided(symptom, "skip_filter")
    assert set(outcome.totals) == {"a", "b"}
    (error,) = outcome.answer.plugin_errors
    assert (error.plugin, error.point) == ("ill", symptom.partition(" at ")[2])


@pytest.mark.parametrize("on_error", [None, "ignore", "skip_filter"])
@pytest.mark.parametrize("symptom", SCORE_SYMPTOMS)
def test_a_failing_scorers_weight_leaves_the_sum(symptom: str, on_error: str | None) -> None:
    outcome = decided(symptom, on_error)
    assert outcome.totals == {"b": 2.0, "a": 1.0}
    assert outcome.answer.score_mean == 2.0
    (error,) = outcome.answer.plugin_errors
    assert (error.plugin, error.point) == ("ill", symptom.partition(" at ")[2])


@pytest.mark.parametrize("symptom", SCORE_SYMPTOMS)
def test_or_fails_the_decision_where_the_profile_says_so(symptom: str) -> None:
    with pytest.raises(PluginFailed, match="plugin ill failed at"):
        decided(symptom, "fail")


def test_the_answer_names_the_error() -> None:
    (error,) = decided("raises at score").answer.plugin_errors
    assert error.error == "ZeroDivisionError: no luck today"
    with pytest.raises(PluginFailed) as failure:
        decided("raises at filter")
    assert str(failure.value) == "plugin ill failed at filter: ZeroDivisionError: no luck today"
    assert isinstance(failure.value.__cause__, ZeroDivisionError)


def test_a_scorer_of_weight_0_is_not_even_asked() -> None:
    assert decided("raises at score", weight=0).answer.plugin_errors == ()


@pytest.mark.parametrize("symptom", ["raises at score", "raises at pre_score"])
def test_a_failing_tie_breaker_is_named_and_passed_over(symptom: str) -> None:
    entry = ("ill", "sick", {"weight": 0})
    policy = profile(entry, plugins=[sick(symptom)], tie_breakers=["ill"])
    answer = decide_for(KNOWN, policy).answer
    assert [(error.plugin, error.point) for error in answer.plugin_errors] == [("ill", "tie_breaker")]
    assert answer.tie.broken_by == "hash"


def test_a_failing_tie_breaker_fails_the_decision_where_the_profile_says_so() -> None:
    entry = ("ill", "sick", {"weight": 0, "on_error": "fail"})
    with pytest.raises(PluginFailed, match="tie_breaker"):
        decide_for(KNOWN, profile(entry, plugins=[sick("raises at score")], tie_breakers=["ill"]))


class Somewhere(Plugin):
    """A plugin whose `pre_filter` returns `found`, whether it is valid or not."""

    name = "somewhere"
    found: Any = None

    def pre_filter(self, ctx: Cycle) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("narrows", "found"),
    [
        pytest.param(True, Verdict(np.ones(2, dtype=np.bool_), NOPE), id="one that narrows gives a universe"),
        pytest.param(False, Universe(((0, 1),)), id="and nobody else does"),
    ],
)
def test_only_plugins_that_narrow_give_a_universe(found: Any, *, narrows: bool) -> None:
    plugin = type("There", (Somewhere,), {"narrows": narrows, "found": found, "__module__": __name__})
    policy = profile(("there", "somewhere"), plugins=[plugin])
    with pytest.raises(PluginFailed, match="TypeError: gave"):
        decide_for(KNOWN, policy, only=["a"])


def test_a_plugin_of_ones_own_may_narrow() -> None:
    plugin = type("There", (Somewhere,), {"narrows": True, "found": Universe(((1, 2),)), "__module__": __name__})
    answer = decide_for(KNOWN, profile(("there", "somewhere"), plugins=[plugin]), only=["a", "b"]).answer
    assert (answer.evaluated, answer.idc.code) == (1, "b")


class Ranger(Plugin):
    """A plugin that normalises its scores by the function `given`."""

    name = "ranger"
    given: Any = None

    def score(self, ctx: Cycle) -> Any:
        return np.arange(ctx.size, dtype=np.float64)

    def normalize(self, ctx: Cycle, values: Any) -> Any:
        return self.given(values)


def ranged(given: Any, **entry: Any) -> Outcome:
    plugin = type("Given", (Ranger,), {"given": staticmethod(given), "__module__": __name__})
    return decide_for(KNOWN, profile(("own", "ranger", {"weight": 1, **entry}), plugins=[plugin]))


def test_a_plugin_may_normalise_by_itself() -> None:
    assert ranged(lambda values: values * 7).totals == {"b": 7.0, "a": 0.0}


def test_but_the_profiles_normaliser_comes_before_it() -> None:
    assert ranged(lambda values: values * 7, normalizer={"kind": "min_max"}).totals == {"b": 100.0, "a": 0.0}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda values: values - 1, id="below 0"),
        pytest.param(lambda values: values + 100, id="above 100"),
        pytest.param(lambda values: values * np.nan, id="NaN"),
        pytest.param(lambda values: values[:1], id="too few"),
        pytest.param(lambda values: values.sum(), id="a scalar"),
    ],
)
def test_scores_out_of_bounds_have_failed(given: Any) -> None:
    outcome = ranged(given)
    assert outcome.scores("own") == {}
    (error,) = outcome.answer.plugin_errors
    assert (error.point, error.error) == ("score", "ValueError: gave a score out of bounds")


class Idle(Plugin):
    """A plugin that prepares its scores in `pre_score` and reads them in `score`."""

    name = "idle"

    def pre_score(self, ctx: Cycle) -> None:
        ctx.state[self.name] = np.arange(ctx.size, dtype=np.float64)

    def score(self, ctx: Cycle) -> Any:
        return ctx.state[self.name]


@pytest.mark.parametrize("weight", [0, 1])
def test_pre_score_comes_before_score_in_the_sum_or_not(weight: float) -> None:
    entry = ("idle", "idle", {"weight": weight, "normalizer": {"kind": "fixed", "low": 10, "high": 20}})
    answer = decide_for(KNOWN, profile(entry, plugins=[Idle], tie_breakers=["idle"])).answer
    assert answer.plugin_errors == ()
    assert (answer.idc.code, answer.tie.broken_by) == ("b", "idle")


def test_fixed_without_any_range_has_failed() -> None:
    fixed = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "fixed"}})
    (error,) = decide_for(world({"a": {"metrics": {"x": 3}}}), profile(fixed)).answer.plugin_errors
    assert (error.plugin, error.point) == ("x", "score")
    assert "needs low and high" in error.error


class Shy(Plugin):
    """A plugin that keeps every IDC, and fails when it is asked for the numbers."""

    name = "shy"

    def filter(self, ctx: Cycle) -> Verdict:
        return Verdict(np.ones(ctx.size, dtype=np.bool_), NOPE, None, lambda i: _raise(ctx))


def test_who_fails_to_tell_his_figures_is_named() -> None:
    told = answer(decide_for(KNOWN, profile("shy", X, plugins=[Shy])).decision, explain="full")
    assert told.result == "scheduled"
    assert [(error.plugin, error.point) for error in told.plugin_errors] == [("shy", "figures")]
