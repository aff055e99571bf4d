"""What orders have just taken, laid over a snapshot: the same as a new snapshot with these claims in the ledger."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.capacity import Claim, Usage
from idcsched.framework.claiming import claims_of, narrowed_to
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.facts import HeadcountFact, World
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.testing import NOW, IdcSpec, request, snapshot, world

from .fleets import profiles, requests, worlds

FLEET: dict[str, IdcSpec] = {
    "a": {"lines": {"ct": {"used_mbps": 100}, "cu": {"used_mbps": 0}}, "stock": {"cpu": 8}},
    "b": {"lines": {"ct": {"used_mbps": 400}}},
}
BANDWIDTH = Claim(resource="bandwidth_mbps", amount=300, line="ct")


def with_pending(known: World, each: Allocation) -> World:
    """The world with these claims already in the ledger."""
    idcs, lines = known.idcs, known.lines
    idc = idcs.codes.index(each.idc)
    taken = {resource: amounts.copy() for resource, amounts in idcs.taken.items()}
    pending, ordered = lines.pending.copy(), lines.ordered.copy()
    for claim in each.claims:
        if claim.line is None:
            columns, place = [taken[claim.resource]], idc
        else:
            columns, place = [pending, ordered], list(zip(lines.idc, lines.codes, strict=True)).index((idc, claim.line))
        for column in columns:
            column[place] = round(column[place] + claim.amount, DECIMALS)
    return replace(
        known,
        idcs=replace(idcs, taken=taken),
        lines=replace(lines, pending=pending, ordered=ordered),
        headcounts=(*known.headcounts, HeadcountFact(idc=each.idc, tenant="t", business="", machines=each.machines)),
    )


def test_it_works() -> None:
    picture = snapshot(world(FLEET))
    over = with_allocations(picture, [Allocation(idc="a", claims=(BANDWIDTH, Claim(resource="cpu", amount=6)))])
    assert over.lines.pending.tolist() == [300, 0, 0]
    assert (picture.lines.room - over.lines.room).tolist() == [300, 0, 0]
    assert over.stock.taken["cpu"].tolist() == [6, 0]
    assert picture.lines.pending.tolist() == [0, 0, 0]
    assert picture.stock.taken["cpu"].tolist() == [0, 0]


def test_one_upon_the_other() -> None:
    picture = snapshot(world(FLEET))
    allocation = Allocation(idc="a", claims=(BANDWIDTH,), tenant="t", machines=2)
    twice = with_allocations(with_allocations(picture, [allocation]), [allocation])
    assert (
        twice.lines.pending.tolist()
        == with_allocations(picture, [allocation, allocation]).lines.pending.tolist()
        == [600, 0, 0]
    )
    assert [fact.machines for fact in twice.headcounts.facts] == [2, 2]


def test_what_counts_where_orders_count() -> None:
    picture = snapshot(world(FLEET, usage=Usage(count="ordered")))
    over = with_allocations(picture, [Allocation(idc="a", claims=(BANDWIDTH,))])
    assert (picture.lines.room - over.lines.room).tolist() == [200, 0, 0]


def test_nobody_writes_into_it() -> None:
    over = with_allocations(
        snapshot(world(FLEET)), [Allocation(idc="a", claims=(BANDWIDTH, Claim(resource="cpu", amount=6)))]
    )
    for column in (over.lines.pending, over.lines.room, over.stock.taken["cpu"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1.0


@pytest.mark.parametrize(
    "allocation",
    [
        pytest.param(Allocation(idc="nowhere", claims=(BANDWIDTH,)), id="an IDC that is not there"),
        pytest.param(
            Allocation(idc="b", claims=(msgspec.structs.replace(BANDWIDTH, line="cu"),)), id="a line that is not there"
        ),
    ],
)
def test_refusals(allocation: Allocation) -> None:
    with pytest.raises((KeyError, ValueError)):
        with_allocations(snapshot(world(FLEET)), [allocation])


def test_what_is_kept_of_parts_that_orders_do_not_move_is_shared() -> None:
    picture = snapshot(world(FLEET))
    over = with_allocations(picture, [Allocation(idc="a", claims=(BANDWIDTH,), machines=1)])
    assert over.idcs.label("rank") is picture.idcs.label("rank")
    assert over.headcounts.memory is not picture.headcounts.memory


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_as_if_built_anew(data: st.DataObject) -> None:
    """Each of several orders in a row is answered as on a new snapshot that has the claims of those before it, byte for
    byte.
    """
    known, policy = data.draw(worlds(least=2)), data.draw(profiles())
    check_row_of_orders(known, policy, [data.draw(requests(known)) for _ in range(data.draw(st.integers(2, 6)))])


def check_row_of_orders(known: World, policy: Profile, orders: list[dict[str, Any]]) -> None:
    over = snapshot(known)
    for fields in orders:
        asked, anew = request(over, **fields), snapshot(known)
        decision = decide(Question(asked, over, policy, now=NOW))
        assert answer(decision, explain="full") == answer(
            decide(Question(asked, anew, policy, now=NOW)), explain="full"
        )
        if not decision.scheduled:
            continue
        claims = claims_of(narrowed_to(decision, decision.picked), policy)
        winner = decision.code(decision.picked)
        allocation = Allocation(idc=winner, claims=claims, tenant="t", machines=asked.machine_count)
        over, known = with_allocations(over, [allocation]), with_pending(known, allocation)


def test_only_bandwidth_is_a_lines() -> None:
    picture = snapshot(world({"a": {}}))
    with pytest.raises(ValueError, match="a line has no cpu"):
        with_allocations(picture, [Allocation(idc="a", claims=(Claim(resource="cpu", line="ct", amount=1),))])
