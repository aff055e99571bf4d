"""The names that plugin authors build on: they may grow, they may not go."""

import importlib
import pkgutil

import pytest

import idcsched.framework

PROMISED = {
    "idcsched.framework.capacity": {"Usage", "demand", "headroom", "monthly_price", "room", "used_bandwidth"},
    "idcsched.framework.context": {"Cycle"},
    "idcsched.framework.cycle": {"decide", "queries"},
    "idcsched.framework.errors": {"FieldError", "IdcschedError", "Invalid", "PluginBroken", "PluginFailed"},
    "idcsched.framework.explain": {"answer"},
    "idcsched.framework.labels": {"Mask", "Rows"},
    "idcsched.framework.normalize": {"Floats", "Scale", "normalize"},
    "idcsched.framework.one_by_one": {"IdcView"},
    "idcsched.framework.outside": {"Query", "Reply"},
    "idcsched.framework.plugin": {"Missing", "NoArgs", "Note", "Plugin", "Reason", "Rejection", "Universe", "Verdict"},
    "idcsched.framework.snapshot": {"Reading", "Snapshot"},
    "idcsched.framework.testing": {
        "affinity",
        "check_plugin",
        "decide_for",
        "profile",
        "request",
        "sample_world",
        "snapshot",
        "world",
    },
}

MODULES = [
    found.name
    for found in pkgutil.walk_packages(idcsched.framework.__path__, "idcsched.framework.")
    if found.name != "idcsched.framework"
]


def test_it_works() -> None:
    assert set(PROMISED) <= set(MODULES)


@pytest.mark.parametrize("module", sorted(PROMISED))
def test_promised(module: str) -> None:
    assert PROMISED[module] <= set(importlib.import_module(module).__all__)


@pytest.mark.parametrize("module", MODULES)
def test_public_names_stand_in_all_and_are_there(module: str) -> None:
    loaded = importlib.import_module(module)
    assert loaded.__doc__
    assert len(loaded.__all__) == len(set(loaded.__all__))
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []
