"""The files of others that the console loads are those that `VENDORED.md` names, byte for byte."""

import re
from hashlib import sha256

from tests.architecture.repository import ROOT

FOLDER = ROOT / "idcsched" / "static" / "console" / "vendor"
OURS = {"VENDORED.md", "LICENSES.txt"}
ROW = re.compile(r"^\| (?P<file>\S+) \|(?P<rest>.*)\| `(?P<sum>[0-9a-f]{64})` \|$", re.MULTILINE)


def test_it_works() -> None:
    named = {row["file"]: row["sum"] for row in ROW.finditer((FOLDER / "VENDORED.md").read_text(encoding="utf-8"))}
    there = {file.name: sha256(file.read_bytes()).hexdigest() for file in FOLDER.iterdir() if file.name not in OURS}
    assert named == there


def test_each_has_its_licence() -> None:
    licences = (FOLDER / "LICENSES.txt").read_text(encoding="utf-8")
    for row in ROW.finditer((FOLDER / "VENDORED.md").read_text(encoding="utf-8")):
        what, version, *_rest = (cell.strip() for cell in row["rest"].split("|"))
        assert f"{what.split(',')[0]} {version}" in licences, row["file"]
