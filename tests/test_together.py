"""Tests that share something are done by one process; all others are handed out one by one."""

import re

import pytest

from tests.architecture.repository import ROOT
from tests.together import TOGETHER, Together

BEGINNINGS = [beginning for group in TOGETHER for beginning in group]


def scope(test: str) -> str:
    return Together.__new__(Together)._split_scope(test)


def test_it_works() -> None:
    system = {scope(f"tests/e2e/{file}.py::test_it_works") for file in ("test_make_run", "test_kills")}
    assert len(system) == 1
    assert scope("tests/browser/test_pages.py::test_it_works") == scope("tests/browser/test_languages.py::test_a[b]")
    assert scope("tests/browser/test_pages.py::test_it_works") not in system


def test_others_are_on_their_own() -> None:
    assert scope("tests/api/test_lists.py::test_a") != scope("tests/api/test_lists.py::test_b")
    assert scope("tests/api/test_lists.py::test_a[1]") != scope("tests/api/test_lists.py::test_a[2]")


class Node:
    """A process that is given no more."""

    shutting_down = True


def test_what_is_done_is_forgotten_once_all_of_it_is() -> None:
    """Until then the group is still to be handed to somebody else, should its process die."""
    node, group = Node(), ["tests/browser/test_a.py::test_a", "tests/browser/test_b.py::test_b"]
    tests = [*group, "tests/api/test_lists.py::test_a"]
    together = Together.__new__(Together)
    together.registered_collections = {node: tests}
    together.assigned_work = {node: {}}
    for test in tests:
        together.assigned_work[node].setdefault(scope(test), {})[test] = False

    left = []
    for number in range(len(tests)):
        together.mark_test_complete(node, number)
        left.append([*together.assigned_work[node]])
    assert left == [[scope(group[0]), scope(tests[2])], [scope(tests[2])], []]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_what_is_done_together_is_there(beginning: str) -> None:
    assert (ROOT / beginning).exists()


def test_a_test_is_in_one_group_at_most() -> None:
    assert not [(a, b) for a in BEGINNINGS for b in BEGINNINGS if a != b and b.startswith(a)]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_who_commits_for_real_stays_out(beginning: str) -> None:
    """The migrations' own rows are gone after such a test, and a group may be done before others."""
    named = ROOT / beginning
    files = [named] if named.is_file() else [*named.glob("test_*.py")]
    assert files
    assert not [file for file in files if re.search(r"transaction=True|transactional_db", file.read_text())]
