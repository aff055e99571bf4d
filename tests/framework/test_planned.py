"""`planned`: the IDC and the lines that a request names are taken if they fit; otherwise the ranking decides."""

from typing import Any

import msgspec
import pytest

from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.question import Question
from idcsched.framework.recording import inputs_of, pack, unpack
from idcsched.framework.testing import NOW, LineSpec, Outcome, decide_for, profile, request, snapshot, world


def line(room: float, **more: Any) -> LineSpec:
    return {"purchased_mbps": 1000, "max_level": 1.0, "used_mbps": 1000 - room, **more}


KNOWN = world(
    {
        "a": {"lines": {"ct": line(900), "cu": line(500)}},
        "b": {"lines": {"ct": line(400), "cu": line(300), "cm": line(50)}},
        "c": {"lines": {"ct": line(900)}, "taints": ["broken=yes:NoSchedule"]},
        "elsewhere": {"region": "B", "lines": {"ct": line(950)}},
    }
)
ROOMY = profile("taint", ("network_flow", "network_flow", {"weight": 1}))


def decided(planned: Any = None, *, policy: Any = ROOMY, **fields: Any) -> Outcome:
    return decide_for(KNOWN, policy, region="A", machines=[{"bandwidth_mbps": 100}], planned=planned, **fields)


def lines_of(outcome: Outcome) -> list[str]:
    return [use.line for use in outcome.answer.lines]


def test_it_works() -> None:
    as_ranked, planned = decided(), decided({"idc": "b", "lines": ["cu"]})
    assert (as_ranked.winner, lines_of(as_ranked), as_ranked.answer.picked) == ("a", ["ct"], "best")
    assert (planned.winner, lines_of(planned), planned.answer.picked) == ("b", ["cu"], "planned")
    candidates = planned.answer.candidates or ()
    assert [(each.rank, each.idc, each.chosen is True) for each in candidates] == [(1, "a", False), (2, "b", True)]
    assert as_ranked.answer.margin is not None
    assert (as_ranked.answer.margin.runner_up, planned.answer.margin) == ("b", None), "nobody ranks behind b"


def test_without_lines_the_profile_chooses_them() -> None:
    assert lines_of(decided({"idc": "b"})) == ["ct"]


@pytest.mark.parametrize(
    ("planned", "fields"),
    [
        pytest.param({"idc": "c"}, {}, id="a taint"),
        pytest.param({"idc": "elsewhere"}, {}, id="in another region"),
        pytest.param({"idc": "b"}, {"exclude": ["b"]}, id="excluded"),
        pytest.param({"idc": "gone", "lines": ["ct"]}, {}, id="no such IDC"),
    ],
)
def test_where_it_does_not_fit_the_ranking_decides(planned: Any, fields: dict[str, Any]) -> None:
    outcome = decided(planned, **fields)
    assert (outcome.winner, lines_of(outcome), outcome.answer.picked) == ("a", ["ct"], "best")
    assert not any(each.chosen is True for each in outcome.answer.candidates or ())


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        pytest.param(["cm"], {}, id="no room"),
        pytest.param(["cu"], {"isp": "ct"}, id="of an ISP that is not wanted"),
        pytest.param(["gone"], {}, id="no such line"),
    ],
)
def test_lines_that_do_not_carry_it_are_not_used(lines: list[str], fields: dict[str, Any]) -> None:
    outcome = decided({"idc": "b", "lines": lines}, **fields)
    assert (outcome.winner, lines_of(outcome), outcome.answer.picked) == ("b", ["ct"], "planned")


def test_lines_of_several_isps() -> None:
    outcome = decided({"idc": "b", "lines": ["ct", "cu"]}, isp=["ct", "cu"], isp_match="all")
    assert (outcome.winner, lines_of(outcome)) == ("b", ["ct", "cu"])


def test_a_planned_line_needs_no_excuse() -> None:
    """A line that the request planned has no note about the roomiest line, which explains only what the profile
    chooses.
    """
    policy = profile(("network_flow", "network_flow", {"weight": 1}), line_choice="cheapest")
    assert decided({"idc": "b", "lines": ["cu"]}, policy=policy).answer.lines[0].note is msgspec.UNSET


@pytest.mark.parametrize("idc", ["b", "elsewhere"])
def test_it_is_on_record(idc: str) -> None:
    picture = snapshot(KNOWN)
    asked = request(picture, region="A", machines=[{"bandwidth_mbps": 100}], planned={"idc": idc, "lines": ["cu"]})
    inputs = unpack(pack(inputs_of(Question(asked, picture, profile(), now=NOW, reference="http-1"))))
    first, again = (
        answer(decide(Question(of, on, ROOMY, now=NOW, reference="http-1", labels={})), explain="full")
        for of, on in ((asked, picture), (inputs.request, inputs.snapshot()))
    )
    assert msgspec.json.encode(first) == msgspec.json.encode(again)
