"""A line with no purchased bandwidth carries no order, and makes no calculation fail."""

from idcsched.framework.testing import decide_for, profile, world

POLICY = profile(("flow", "network_flow", {"weight": 1}), ("bill", "billing_cost", {"weight": 1}))
KNOWN = world({"a": {"lines": {"ct": {"purchased_mbps": 0, "used_mbps": 0, "price_per_mbps": 10}}}})


def test_it_works() -> None:
    assert decide_for(KNOWN, POLICY, machines=[{"bandwidth_mbps": 10}]).rejections == {"a": "not_enough_bandwidth"}


def test_without_a_need_it_has_no_headroom() -> None:
    outcome = decide_for(KNOWN, POLICY)

    assert outcome.winner == "a"
    assert outcome.scores("flow")["a"].raw == 0.0
