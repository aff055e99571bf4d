"""Rules for all files of the project: what they must not contain, how they are named, and that links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT, files

# Put together here, so that this file does not hold what it looks for.
REGISTRIES = [
    first + rest for first, rest in (("pypi.", "org"), ("python", "hosted"), ("npm", "js"), ("index", "-url"))
]
MACHINE_PATHS = re.compile(r"(?<![\w.}>/$-])/(?:work|root|tmp|home)/\w")
VAGUE = {"utils.py", "helpers.py", "common.py", "misc.py"}
SECURITY_EXCEPTION = re.compile(r"# (ruff: )?noqa: ([A-Z]+\d+, *)*S\d")
REASON = re.compile(r"noqa: [A-Z]+\d+(, *[A-Z]+\d+)* +(-|#) *\S.{5,}")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def texts() -> Iterator[tuple[Path, str]]:
    for file in files():
        try:
            yield file.relative_to(ROOT), file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def sources() -> Iterator[tuple[Path, str]]:
    return ((name, text) for name, text in texts() if name.suffix == ".py" and "migrations" not in name.parts)


def test_it_works() -> None:
    assert Path("idcsched/__init__.py") in dict(sources())


def test_no_file_names_a_registry_or_a_path_of_a_machine() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATHS.search(line) or any(registry in line for registry in REGISTRIES)
    ]
    assert not found, "\n".join(found)


def test_file_names_say_something() -> None:
    assert not [name for name, _ in sources() if name.name in VAGUE]


@pytest.mark.parametrize("page", files("*.md"), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_what_the_security_rules_let_through_says_why() -> None:
    """Each `noqa` of a security rule is followed by its reason."""
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in sources()
        for number, line in enumerate(text.splitlines(), 1)
        if SECURITY_EXCEPTION.search(line) and not REASON.search(line)
    ]
    assert not found, "\n".join(found)
