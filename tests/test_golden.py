"""Whole answers, pinned: the inputs of some decisions on the demo, as recorded, must go on giving the same answers.

After a change that is meant to change answers: pytest tests/test_golden.py --update-golden, and read the diff.
"""

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

FOLDER = Path(__file__).parent.parent / "fixtures" / "golden"
CASES = sorted(path.stem for path in FOLDER.glob("*.inputs"))


def answered(case: str) -> Any:
    """The whole answer to a recorded question, as the API would show it."""
    inputs = unpack((FOLDER / f"{case}.inputs").read_bytes())
    document = json.loads((FOLDER / f"{case}.profile.json").read_text())
    profile = compile_profile(convert(document, ProfileBody), load_registry(), code="golden", revision=1)
    decision = decide(inputs.question(profile))
    return json.loads(msgspec.json.encode(answer(decision, explain="full")))


def test_it_works() -> None:
    assert len(CASES) >= 10


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_the_same(case: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{case}.answer.json"
    found = answered(case)
    if request.config.getoption("--update-golden"):
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")

    assert found == json.loads(path.read_text())
