"""Orders one after the other: each sees what the ones before it took, as if it had been taken for real."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework import batch
from idcsched.framework.batch import Batch
from idcsched.framework.capacity import Claim
from idcsched.framework.explain import answer
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.question import Question
from idcsched.framework.spreading import allocations_of, solve
from idcsched.framework.testing import NOW, IdcSpec, profile, request, snapshot, world

from .fleets import profiles, requests, worlds

FLEET: dict[str, IdcSpec] = {
    "a": {"lines": {"ct": {"purchased_mbps": 1000, "used_mbps": 0}}},
    "b": {"lines": {"ct": {"purchased_mbps": 1000, "used_mbps": 100}}},
}
ORDER = {"machines": [{"bandwidth_mbps": 600}]}


def winners(together: Batch, times: int) -> list[str | None]:
    policy, found = profile(("network_flow", "network_flow", {"weight": 1})), list[str | None]()
    for _ in range(times):
        solution = solve(Question(request(together.snapshot, **ORDER), together.snapshot, policy, now=NOW))
        told = answer(solution.decision)
        found.append(told.idc.code if told.idc else None)
        together.take(allocations_of(solution, tenant="t", business=""))
    return found


def test_it_works() -> None:
    assert winners(Batch(snapshot(world(FLEET))), 3) == ["a", "b", None]


def test_what_was_taken_is_told_apart_from_what_it_was_taken_of() -> None:
    """What its orders took does not change a batch's base, so that all their records can name the same snapshot."""
    together = Batch(snapshot(world(FLEET)))
    base = together.base
    winners(together, 2)
    assert (together.base, [each.idc for each in together.taken]) == (base, ["a", "b"])


def test_after_many_orders_there_is_a_new_base(monkeypatch: Any) -> None:
    monkeypatch.setattr(batch, "MOST_TAKEN", 2)
    together = Batch(snapshot(world(FLEET)))
    allocation = Allocation(idc="a", claims=(Claim(resource="bandwidth_mbps", line="ct", amount=1),), machines=1)
    for left in (1, 0, 1):
        together.take([allocation])
        assert len(together.taken) == left
    assert together.base.lines.pending[0] == 2
    assert together.snapshot.lines.pending[0] == 3


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_laid_one_upon_the_other_or_all_at_once_is_the_same(data: st.DataObject) -> None:
    """What earlier orders took may be laid over the snapshot order by order, as a batch does, or all at once, as a
    replay does: the answer is the same.
    """
    known, policy = data.draw(worlds(least=2)), data.draw(profiles())
    together = Batch(snapshot(known))
    for _ in range(data.draw(st.integers(2, 5))):
        asked = request(together.snapshot, **data.draw(requests(known)))
        replayed = with_allocations(together.base, together.taken)
        solution = solve(Question(asked, together.snapshot, policy, now=NOW))
        assert answer(solution.decision, explain="full") == answer(
            solve(Question(asked, replayed, policy, now=NOW)).decision, explain="full"
        )
        together.take(allocations_of(solution, tenant="t", business="live"))
