"""The locks of what is installed: each package has one exact version and hashes, which every installation checks."""

import re
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT

FOLDER = ROOT / "requirements"
LOCKS = ["base", "traces", "dev"]
PINNED = re.compile(r"(?P<name>[a-z0-9.-]+)(\[[a-z0-9,-]+\])?==(?P<version>[\w.!+]+)( ; .+)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
WANTED = re.compile(r"^[A-Za-z0-9.-]+", re.MULTILINE)


def requirements(lock: str) -> dict[str, str]:
    """The version of each requirement of a lock; an entry of any other form fails the test."""
    text = re.sub(r" *#.*", "", (FOLDER / f"{lock}.lock").read_text(encoding="utf-8")).replace("\\\n", " ")
    found = {}
    for entry in filter(None, map(str.strip, text.splitlines())):
        head, *hashes = re.split(r" +(?=--hash)", entry)
        pinned = PINNED.fullmatch(head.strip())
        assert pinned, f"{lock}.lock: {head} is not a name with one version"
        assert hashes, f"{lock}.lock: {head} has no hash"
        assert all(HASH.fullmatch(each.strip()) for each in hashes), head
        found[pinned["name"]] = pinned["version"]
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_it_works(lock: str) -> None:
    assert "django" in requirements(lock)


@pytest.mark.parametrize("lock", LOCKS)
def test_all_that_is_wanted_is_locked(lock: str) -> None:
    text = (FOLDER / f"{lock}.in").read_text(encoding="utf-8")
    wanted = {name.lower() for name in WANTED.findall(re.sub(r"^(#|-).*", "", text, flags=re.MULTILINE))}
    assert wanted <= set(requirements(lock))


@pytest.mark.parametrize(("smaller", "larger"), [("base", "traces"), ("traces", "dev")])
def test_what_is_tested_is_what_runs(smaller: str, larger: str) -> None:
    assert requirements(smaller).items() <= requirements(larger).items()


@pytest.mark.parametrize("file", ["Dockerfile", "requirements/install.sh"])
def test_hashes_are_asked_for(file: str) -> None:
    commands = Path(ROOT, file).read_text(encoding="utf-8").replace("\\\n", " ")
    installing = [line for line in commands.splitlines() if re.search(r"pip install|-m pip ", line)]
    assert installing
    assert all("--require-hashes" in line for line in installing)
