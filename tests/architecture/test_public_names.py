"""The names that authors of plugins and clients of the engine build on: some may be added, none may go."""

import importlib

import pytest

PROMISED = {
    "idcsched.framework.context": {"Cycle"},
    "idcsched.framework.answer": {"Answer", "Candidate", "Rejected", "Score"},
    "idcsched.framework.errors": {"FieldError", "IdcschedError", "Invalid", "PluginBroken", "PluginFailed"},
    "idcsched.framework.messages": {"Message", "_"},
    "idcsched.framework.normalize": {"Floats", "Scale", "normalize"},
    "idcsched.framework.external": {"Query", "Reply"},
    "idcsched.framework.plugin": {
        "Detail",
        "Figures",
        "Missing",
        "NoArgs",
        "Note",
        "Plugin",
        "Reason",
        "Rejection",
        "Universe",
        "Verdict",
    },
    "idcsched.framework.request": {"Client", "Hypothetical", "Machine", "Preference", "Request", "Spread"},
    "idcsched.framework.snapshot": {"Idcs", "Lines", "Reading", "Snapshot", "Taints"},
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


@pytest.mark.parametrize("module", sorted(PROMISED))
def test_it_works(module: str) -> None:
    loaded = importlib.import_module(module)
    assert PROMISED[module] <= set(loaded.__all__)
    assert not [name for name in loaded.__all__ if not hasattr(loaded, name)]
