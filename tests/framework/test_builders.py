"""The builders of `idcsched.framework.testing`: a world, a profile and a decision in few words."""

import pytest

from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.framework.facts import MetricFact, TaintFact
from idcsched.framework.request import Request
from idcsched.framework.testing import (
    NOW,
    SAMPLE_REQUESTS,
    bare_world,
    decide_for,
    profile,
    request,
    sample_world,
    snapshot,
    world,
)


def test_it_works() -> None:
    known = world({"a": {"metrics": {"noise": 40}}, "b": {"metrics": {"noise": 10}}})
    quiet = profile(("quiet", "metric", {"weight": 1, "args": {"metric": "noise", "better": "less"}}))
    outcome = decide_for(known, quiet)
    assert (outcome.winner, outcome.totals) == ("b", {"b": 100.0, "a": 0.0})
    assert (outcome.decision.code(0), outcome.rejections) == ("a", {})


def test_idcs_stand_in_region_a_unless_said_otherwise() -> None:
    known = world({"a": {}, "b": {"region": "B"}})
    assert [(region.code, region.parent) for region in known.regions] == [("A", None), ("B", None)]


def test_values_are_as_of_now_or_of_an_age_ago() -> None:
    (samples,) = world(
        {"a": {"metrics": {"x": 1}}, "b": {"metrics": {"x": (2, 60)}}, "c": {"metrics": {"x": None}}}
    ).samples
    assert (samples.subjects.tolist(), samples.values.tolist()) == ([0, 1], [1, 2])
    assert samples.at.tolist() == [NOW, NOW - 60]


def test_metrics_that_are_defined_are_there_though_nobody_has_one() -> None:
    known = world({"a": {}}, metrics=[MetricFact(code="x", max_age=5)])
    assert [(samples.metric.code, samples.values.size) for samples in known.samples] == [("x", 0)]


@pytest.mark.parametrize(
    ("taint", "fact"),
    [
        ("k=v:NoSchedule", TaintFact(idc="a", key="k", value="v", effect="NoSchedule")),
        ("k:NoExecute", TaintFact(idc="a", key="k", value="", effect="NoExecute")),
        ({"key": "k", "starts_at": 5.0}, TaintFact(idc="a", key="k", starts_at=5.0)),
    ],
)
def test_taints(taint: str, fact: TaintFact) -> None:
    assert world({"a": {"taints": [taint]}}).taints == (fact,)


def test_what_an_idc_cannot_have_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        world({"a": {"colour": "red"}})  # type: ignore[typeddict-unknown-key]


def test_a_request_for_nowhere_is_one_for_everywhere() -> None:
    known = world({"a": {}}, regions={"A": None, "B": None, "C": "B"})
    assert request(known).regions == request(snapshot(known)).regions == ("A", "B")
    assert request(known, only=["a"]).region is None
    assert request(known, region="C").region == "C"


def test_requests_are_checked_like_any() -> None:
    with pytest.raises(Invalid):
        decide_for(world({"a": {}}), top=0)


def test_a_snapshot_may_be_used_again() -> None:
    picture = snapshot(world({"a": {}}))
    assert decide_for(picture).winner == decide_for(picture, now=NOW + 5).winner == "a"


def test_the_tenant_stands_among_the_labels_as_the_server_puts_it() -> None:
    decision = decide_for(world({"a": {}}), tenant="acme", labels={"business": "live"}).decision
    assert decision.cycle.labels == {"business": "live", "tenant": "acme"}


def test_the_sample_requests_fit_the_sample_worlds() -> None:
    for known in (sample_world(), bare_world()):
        assert snapshot(known).size == 6
        for fields in SAMPLE_REQUESTS:
            assert isinstance(request(known, **fields), Request)
            decide_for(known, **fields)


def test_the_sample_world_has_a_bit_of_everything() -> None:
    known = sample_world()
    assert known.lines.codes
    assert known.taints
    assert known.affinities
    assert known.headcounts
    assert known.lines.busy_bits.any()
    assert {region.parent for region in known.regions} == {None, "country", "south"}


def test_a_profile_of_nothing_is_strict_about_the_rest() -> None:
    with pytest.raises(Invalid):
        profile(colour="red")
    assert convert({"region": "A"}, Request).region == "A"
