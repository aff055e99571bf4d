"""The first recommendation as `make run` shows it."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from idcsched.demo.credentials import credentials_file
from idcsched.demo.showcase import ORDER, show
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_revise

CREDENTIALS = {"portal": {"username": "portal", "password": "", "token": "idc_" + "x" * 40}}


@pytest.fixture
def shown(db: None, loaded: datetime, loaded_var: Path, settings: Any, live_server: Any) -> list[str]:
    settings.VAR_DIR = loaded_var
    lines = show(live_server.url, json.loads(credentials_file().read_text())).splitlines()
    recorder.flush()
    return lines


def answered() -> Decision:
    """The record of the answer that was shown, among those of the demo's past orders."""
    return Decision.objects.get(request_id=ORDER["request_id"])


def test_it_works(shown: list[str]) -> None:
    text = "\n".join(shown)

    assert "sz-ct-cu-01 · 深圳南山科技园双线 Shenzhen Nanshan" in text
    assert re.search(r"sz-ct-cu-01 adds (nothing|least) to the bill", text)
    assert "Why not foshan-ct-01, which has the lower list price (20 against 25 CNY per Mbps)? It would add" in text
    assert "Why not nanning-ct-cu-01, which has the most room" in text
    assert "untolerated taint commissioning=burn-in:NoSchedule" in text
    assert max(map(len, shown)) <= 100
    assert f"/console/decisions/{answered().id}/" in text
    assert answered().idc == "sz-ct-cu-01"
    assert answered().answer["shape_from"] == "learnt", "the demo knows its own business"
    (whose,) = re.findall(r"Its traffic counts by the shape of demo's live-streaming, .+?\.", " ".join(text.split()))
    assert re.search(r"learnt from \d+ lines over (39|40) days with an error of \d+%\.", whose)

    command = text[text.index("curl ") :]
    assert json.loads(command[command.index("{") : command.rindex("}") + 1]) == json.loads(json.dumps(ORDER))
    assert credentials_file().exists()
    assert json.loads(credentials_file().read_text())["portal"]["token"] in command


def test_it_says_of_the_next_best_what_would_have_changed_it(shown: list[str]) -> None:
    """It depends on the hour which IDC is next best, and whether any weight would bring it level."""
    margin = answered().answer["margin"]
    _before, _, after = " ".join(" ".join(shown).split()).partition(f"Why not {margin['runner_up']}")
    level = any(flip["weight"] is not None for flip in margin["flips"])
    said = "It would draw level only if" if level else "No other weight of a single scorer would bring it level."
    assert said in after.partition("Why not ")[0]


def test_a_refusal_is_told(db: None, live_server: Any) -> None:
    assert show(live_server.url, CREDENTIALS).startswith("The first recommendation was refused with 401: {")


def test_a_server_that_does_not_answer_is_told() -> None:
    assert show("http://127.0.0.1:9", CREDENTIALS).startswith("The first recommendation could not be had: ")


def test_a_profile_that_an_operator_has_changed_is_told_as_any_answer(shown: list[str], live_server: Any) -> None:
    body = {"plugins": [{"name": "available", "plugin": "available"}]}
    profile_revise(profile=Profile.objects.get(code="default"), body=body)
    text = show(live_server.url, json.loads(credentials_file().read_text()))

    assert "Profile default, revision 2" in text
