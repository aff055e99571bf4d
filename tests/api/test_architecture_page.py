"""`docs/architecture.md` names the files that a request goes through."""

import re
import sys
from pathlib import PurePath
from types import FrameType
from typing import Any

import pytest

from tests.api.conftest import Api
from tests.architecture.repository import ROOT
from tests.docs.pages import page, section

ORDER = {"region": "A", "machines": [{"count": 1, "bandwidth_mbps": 1}]}
ELSEWHERE = {
    "messages",
    "origin",
    "models",
    "fields",
    "row_check",
    "context",
    "places",
    "deadline",
    "background",
    "keys",
}
"""Files of which a request runs a line or two: marks of texts, models, fields, places for threads."""


def named() -> set[str]:
    files = re.findall(r"`([a-z_/]+)`", section(page("architecture.md"), "One request through the files"))
    return {PurePath(file).name for file in files}


@pytest.mark.parametrize("action", ["recommend", "reserve"])
def test_it_names_each_file_that_a_request_enters(seed: Api, portal: Api, action: str) -> None:
    question = {**ORDER, "action": action, "profile": "seed-example"}
    portal.call("POST", "/schedule/", question)
    entered = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            entered.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        portal.call("POST", "/schedule/", question)
    finally:
        sys.setprofile(None)
    ours = {PurePath(file) for file in entered if file.startswith(str(ROOT / "idcsched"))}
    assert len(ours) > 40
    assert {file.stem for file in ours} - named() - ELSEWHERE == set()


def test_each_file_and_package_that_it_names_is_there() -> None:
    files = set(ROOT.glob("idcsched/**/*.py"))
    there = {file.stem for file in files} | {file.parent.name for file in files}
    assert named() - there - {"plugins"} == set()
