"""Raw values → scores of 0..100: every normaliser's formula, and the laws that all of them keep."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.normalize import (
    KINDS,
    Better,
    Floats,
    NormalizerKind,
    Scale,
    normalize,
    within_bounds,
)
from idcsched.framework.testing import Outcome, decide_for, profile, world

HUGE = 1.7e308


def scores(values: list[float], kind: NormalizerKind, better: Better = "more", **bounds: float) -> list[float]:
    return normalize(np.array(values, dtype=np.float64), Scale(kind=kind, better=better, **bounds)).tolist()


def test_it_works() -> None:
    assert scores([0, 5, 10], "fixed", low=0, high=10) == [0, 50, 100]


@pytest.mark.parametrize(
    ("kind", "better", "values", "expected"),
    [
        pytest.param("fixed", "more", [2, 4, 6, 12], [0, 25, 50, 100], id="fixed: by the range, clipped"),
        pytest.param("fixed", "less", [2, 4, 6, 12], [100, 75, 50, 0], id="fixed, less: 100 − that"),
        pytest.param("fixed", "more", [4, 4], [25, 25], id="fixed: equal values stay what they are"),
        pytest.param("fixed", "more", [4], [25], id="fixed: one is scored like any other"),
        pytest.param("share", "more", [1, 3], [25, 75], id="share: of the sum"),
        pytest.param("share", "less", [1, 3], [75, 25], id="share, less: max + min − v of their sum"),
        pytest.param(
            "share", "less", [1, 2, 6], [6 / 12 * 100, 5 / 12 * 100, 1 / 12 * 100], id="share, less: of three"
        ),
        pytest.param("share", "more", [-1, 0, 3], [0, 20, 80], id="share: shifted so that the least is 0"),
        pytest.param(
            "share",
            "less",
            [-1, 0, 3],
            [4 / 7 * 100, 3 / 7 * 100, 0],
            id="share, less: shifted first",
        ),
        pytest.param("share", "more", [7, 7, 7, 7], [25] * 4, id="share: equal values: 100 ÷ n"),
        pytest.param("share", "less", [7, 7], [50] * 2, id="share, less: equal values: 100 ÷ n"),
        pytest.param("share", "more", [0, 0, 0, 0], [25] * 4, id="share: a sum of 0: 100 ÷ n"),
        pytest.param("share", "more", [-5, -5], [50, 50], id="share: equal negatives: 100 ÷ n"),
        pytest.param("share", "more", [5], [100], id="share: one gets it all"),
        pytest.param("min_max", "more", [10, 15, 20], [0, 50, 100], id="min_max: from the least to the most"),
        pytest.param("min_max", "less", [10, 15, 20], [100, 50, 0], id="min_max, less: 100 − that"),
        pytest.param("min_max", "more", [-3, -1, 1], [0, 50, 100], id="min_max: negatives are values like any"),
        pytest.param("min_max", "more", [4, 4], [100, 100], id="min_max: equal values: 100"),
        pytest.param("min_max", "less", [4, 4], [100, 100], id="min_max, less: equal values: 100"),
        pytest.param("min_max", "less", [4], [100], id="min_max: one: 100"),
        pytest.param("max_ratio", "more", [5, 10], [50, 100], id="max_ratio: of the most"),
        pytest.param("max_ratio", "less", [5, 10], [50, 0], id="max_ratio, less: 100 − that"),
        pytest.param("max_ratio", "more", [-5, 10], [0, 100], id="max_ratio: negatives count as 0"),
        pytest.param("max_ratio", "less", [-5, 10], [100, 0], id="max_ratio, less: negatives count as 0"),
        pytest.param("max_ratio", "more", [4, 4], [100, 100], id="max_ratio: equal values: 100"),
        pytest.param("max_ratio", "less", [4, 4], [0, 0], id="max_ratio, less: equal values: 0"),
        pytest.param("max_ratio", "more", [0, 0], [0, 0], id="max_ratio: a most of 0 gives 0"),
        pytest.param("max_ratio", "less", [0, -1], [100, 100], id="max_ratio, less: a most of 0 gives 100"),
        pytest.param("none", "more", [-5, 1e9], [-5, 1e9], id="none: the value itself"),
        pytest.param("none", "less", [-5, 1e9], [5, -1e9], id="none, less: turned round"),
        pytest.param("none", "less", [0], [0], id="none, less: nought stays nought"),
    ],
)
def test_formula(kind: NormalizerKind, better: Better, values: list[float], expected: list[float]) -> None:
    bounds = {"low": 2, "high": 10} if kind == "fixed" else {}
    assert scores(values, kind, better, **bounds) == pytest.approx(expected, abs=1e-6)


def test_scores_are_rounded_only_to_be_shown() -> None:
    """Three scores that are shown as 33.333333 add up to 100, because totals are rounded only once."""
    entries = [(f"m{n}", "metric", {"weight": 1, "args": {"metric": f"m{n}"}}) for n in range(3)]
    entries = [(name, plugin, {**entry, "normalizer": {"kind": "max_ratio"}}) for name, plugin, entry in entries]
    known = world({code: {"metrics": dict.fromkeys(("m0", "m1", "m2"), value)} for code, value in (("a", 1), ("b", 3))})
    outcome = decide_for(known, profile(*entries))
    assert outcome.totals["a"] == 100.0
    assert outcome.scores("m0")["a"].normalized == 33.333333


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_nobody(kind: NormalizerKind) -> None:
    assert scores([], kind) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("better", ["more", "less"])
@pytest.mark.parametrize("values", [[HUGE, -HUGE, 0], [HUGE, HUGE], [5e-324, 0], [5e-324, 1e-310], [1e-300, 1e300]])
def test_extreme_values_give_sound_scores(kind: NormalizerKind, better: Better, values: list[float]) -> None:
    if kind == "none":
        values = [value / 1e12 for value in values]
    assert within_bounds(np.array(scores(values, kind, better)), kind)


@pytest.mark.parametrize(("low", "high"), [(0, HUGE), (-1e300, 1e300), (0, 1e-300), (-3, -2)])
def test_extreme_ranges_give_sound_scores(low: float, high: float) -> None:
    assert scores([low, high], "fixed", low=low, high=high) == [0, 100]
    assert scores([low, high], "fixed", "less", low=low, high=high) == [100, 0]


@pytest.mark.parametrize("better", ["more", "less"])
@pytest.mark.parametrize("kind", KINDS)
def test_nought_has_no_sign(kind: NormalizerKind, better: Better) -> None:
    for low, high in ((0.0, 1.1), (0.0, 0.7), (0.1, 49.0), (0.0, 3.0)):
        found = scores([-0.0, low, high, high * 0.3], kind, better, low=low, high=high)
        assert not any(score == 0 and np.signbit(score) for score in found)


def test_the_better_way_is_one_of_two() -> None:
    """Any other word is refused; otherwise it would be taken for `less`."""
    with pytest.raises(ValueError, match="`better` is `more` or `less`, not 'bigger'"):
        Scale(kind="min_max", better="bigger")  # type: ignore[arg-type]  # as who runs no mypy writes it


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (nan, 1), (0, nan), (0, inf), (-HUGE, HUGE), (0, 1e-310)])
def test_a_fixed_range_must_be_one_to_reckon_on(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="low < high"):
        Scale(kind="fixed", low=low, high=high)


@pytest.mark.parametrize(
    ("found", "kind", "sound"),
    [
        pytest.param([0, 100], "fixed", True, id="both ends belong to it"),
        pytest.param([], "fixed", True, id="nobody is within bounds"),
        pytest.param([100.1], "min_max", False, id="above 100"),
        pytest.param([-0.1, 50], "share", False, id="below 0"),
        pytest.param([nan, 50], "max_ratio", False, id="NaN"),
        pytest.param([-5, 1e9], "none", True, id="none: anything finite"),
        pytest.param([nan], "none", False, id="none: but not NaN"),
        pytest.param([inf], "none", False, id="none: nor infinity"),
        pytest.param([-inf, 3], "none", False, id="none: of either sign"),
    ],
)
def test_bounds(found: list[float], kind: NormalizerKind, *, sound: bool) -> None:
    assert within_bounds(np.array(found, dtype=np.float64), kind) is sound


kinds = st.sampled_from(sorted(KINDS))
sides = st.sampled_from(["more", "less"])
columns = st.lists(st.floats(-1e140, 1e140) | st.integers(-5, 5).map(float), min_size=1, max_size=8)
scales = st.builds(
    lambda kind, better, low, span: Scale(kind=kind, better=better, low=low, high=low + span),
    kinds,
    sides,
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e6),
)


def found_for(values: list[float], scale: Scale) -> Floats:
    return normalize(np.array(values), scale)


@given(columns, scales)
def test_law_one_score_each_within_range_and_never_nan(values: list[float], scale: Scale) -> None:
    found = found_for(values, scale)
    assert found.shape == (len(values),)
    assert within_bounds(found, scale.kind)


@given(columns, scales)
def test_law_the_order_is_kept(values: list[float], scale: Scale) -> None:
    found = found_for(values, scale)
    in_order = found[np.argsort(values)]
    steps = np.diff(in_order if scale.better == "more" else in_order[::-1])
    assert (steps >= 0).all()


@given(columns, scales)
def test_law_equal_values_get_equal_scores(values: list[float], scale: Scale) -> None:
    found = found_for([*values, values[0]], scale)
    assert found[0] == found[-1]


@given(columns, scales)
def test_law_the_values_are_left_alone(values: list[float], scale: Scale) -> None:
    given_values = np.array(values)
    given_values.flags.writeable = False
    normalize(given_values, scale)
    assert given_values.tolist() == values


@given(columns.filter(lambda values: len(values) > 1), scales, st.data())
def test_law_under_fixed_nobody_else_matters(values: list[float], scale: Scale, data: st.DataObject) -> None:
    fixed = Scale(kind="fixed", better=scale.better, low=scale.low, high=scale.high)
    left_out = data.draw(st.integers(0, len(values) - 1))
    rest = [value for position, value in enumerate(values) if position != left_out]
    assert found_for(rest, fixed).tolist() == np.delete(found_for(values, fixed), left_out).tolist()


FIXED = profile(
    *(
        (
            name,
            "metric",
            {"weight": weight, "args": {"metric": name}, "normalizer": {"kind": "fixed", "low": 0, "high": 10}},
        )
        for name, weight in (("x", 3), ("y", 5))
    )
)


def decided(fleet: dict[str, tuple[float, float]], **fields: object) -> Outcome:
    known = world({code: {"metrics": {"x": x, "y": y}} for code, (x, y) in fleet.items()})
    return decide_for(known, FIXED, request_id="law", **fields)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.floats(-2, 12), st.floats(-2, 12)), min_size=2, max_size=6),
    st.data(),
)
def test_law_under_fixed_removing_a_loser_never_changes_the_winner(
    fleet: dict[str, tuple[float, float]], data: st.DataObject
) -> None:
    winner = decided(fleet).winner
    loser = data.draw(st.sampled_from(sorted(set(fleet) - {winner})))
    assert decided(fleet, exclude=[loser]).winner == winner


def test_under_share_removing_a_loser_may_change_the_winner() -> None:
    """Scores by `share` depend on the losers, too: without `c` the order of `a` and `b` changes. That is why `fixed` is
    the default.
    """
    entries = [
        (name, "metric", {"weight": 1, "args": {"metric": name}, "normalizer": {"kind": "share"}}) for name in "xy"
    ]
    values = {"a": (6, 3), "b": (3, 5), "c": (40, 0)}
    known = world({code: {"metrics": {"x": x, "y": y}} for code, (x, y) in values.items()})
    policy = profile(*entries)
    ranked = list(decide_for(known, policy, exclude=["c"]).totals)
    with_c = [idc for idc in decide_for(known, policy).totals if idc != "c"]
    assert ranked != with_c
