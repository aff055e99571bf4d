"""`spread`: a tenant's or a business's machines apart, or together."""

from typing import Any

import pytest

from idcsched.framework.facts import HeadcountFact
from idcsched.framework.testing import Outcome, decide_for, profile, world

COUNTS = (
    HeadcountFact(idc="a", tenant="acme", business="live", machines=2),
    HeadcountFact(idc="a", tenant="acme", business="vod", machines=3),
    HeadcountFact(idc="b", tenant="other", business="live", machines=12),
)
ACME = {"tenant": "acme"}
LIVE = {"labels": {"business": "live"}}


def decided(fields: dict[str, Any], **args: Any) -> Outcome:
    known = world({"a": {}, "b": {}, "c": {}}, headcounts=COUNTS)
    return decide_for(known, profile(("spread", "spread", {"weight": 1, "args": args})), **fields)


def raws(fields: dict[str, Any], **args: Any) -> dict[str, float | None]:
    return {idc: score.raw for idc, score in decided(fields, **args).scores("spread").items()}


def test_it_works() -> None:
    outcome = decided(ACME)
    assert outcome.totals == {"b": 100.0, "c": 100.0, "a": 50.0}


@pytest.mark.parametrize(
    ("fields", "args", "expected"),
    [
        pytest.param(ACME, {}, {"a": 5, "b": 0, "c": 0}, id="a tenant's, of all its businesses"),
        pytest.param(LIVE, {"of": "business"}, {"a": 2, "b": 12, "c": 0}, id="a business's, of all tenants"),
        pytest.param({"tenant": "new"}, {}, {"a": 0, "b": 0, "c": 0}, id="somebody new has none"),
    ],
)
def test_raw_value(fields: dict[str, Any], args: dict[str, Any], expected: dict[str, float]) -> None:
    assert raws(fields, **args) == expected


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        pytest.param("disperse", {"a": 80, "b": 0, "c": 100}, id="disperse: fewer are better, fixed on 0..10"),
        pytest.param("concentrate", {"a": 20, "b": 100, "c": 0}, id="concentrate: more are better"),
    ],
)
def test_strategy(strategy: str, expected: dict[str, float]) -> None:
    scores = decided(LIVE, of="business", strategy=strategy).scores("spread")
    assert {idc: score.normalized for idc, score in scores.items()} == expected


@pytest.mark.parametrize(
    ("machines", "at_most", "out"),
    [
        pytest.param([], 5, set(), id="as many as may stand there"),
        pytest.param([], 4, {"a"}, id="one too many already"),
        pytest.param([{}], 5, {"a"}, id="one too many with this request"),
        pytest.param([{"count": 2}, {"count": 4}], 5, {"a", "b", "c"}, id="the request alone is too much"),
        pytest.param([{"count": 2}, {}], 8, set(), id="all entries count"),
    ],
)
def test_at_most(machines: list[dict[str, Any]], at_most: int, out: set[str]) -> None:
    outcome = decided({**ACME, "machines": machines}, at_most=at_most)
    assert set(outcome.rejections) == out


NEAR = {"owner": "acme", "total": 6.0, "limit": 5, "need": 1, "free": 0.0, "short_by": 1.0}


def test_the_reason_says_whose_and_how_many() -> None:
    (rejected,) = decided({**ACME, "machines": [{}]}, at_most=5).answer.rejected
    assert (rejected.code, rejected.detail) == ("too_many_machines", NEAR)
    assert rejected.reason == "would hold 6 of acme's machines, at most 5 may stand in one IDC"


@pytest.mark.parametrize("args", [{}, {"of": "business"}], ids=["tenant", "business"])
def test_a_request_that_does_not_say_whose_it_is_is_not_judged(args: dict[str, Any]) -> None:
    outcome = decided({}, at_most=1, **args)
    assert set(outcome.totals) == {"a", "b", "c"}
    assert outcome.scores("spread") == {}
