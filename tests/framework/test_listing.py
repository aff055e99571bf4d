"""The lists of an explanation, read page by page, also beyond what one answer shows."""

import pytest

from idcsched.framework.explain import MOST_SHOWN, ListName, page_of_list
from idcsched.framework.testing import IdcSpec, decide_for, profile, world

METRIC = ("x", "metric", {"weight": 2, "args": {"metric": "x"}})
COUNT = MOST_SHOWN + 3
FLEET: dict[str, IdcSpec] = {
    **{f"good{number:04}": {} for number in range(COUNT)},
    **{f"bad{number:04}": {"taints": ["k:NoSchedule"]} for number in range(COUNT)},
    "seen": {"metrics": {"x": 1}},
}
LISTS: tuple[tuple[ListName, int], ...] = (("candidates", COUNT + 1), ("rejected", COUNT), ("stale", COUNT))


@pytest.mark.parametrize(("name", "length"), LISTS)
def test_it_works(name: ListName, length: int) -> None:
    """The pages together are the whole list, and the list begins with what the answer shows."""
    outcome = decide_for(world(FLEET), profile("taint", METRIC), explain="full")
    parts = [
        page_of_list(outcome.decision, name, start=start, stop=start + 400) for start in range(0, length + 400, 400)
    ]
    assert {total for total, _ in parts} == {length}
    whole = tuple(entry for _, entries in parts for entry in entries)
    assert len({entry.idc for entry in whole}) == len(whole) == length
    assert whole[:MOST_SHOWN] == getattr(outcome.answer, name)
    assert outcome.answer.truncated is True


@pytest.mark.parametrize(("name", "length"), LISTS)
def test_beyond_the_end_there_is_nothing(name: ListName, length: int) -> None:
    decision = decide_for(world(FLEET), profile("taint", METRIC)).decision
    assert page_of_list(decision, name, start=length, stop=length + 10) == (length, ())
