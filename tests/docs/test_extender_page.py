"""docs/extender.md: its example runs, and asks and answers just as the page shows."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from idcsched.framework.cycle import queries
from idcsched.framework.outside import Query
from idcsched.framework.profile import Profile
from idcsched.framework.testing import NOW, decide_for, profile, request, snapshot, world
from idcsched.outbound.asking import ask
from idcsched.outbound.client import MAX_BYTES
from idcsched.outbound.health import Patience
from plugins.extender import ASKED, COLUMNS, LONGEST_REASON
from tests.docs.pages import blocks, page, section, tables
from tests.outbound.peers import closed_port, loopback_allowed

PAGE = page("extender.md")
ENTRY = json.loads(blocks(section(PAGE, "In a profile"), "json")[0])
SENT = json.loads(blocks(section(PAGE, "What is sent"), "json")[0])
ANSWERED = json.loads(blocks(section(PAGE, "What is answered"), "json")[0])
KNOWN = world(
    {
        candidate["code"]: {
            "region": "gd",
            "tier": candidate["idc/tier"],
            "labels": {"building": candidate["label/building"]} if candidate["label/building"] else {},
            "metrics": {"power_load": candidate["metric/power_load"]},
            "lines": {"ct": {}},
        }
        for candidate in SENT["candidates"]
    }
)


def policy(url: str = ENTRY["args"]["url"]) -> Profile:
    """A profile with the entry that the page shows."""
    fields = {name: value for name, value in ENTRY.items() if name not in ("name", "plugin")}
    return profile((ENTRY["name"], ENTRY["plugin"], {**fields, "args": {**ENTRY["args"], "url": url}}))


def asked(rules: Profile) -> Query:
    fields = {name: value for name, value in SENT["request"].items() if name != "labels"}
    (query,) = queries(request(KNOWN, **fields), snapshot(KNOWN), rules, now=NOW, labels=SENT["request"]["labels"])
    return query


@pytest.fixture
def service(tmp_path: Path, settings: Settings) -> Iterator[str]:
    """The example, started as a reader would, on a port that is free."""
    (source,) = blocks(section(PAGE, "An extender in Python"), "python")
    port = closed_port()
    assert source.count("9000") == 1
    file = tmp_path / "parts.py"
    file.write_text(source.replace("9000", str(port)), encoding="utf-8")
    with (
        subprocess.Popen([sys.executable, str(file)], stderr=subprocess.DEVNULL) as process,
        loopback_allowed(settings),
    ):
        yield f"http://127.0.0.1:{port}/idcs"
        process.terminate()


def patiently(query: Query) -> Any:
    """The document, as soon as the service has started."""
    for _ in range(100):
        reply = ask([query])[query.plugin]
        if reply.error is None:
            return reply.document
        time.sleep(0.1)
    raise AssertionError(reply.error)


def test_it_works(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcsched.outbound.client.Patience", lambda: Patience(failures=10_000))
    rules = policy(service)
    assert patiently(asked(rules)) == ANSWERED
    outcome = decide_for(KNOWN, rules, outside=patiently)
    assert outcome.totals == {"gz-ct-01": 60.0 * 20, "sz-ct-01": 50.0 * 20}
    assert outcome.rejections == {"gz-ct-02": "extender_rejected"}


def test_what_is_sent_is_what_the_page_shows() -> None:
    assert asked(policy()).body == SENT


def test_the_fields_and_attributes_are_those_that_the_page_names() -> None:
    text = " ".join(section(PAGE, "What is sent").split())
    assert f"`{' '.join(ASKED)}`" in text
    told = " ".join(row["attribute"] for row in tables(section(PAGE, "What is sent"))[0])
    assert {part.removeprefix("idc/") for part in told.replace(",", "").split() if part.startswith("idc/")} == {
        *COLUMNS,
        "isp",
    }


def test_the_limits_are_those_that_the_page_names() -> None:
    assert (MAX_BYTES, LONGEST_REASON) == (4 * 2**20, 500)
    patience = Patience()
    assert (patience.failures, patience.rest_seconds) == (5, 10)
