"""The same inputs give the same decision, byte for byte, on a fresh snapshot and a used one; nothing is changed."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from hypothesis import given

from idcsched.framework.columns import IdcTable, LineColumns, entries
from idcsched.framework.facts import World
from idcsched.framework.profile import Profile
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import decide_for, profile, sample_world, snapshot

from .fleets import questions

Question = tuple[World, Profile, dict[str, Any]]


def told(picture: Snapshot, policy: Profile, asked: dict[str, Any]) -> bytes:
    return msgspec.json.encode(decide_for(picture, policy, **asked).answer)


def columns(picture: Snapshot) -> list[bytes]:
    parts = (picture.idcs, picture.lines, picture.taints)
    arrays = [getattr(part, name) for part in parts for name in part.__dataclass_fields__]
    arrays += [array for metric in picture.metrics.values() for array in (metric.values, metric.at)]
    return [array.tobytes() for array in arrays if isinstance(array, np.ndarray)]


def test_it_works() -> None:
    picture = snapshot(sample_world())
    policy = profile("taint", ("flow", "network_flow", {"weight": 10}))
    asked = {"request_id": "order-1", "machines": [{"bandwidth_mbps": 40}]}
    assert told(picture, policy, asked) == told(picture, policy, asked)


@given(questions())
def test_asked_twice_and_on_a_fresh_snapshot(question: Question) -> None:
    known, policy, asked = question
    used = snapshot(known)
    first = told(used, policy, asked)
    assert told(used, policy, asked) == first
    assert told(snapshot(known), policy, asked) == first


@given(questions(), questions())
def test_what_was_asked_before_does_not_matter(question: Question, other: Question) -> None:
    known, policy, asked = question
    used = snapshot(known)
    decide_for(used, other[1], **{**other[2], "only": None, "exclude": None})
    assert told(used, policy, asked) == told(snapshot(known), policy, asked)


@given(questions())
def test_the_snapshot_is_not_changed(question: Question) -> None:
    known, policy, asked = question
    used = snapshot(known)
    before = columns(used)
    decide_for(used, policy, **asked)
    assert columns(used) == before


@given(questions())
def test_the_order_in_which_facts_come_does_not_matter(question: Question) -> None:
    known, policy, asked = question
    shuffled = _reversed(known)
    assert told(snapshot(shuffled), policy, asked) == told(snapshot(known), policy, asked)


def _reversed(known: World) -> World:
    """The same facts, told backwards."""
    sizes = {"idc": len(known.idcs.codes), "line": len(known.lines.codes)}
    idcs, lines = (np.arange(size)[::-1] for size in sizes.values())
    backwards = LineColumns(**entries(LineColumns, known.lines, lines))
    samples = (replace(column, subjects=sizes[column.metric.scope] - 1 - column.subjects) for column in known.samples)
    return replace(
        known,
        regions=known.regions[::-1],
        idcs=IdcTable(**entries(IdcTable, known.idcs, idcs)),
        lines=replace(backwards, idc=sizes["idc"] - 1 - backwards.idc),
        taints=known.taints[::-1],
        affinities=known.affinities[::-1],
        samples=tuple(samples),
    )
