"""What a decision claims in the chosen IDC: all that the request needs, each with the ceiling that the filters saw."""

from typing import Any

import pytest

from idcsched.framework.capacity import Claim
from idcsched.framework.claiming import claims_of, narrowed_to, on_given_lines
from idcsched.framework.context import Cycle
from idcsched.framework.errors import PluginFailed
from idcsched.framework.plugin import Plugin
from idcsched.framework.testing import IdcSpec, decide_for, profile, world

FLEET: dict[str, IdcSpec] = {
    "a": {
        "lines": {"ct": {"used_mbps": 100}, "cu": {"used_mbps": 200, "pending_mbps": 50}},
        "stock": {"cpu": 64},
    }
}
ASKED = {"machines": [{"count": 2, "bandwidth_mbps": 150, "cpu": 4, "memory_gib": 8}]}
BOTH = ("network_flow", "resource")


def claimed(*plugins: Any, **asked: Any) -> list[tuple[str, str | None, float, float | None]]:
    decision = decide_for(world(FLEET), profile(*plugins), **{**ASKED, **asked}).decision
    found = claims_of(narrowed_to(decision, 0), decision.profile)
    return [(claim.resource, claim.line, claim.amount, claim.ceiling) for claim in found]


def test_it_works() -> None:
    """The line's pending 50 Mbps do not lower its ceiling, because the ledger itself compares all claims with it."""
    assert claimed(*BOTH, isp="cu") == [
        ("cpu", None, 8, 64),
        ("memory_gib", None, 16, None),
        ("bandwidth_mbps", "cu", 300, 700),
    ]


def test_every_line_of_an_all() -> None:
    assert claimed(*BOTH, isp=["cu", "ct"], isp_match="all")[2:] == [
        ("bandwidth_mbps", "ct", 300, 800),
        ("bandwidth_mbps", "cu", 300, 700),
    ]


@pytest.mark.parametrize(
    ("plugins", "ceilings"),
    [
        pytest.param(("network_flow",), [None, None, 800], id="stock that nobody judges"),
        pytest.param(("resource",), [64, None, None], id="bandwidth that nobody judges"),
        pytest.param((), [None, None, None], id="nothing is judged"),
    ],
)
def test_what_no_plugin_judges_is_taken_without_a_limit(plugins: tuple[str, ...], ceilings: list[float]) -> None:
    assert [ceiling for *_, ceiling in claimed(*plugins, isp="ct")] == ceilings


def test_a_request_that_needs_nothing_takes_nothing() -> None:
    assert claimed(*BOTH, machines=[{"count": 3}]) == []


def test_claims_are_known_by_what_they_are_about() -> None:
    assert Claim(resource="cpu", amount=1).key == ("", "cpu")
    assert Claim(resource="bandwidth_mbps", line="ct", amount=1).key == ("ct", "bandwidth_mbps")


@pytest.mark.parametrize(
    ("codes", "kept"),
    [
        pytest.param(("ct",), True, id="the line that is chosen"),
        pytest.param(("cu",), True, id="another that carries it"),
        pytest.param(("cm",), False, id="a line that is gone"),
        pytest.param((), True, id="no line, where none was chosen"),
    ],
)
def test_pinned_to_a_line(codes: tuple[str, ...], *, kept: bool) -> None:
    """A recommendation is kept on its own line, though another would be chosen today."""
    decision = decide_for(world(FLEET), profile(*BOTH), **ASKED).decision
    ctx = on_given_lines(narrowed_to(decision, 0), codes)
    assert (ctx is not None) is kept
    if ctx is not None:
        assert [claim.line for claim in claims_of(ctx, decision.profile) if claim.line] == list(codes)


def test_pinned_to_a_line_that_is_too_full() -> None:
    fleet: dict[str, IdcSpec] = {"a": {"lines": {"ct": {"used_mbps": 0}, "cu": {"used_mbps": 700}}}}
    decision = decide_for(world(fleet), profile("network_flow"), **ASKED).decision
    assert on_given_lines(narrowed_to(decision, 0), ("cu",)) is None


class Clumsy(Plugin):
    """A plugin that raises when it is asked for its claims."""

    name = "clumsy"

    def reserve(self, ctx: Cycle) -> list[Claim]:
        raise ZeroDivisionError("no idea")


def test_a_plugin_that_fails_to_claim_fails_the_order() -> None:
    decision = decide_for(world(FLEET), profile(*BOTH, "clumsy", plugins=[Clumsy]), **ASKED).decision
    with pytest.raises(PluginFailed) as failure:
        claims_of(narrowed_to(decision, 0), decision.profile)
    assert failure.value.params == {"plugin": "clumsy", "point": "reserve", "error": "ZeroDivisionError: no idea"}
