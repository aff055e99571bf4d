"""Test kit for authors of plugins: builders of worlds, profiles and decisions, and the laws that every plugin keeps.

    from idcsched.framework.testing import check_plugin, decide_for, profile, world

    def test_it_works():
        known = world({"a": {"metrics": {"noise": 40}}, "b": {"metrics": {"noise": 10}}})
        quiet = profile(("quiet", "quiet", {"weight": 1}), plugins=[Quiet])
        assert decide_for(known, quiet).answer.idc.code == "b"

    def test_it_keeps_the_laws():
        check_plugin(Quiet)

Nothing here needs a test runner: a law that does not hold raises AssertionError.
"""

from .builders import (
    ISPS,
    NOW,
    IdcSpec,
    LineSpec,
    Outcome,
    Value,
    affinity,
    decide_for,
    profile,
    request,
    snapshot,
    world,
)
from .conformance import check_plugin
from .samples import SAMPLE_REQUESTS, bare_world, sample_world

__all__ = [
    "ISPS",
    "NOW",
    "SAMPLE_REQUESTS",
    "IdcSpec",
    "LineSpec",
    "Outcome",
    "Value",
    "affinity",
    "bare_world",
    "check_plugin",
    "decide_for",
    "profile",
    "request",
    "sample_world",
    "snapshot",
    "world",
]
