"""A plugin of somebody else's is installed, keeps the laws, is found by its entry point, and decides."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.repository import ROOT
from tests.e2e.installation import Installation
from tests.third_party.packages import installed

pytestmark = pytest.mark.long

LOAD = """
from django.utils import timezone
from idcsched.audit.context import origin_set
from idcsched.inventory.services import idc_create, region_create
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, metric_create, samples_store

now = timezone.now()
known = {"coal": (800, 1.1), "hydro": (40, 1.4)}
with origin_set(actor="test", via="command"):
    region_create(code="north")
    for code in known:
        idc_create(code=code, region="north")
    for code in ("grid_co2", "pue"):
        metric_create(code=code, direction="lower", scope="idc")
    values = [(idc, code, value) for idc, pair in known.items() for code, value in zip(("grid_co2", "pue"), pair)]
    samples_store(samples=[Sample(idc=idc, line=None, metric=code, value=value, at=now) for idc, code, value in values],
                  now=now)
    profile_create(code="green", body={"plugins": [{"name": "carbon", "plugin": "carbon", "weight": 10}]})
"""
ASK = ("recommend", "--region", "north", "--json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed example in `folder/installed`, and its source in `folder/carbon`."""
    found = tmp_path_factory.mktemp("third-party")
    installed(found, "carbon")
    return found


@pytest.fixture(scope="module")
def installation(folder: Path) -> Installation:
    """An installation that has the example, two IDCs, and a profile that uses it."""
    made = Installation(folder, PYTHONPATH=str(folder / "installed"))
    made.migrate()
    made.python(LOAD)
    return made


def without(installation: Installation, folder: Path) -> Installation:
    """The same installation's database, used without the example plugin."""
    return Installation(folder, VAR_DIR=str(installation.var))


def answered(installation: Installation, *options: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(installation.manage(*ASK, *options))
    return answer


def test_it_works(installation: Installation) -> None:
    answer = answered(installation, "--profile", "green")

    assert [(each["idc"], each["score"]) for each in answer["candidates"]] == [("hydro", 944.0), ("coal", 120.0)]
    assert answer["candidates"][0]["scores"]["carbon"]["raw"] == 56.0


def test_it_is_not_named_as_broken(installation: Installation) -> None:
    assert installation.manage("check").startswith("System check identified no issues")


def test_its_own_tests_pass_on_what_is_installed(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "carbon" / "test_carbon.py", tmp_path)  # away from the source, so that it can't be imported
    paths = os.pathsep.join([str(folder / "installed"), str(ROOT)])
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:django", "--import-mode", "importlib")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_carbon.py"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_once_it_is_gone_only_the_profile_that_needs_it_is_refused(installation: Installation, folder: Path) -> None:
    left = without(installation, folder)
    refused = left.tried(*ASK, "--profile", "green")

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert answered(left, "--profile", "default")["result"] == "scheduled"
