"""Decisions that an earlier version recorded are read, and decided again.

Where the rules have changed since (`rules.py`), `again` is the answer of today, beside the `answer` of then.
"""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from idcsched.framework.cycle import decide
from idcsched.framework.decoding import convert
from idcsched.framework.explain import answer
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.recording import unpack
from idcsched.framework.registry import load_registry
from idcsched.framework.rules import changes_since

FOLDER = Path(__file__).parent.parent / "fixtures" / "recorded"
RECORDED = [
    pytest.param(json.loads(line), id=f"{file.name.partition('.')[0]}-{number}")
    for file in sorted(FOLDER.glob("*.jsonl.gz"))
    for number, line in enumerate(gzip.decompress(file.read_bytes()).splitlines())
]


def test_it_works() -> None:
    assert len(RECORDED) >= 40


@pytest.mark.parametrize("recorded", RECORDED)
def test_it_is_decided_as_the_rules_of_today_say(recorded: Any) -> None:
    inputs = unpack(base64.b64decode(recorded["inputs"]))
    profile = compile_profile(convert(recorded["profile"], ProfileBody), load_registry(), code="test", revision=1)
    decision = decide(inputs.question(profile))
    found = json.loads(msgspec.json.encode(answer(decision, explain="full")))
    for part in (found, *found["candidates"]):
        for name in ("shape_from", "shape_note", "chosen", "bill", "bill_unknown", "worth"):
            part.pop(name, None)  # answers say it since
    for rejected in found["rejected"]:
        rejected["detail"].pop("lines", None)  # answers show every line since
    for miss in found["near_misses"]:
        del miss["cures"], miss["detail"]  # answers tell them since
    expected = recorded.get("again", recorded["answer"])
    stale, once_stale = found.pop("stale"), expected.pop("stale")
    assert found == expected
    assert [value for value in once_stale if value in stale] == stale  # answers leave out rejected IDCs' values since
    assert changes_since(inputs.rules) or "again" not in recorded
