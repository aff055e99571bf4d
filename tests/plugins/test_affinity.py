"""`affinity`: what draws requests to an IDC or keeps them off."""

from dataclasses import replace
from typing import Any

import pytest

from idcsched.framework.facts import AffinityFact
from idcsched.framework.testing import NOW, affinity, decide_for, profile, world

FILTER = profile("affinity", tie_breakers=[])
SCORE = profile(("affinity", "affinity", {"weight": 1}))
CENTER = {"match_labels": {"idc/tier": "center"}}
LIVE = {"match_labels": {"business": "live"}}


def known(*affinities: AffinityFact) -> Any:
    return world({"a": {}, "b": {"tier": "center"}, "c": {"tier": "center"}}, affinities=affinities)


def raws(*affinities: AffinityFact, **fields: Any) -> dict[str, float | None]:
    return {idc: score.raw for idc, score in decide_for(known(*affinities), SCORE, **fields).scores("affinity").items()}


def fits(*affinities: AffinityFact, **fields: Any) -> set[str]:
    return set(decide_for(known(*affinities), FILTER, **fields).totals)


def test_it_works() -> None:
    outcome = decide_for(known(affinity("prefer", "b", weight=100)), SCORE)
    assert outcome.totals == {"b": 100.0, "a": 50.0, "c": 50.0}


@pytest.mark.parametrize(
    ("affinities", "fields", "expected"),
    [
        pytest.param([], {}, {"a": 0, "b": 0, "c": 0}, id="nothing: zero"),
        pytest.param([affinity("prefer", "b", weight=5)], {}, {"a": 0, "b": 5, "c": 0}, id="one IDC"),
        pytest.param([affinity("prefer", "b", weight=-5)], {}, {"a": 0, "b": -5, "c": 0}, id="anti-affinity"),
        pytest.param(
            [affinity("prefer", selector=CENTER, weight=5)], {}, {"a": 0, "b": 5, "c": 5}, id="whoever a selector names"
        ),
        pytest.param(
            [affinity("prefer", selector=CENTER, weight=5), affinity("prefer", "b", weight=2)],
            {},
            {"a": 0, "b": 7, "c": 5},
            id="weights add up",
        ),
        pytest.param(
            [affinity("prefer", "b", weight=5)],
            {"prefer": [{"weight": -3, **CENTER}, {"weight": 1, "match_labels": {"idc/code": "c"}}]},
            {"a": 0, "b": 2, "c": -2},
            id="the request's own add to the operators'",
        ),
        pytest.param(
            [affinity("prefer", "b", weight=5, request_selector=LIVE)], {}, {"a": 0, "b": 0, "c": 0}, id="not about it"
        ),
        pytest.param(
            [affinity("prefer", "b", weight=5, request_selector=LIVE)],
            {"labels": {"business": "live"}},
            {"a": 0, "b": 5, "c": 0},
            id="about requests of its labels",
        ),
        pytest.param(
            [affinity("require", "b", weight=5), affinity("forbid", "a", weight=5)],
            {},
            {"b": 0},
            id="only prefer has a weight",
        ),
    ],
)
def test_raw_value(affinities: list[AffinityFact], fields: dict[str, Any], expected: dict[str, float]) -> None:
    assert raws(*affinities, **fields) == expected


@pytest.mark.parametrize(
    ("affinities", "fields", "expected"),
    [
        pytest.param([affinity("require", "b")], {}, {"b"}, id="require: only there"),
        pytest.param(
            [affinity("require", "b"), affinity("require", "a")], {}, {"a", "b"}, id="require: where some such row says"
        ),
        pytest.param([affinity("require", selector=CENTER)], {}, {"b", "c"}, id="require: a selector"),
        pytest.param(
            [affinity("require", "b", request_selector=LIVE)], {}, {"a", "b", "c"}, id="require: other requests"
        ),
        pytest.param([affinity("forbid", "b")], {}, {"a", "c"}, id="forbid: not there"),
        pytest.param([affinity("forbid", "b"), affinity("forbid", "c")], {}, {"a"}, id="forbid: adds up"),
        pytest.param([affinity("forbid", selector=CENTER)], {}, {"a"}, id="forbid: a selector"),
        pytest.param(
            [affinity("forbid", "b", request_selector=LIVE)], {}, {"a", "b", "c"}, id="forbid: other requests"
        ),
        pytest.param(
            [affinity("require", selector=CENTER), affinity("forbid", "b")], {}, {"c"}, id="require AND not forbid"
        ),
        pytest.param([affinity("prefer", "b", weight=-100)], {}, {"a", "b", "c"}, id="prefer never rejects"),
        pytest.param(
            [affinity("require", "b", request_selector={"match_labels": {"tenant": "acme"}})],
            {"tenant": "acme"},
            {"b"},
            id="the tenant stands among the labels",
        ),
        pytest.param(
            [affinity("require", "b", request_selector={"match_labels": {"tenant": "acme"}})],
            {"tenant": "other"},
            {"a", "b", "c"},
            id="another tenant is not meant",
        ),
        pytest.param(
            [affinity("forbid", "b", request_selector=[LIVE, {"match_labels": {"business": "vod"}}])],
            {"labels": {"business": "vod"}},
            {"a", "c"},
            id="request selectors are ORed",
        ),
    ],
)
def test_who_fits(affinities: list[AffinityFact], fields: dict[str, Any], expected: set[str]) -> None:
    assert fits(*affinities, **fields) == expected


def test_rejections_say_which_of_the_two_it_was() -> None:
    outcome = decide_for(known(affinity("require", selector=CENTER), affinity("forbid", "b")), FILTER)
    assert outcome.rejections == {"a": "affinity_required", "b": "affinity_forbidden"}


def test_a_selector_stays_alive_for_new_idcs() -> None:
    rule = affinity("require", selector=CENTER)
    joined = world({"a": {}, "new": {"tier": "center"}}, affinities=[rule])
    assert set(decide_for(joined, FILTER).totals) == {"new"}


@pytest.mark.parametrize(
    ("weight", "score"), [(-250, 0.0), (-100, 0.0), (-50, 25.0), (0, 50.0), (50, 75.0), (250, 100.0)]
)
def test_fixed_from_minus_100_to_100(weight: int, score: float) -> None:
    outcome = decide_for(known(affinity("prefer", "a", weight=weight)), SCORE)
    assert outcome.scores("affinity")["a"].normalized == score


@pytest.mark.parametrize(
    ("starts_at", "ends_at", "in_force"),
    [
        pytest.param(NOW + 1, None, False, id="before its start"),
        pytest.param(NOW, None, True, id="at its start"),
        pytest.param(NOW - 1, NOW + 1, True, id="during"),
        pytest.param(None, NOW, False, id="at its end"),
        pytest.param(None, NOW - 1, False, id="after its end"),
    ],
)
def test_outside_its_window_an_affinity_does_not_exist(
    starts_at: float | None, ends_at: float | None, *, in_force: bool
) -> None:
    window = {"starts_at": starts_at, "ends_at": ends_at}
    assert ("a" not in fits(affinity("forbid", "a", **window))) is in_force
    assert raws(affinity("prefer", "a", weight=5, **window))["a"] == (5.0 if in_force else 0.0)


def test_not_listed_it_neither_filters_nor_scores() -> None:
    outcome = decide_for(known(affinity("forbid", "a"), affinity("require", "b")))
    assert set(outcome.totals) == {"a", "b", "c"}


def test_a_rejection_tells_which_rows_it_was() -> None:
    """An IDC that misses a requirement is told the rows that require other IDCs; a forbidden one is told the rows that
    forbid it.
    """
    rows = [
        replace(affinity("require", "a"), id=1, reason="Contract 7."),
        replace(affinity("forbid", "b"), id=2, reason="Too loud."),
        replace(affinity("forbid", selector=CENTER), id=3),
    ]
    rejected = {each.idc: each for each in decide_for(known(*rows[1:]), FILTER).answer.rejected}
    assert rejected["b"].detail == {"affinities": [2, 3], "reasons": ["Too loud."]}
    assert rejected["c"].detail == {"affinities": [3], "reasons": []}
    (first, _) = decide_for(known(rows[0]), FILTER).answer.rejected
    assert first.detail == {"affinities": [1], "reasons": ["Contract 7."]}
