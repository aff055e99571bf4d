"""What `requirements/install.sh` installs is what the locks say, whatever was published since."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution, version
from pathlib import Path
from shutil import copy
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.architecture.repository import ROOT

REQUIREMENTS = ROOT / "requirements"
LOCKED = {"idcsched-report": "1.0", "idcsched-cover": "1.4", "idcsched-plain": "0.9"}
NEWER = dict.fromkeys(LOCKED, "2.0")
NEEDS = {"idcsched-report": ["idcsched-cover[toml]>=1.2", "idcsched-plain"]}


def wheel(folder: Path, name: str, release: str) -> Path:
    """Write a package that has nothing in it but its name, its version and what it needs."""
    stem = f"{name.replace('-', '_')}-{release}"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {release}", "Provides-Extra: toml"]
    lines += [f"Requires-Dist: {needed}" for needed in NEEDS.get(name, [])]
    path = folder / f"{stem}-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{stem}.dist-info/RECORD", "")
    return path


def test_a_newer_release_within_reach_is_not_installed(tmp_path: Path) -> None:
    """Three packages are locked, one of which another needs with an extra; each has a newer release."""
    published, requirements = tmp_path / "published", tmp_path / "project" / "requirements"
    published.mkdir()
    requirements.mkdir(parents=True)
    copy(REQUIREMENTS / "install.sh", requirements)
    locked = {name: wheel(published, name, release) for name, release in LOCKED.items()}
    for name, release in NEWER.items():
        wheel(published, name, release)
    lines = [
        f"{name}=={LOCKED[name]} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for name, path in locked.items()
    ]
    for lock in ("base.lock", "dev.lock"):
        (requirements / lock).write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        ["sh", requirements / "install.sh", "dev"],
        env=os.environ
        | {
            "PYTHON": str(Path(sys.base_prefix, "bin", "python3")),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(published),
            "PIP_CONFIG_FILE": os.devnull,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [requirements.parent / ".venv" / "bin" / "pip", "list", "--format", "json", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    )
    installed = {package["name"]: package["version"] for package in json.loads(listed.stdout)}
    assert {name: release for name, release in installed.items() if name.startswith("idcsched-")} == LOCKED


def test_the_packages_of_the_tests_need_nothing_that_is_not_locked() -> None:
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["base", "dev"])
def test_each_lock_is_complete_by_itself(name: str) -> None:
    """The installer resolves no dependencies, so a package that a lock leaves out would be missing."""
    locked = _locked(f"{name}.lock")
    assert {package: version(package) for package in locked} == locked
    assert _needed(_asked(f"{name}.in")) == locked.keys()


def _locked(lock: str) -> dict[str, str]:
    """Return the releases that a lock names for this interpreter."""
    pins = re.findall(r"^[^\s#].*?(?= \\$)", (REQUIREMENTS / lock).read_text(encoding="utf-8"), re.MULTILINE)
    return {
        _normal(pin.name): str(pin.specifier).removeprefix("==")
        for pin in map(Requirement, pins)
        if pin.marker is None or pin.marker.evaluate()
    }


def _asked(name: str) -> Iterator[Requirement]:
    """Yield what a file of requirements asks for, with the files that it includes."""
    for line in (REQUIREMENTS / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from _asked(line.removeprefix("-r "))
        elif line and not line.startswith(("#", "-c ")):
            yield Requirement(line)


def _needed(asked: Iterable[Requirement]) -> set[str]:
    """Return the packages that are needed for `asked`, those that an extra brings included."""
    names, seen, pending = set(), set(), list(asked)
    while pending:
        requirement = pending.pop()
        name, extras = _normal(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        names.add(name)
        pending += [
            needed
            for needed in map(Requirement, distribution(name).requires or ())
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras | {""})
        ]
    return names


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
