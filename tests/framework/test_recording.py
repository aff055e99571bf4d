"""Recorded inputs give the same decision again, byte for byte, though only a part of the world is kept."""

import zlib
from dataclasses import fields, replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given

from idcsched.framework.columns import IdcColumns, LineColumns, columns_of
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.facts import AffinityFact, History, ShapeFact, World
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.recording import (
    Inputs,
    columns_seen_by,
    history_seen_by,
    inputs_of,
    pack,
    request_inputs,
    unpack,
)
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import NOW, IdcSpec, affinity, profile, request, sample_world, snapshot, world

from .fleets import questions

Asked = tuple[World, Profile, dict[str, Any]]


def of_live(asked: Request, picture: Snapshot, policy: Profile | None = None) -> Question:
    return Question(asked, picture, policy or profile(), now=NOW, reference="http-1", labels={"business": "live"})


def recorded(asked: Request, picture: Snapshot) -> Inputs:
    return unpack(pack(inputs_of(of_live(asked, picture))))


def told(asked: Request, picture: Snapshot, policy: Profile) -> bytes:
    decision = decide(of_live(asked, picture, policy))
    return msgspec.json.encode(answer(decision, explain="full"))


def again(inputs: Inputs, policy: Profile) -> bytes:
    decision = decide(inputs.question(policy))
    return msgspec.json.encode(answer(decision, explain="full"))


def test_it_works() -> None:
    picture = snapshot(sample_world())
    policy = profile("taint", ("bill", "billing_cost", {"weight": 10}), ("load", "resource", {"weight": 1}))
    asked = request(picture, machines=[{"bandwidth_mbps": 40}], shape=[n / 24 for n in range(24)])

    assert again(recorded(asked, picture), policy) == told(asked, picture, policy)


def test_what_was_known_of_the_business_is_kept() -> None:
    hours = np.linspace(0.0, 1.0, 168, dtype=np.float32)
    live = ShapeFact(tenant="cn", business="live", hours=hours, lines=14, days=41, error=0.06)
    others = [ShapeFact(tenant="cn", business="vod", hours=hours), ShapeFact(tenant="us", business="live", hours=hours)]
    picture = snapshot(replace(sample_world(), shapes=(*others, live)))
    asked = request(picture, machines=[{"bandwidth_mbps": 40}])
    labels = {"tenant": "cn", "business": "live"}

    inputs = unpack(pack(inputs_of(Question(asked, picture, profile(), now=NOW, labels=labels))))
    (kept,) = inputs.snapshot().shapes.values()
    assert (kept.tenant, kept.business, kept.lines, kept.days, kept.error) == ("cn", "live", 14, 41, 0.06)
    assert kept.hours.tolist() == hours.tolist()


def test_the_lines_last_thirty_days_are_kept() -> None:
    """The recorded inputs hold the history of the lines that the request sees, packed as one document or as several;
    they hold none for a request that needs no bandwidth.
    """
    known = sample_world()
    hours = np.random.default_rng(1).gamma(2.0, 100.0, (len(known.lines.codes), 720)).astype(np.float32)
    picture = snapshot(replace(known, history=History(hours=hours, weekday=3, version="1")))
    policy = profile(("bill", "billing_cost", {"weight": 10, "args": {"method": "exact"}}))
    asked = request(picture, region="north", machines=[{"bandwidth_mbps": 40}])

    question = request_inputs(of_live(asked, picture))
    parts = pack(columns_seen_by(asked, picture)), pack(history_seen_by(asked, picture))
    for inputs in (recorded(asked, picture), unpack(pack(question), *parts)):
        assert b"would have cost" in again(inputs, policy)
        assert again(inputs, policy) == told(asked, picture, policy)
        assert inputs.world.history is not None
        assert len(inputs.world.history.hours) == len(inputs.world.lines.codes) < len(known.lines.codes)
    assert recorded(request(picture, machines=[{"cpu": 1}]), picture).world.history is None


def test_a_shape_that_was_kept_before_shapes_were_learnt_can_still_be_read() -> None:
    hours = np.linspace(0.0, 1.0, 168, dtype=np.float32)
    live = ShapeFact(tenant="cn", business="live", hours=hours)
    picture = snapshot(replace(sample_world(), shapes=(live,)))
    question = inputs_of(
        Question(request(picture), picture, profile(), now=NOW, labels={"tenant": "cn", "business": "live"})
    )
    document = msgspec.msgpack.decode(zlib.decompress(pack(question)))
    del document["shape"]["lines"], document["shape"]["days"], document["shape"]["error"]
    kept = unpack(zlib.compress(msgspec.msgpack.encode(document))).shape
    assert kept is not None
    assert (kept.tenant, kept.business, kept.learnt) == ("cn", "live", False)


@given(questions())
def test_for_any_question(question: Asked) -> None:
    known, policy, fields = question
    picture = snapshot(known)
    asked = request(picture, **fields)

    assert again(recorded(asked, picture), policy) == told(asked, picture, policy)


@given(questions())
def test_for_any_question_whose_picture_is_shared(question: Asked) -> None:
    known, policy, fields = question
    picture = snapshot(known)
    asked = request(picture, **fields)

    assert again(apart(asked, picture), policy) == told(asked, picture, policy)


def apart(asked: Request, picture: Snapshot) -> Inputs:
    question = request_inputs(of_live(asked, picture))
    return unpack(pack(question), pack(columns_seen_by(asked, picture)))


@pytest.mark.parametrize("part", ["idcs", "stock", "lines", "taints"])
def test_a_world_comes_back_from_its_columns_as_it_was(part: str) -> None:
    picture = snapshot(sample_world())
    before, after = (getattr(of, part) for of in (picture, apart(request(picture), picture).snapshot()))

    for field in fields(before):
        if field.name in ("facts", "memory"):  # worked out of the others
            continue
        np.testing.assert_equal(getattr(after, field.name), getattr(before, field.name), err_msg=field.name)


def test_only_what_could_be_seen_is_kept() -> None:
    picture = snapshot(sample_world())
    region = picture.idcs.regions[0]
    elsewhere = next(code for code, own in zip(picture.idcs.codes, picture.idcs.regions, strict=True) if own != region)

    kept = recorded(request(picture, region=region), picture).world.idcs
    named = recorded(request(picture, region=region, exclude=[elsewhere]), picture).world.idcs

    assert set(kept.regions) == {region}
    assert elsewhere in named.codes


def test_the_dearest_line_elsewhere_still_counts() -> None:
    """`billing_cost` is scaled on the dearest price of the whole inventory, not of the rows that were kept."""
    picture = snapshot(sample_world())
    region = picture.idcs.regions[0]

    assert recorded(request(picture, region=region), picture).snapshot().dearest_price == picture.dearest_price > 0


FLEET: dict[str, IdcSpec] = {
    "a": {"region": "A", "metrics": {"cpu_load": 0.5}, "lines": {"ct": {"used_mbps": 5, "price_per_mbps": 10}}},
    "b": {"region": "B", "metrics": {"cpu_load": 0.1, "disk_load": 0.2}, "lines": {"ct": {"price_per_mbps": 90}}},
}
WEIGHED = profile(*((name, name, {"weight": 5}) for name in ("taint", "affinity", "billing_cost", "resource")))


@pytest.mark.parametrize(
    "affinities",
    [
        pytest.param([], id="prices and loads of other regions"),
        pytest.param([affinity("require", "b")], id="a requirement to be in another region"),
        pytest.param([affinity("require", selector={"match_labels": {"idc/code": "b"}})], id="… by selector"),
        pytest.param(
            [affinity("forbid", "b"), affinity("prefer", "b", weight=5)], id="affinities about another region"
        ),
    ],
)
def test_what_stands_elsewhere_counts_as_it_did(affinities: list[AffinityFact]) -> None:
    picture = snapshot(world(FLEET, affinities=affinities))
    asked = request(picture, region="A", machines=[{"bandwidth_mbps": 5}])

    assert again(recorded(asked, picture), WEIGHED) == told(asked, picture, WEIGHED)


@pytest.mark.parametrize(
    "what_if",
    [
        {"taints": [{"idc": "b", "key": "k", "effect": "NoSchedule"}]},
        {"ignore_taints": [{"idc": "b", "key": "k"}]},
        {"idcs": [{"code": "b", "status": "offline", "metrics": {"cpu_load": None}}]},
    ],
    ids=["taints", "ignore_taints", "idcs"],
)
def test_whoever_is_supposed_otherwise_is_kept(what_if: dict[str, Any]) -> None:
    picture = snapshot(world(FLEET))
    asked = request(picture, region="A", hypothetical=what_if)

    assert again(recorded(asked, picture), WEIGHED) == told(asked, picture, WEIGHED)


def by_the_row(inputs: Inputs) -> bytes:
    """The record of these inputs as the oldest records are: IDCs and lines by the row, and the hours of the week."""
    document = msgspec.msgpack.decode(zlib.decompress(pack(inputs)))
    idcs, lines = inputs.world.idcs, inputs.world.lines
    resources = {name: ([*map(float, idcs.stock[name])], [*map(float, idcs.taken[name])]) for name in idcs.stock}
    document["world"]["idcs"] = [
        {column.field: known(getattr(idcs, name)[row]) for name, column in columns_of(IdcColumns).items()}
        | {"stock": {name: stock[row] for name, (stock, _) in resources.items() if not np.isnan(stock[row])}}
        | {"taken": {name: taken[row] for name, (_, taken) in resources.items()}}
        for row in range(len(idcs.codes))
    ]
    document["world"]["lines"] = [
        {column.field: known(getattr(lines, name)[line]) for name, column in columns_of(LineColumns).items()}
        | {"idc": idcs.codes[lines.idc[line]]}
        for line in range(len(lines.codes))
    ]
    hourly = np.where(np.unpackbits(lines.busy_bits, axis=1), np.float16(1), np.float16(np.nan))
    document["world"]["hourly"] = {"kind": hourly.dtype.str, "shape": hourly.shape, "data": hourly.tobytes()}
    return zlib.compress(msgspec.msgpack.encode(document))


def known(value: Any) -> Any:
    """The entry of a column as a row has it: None for NaN, and no NumPy types."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if plain != plain else plain  # noqa: PLR0124 - NaN alone is not itself


def test_records_by_the_row_can_still_be_read() -> None:
    picture = snapshot(sample_world())
    asked = request(picture, machines=[{"bandwidth_mbps": 40}])
    inputs = inputs_of(of_live(asked, picture))

    read = unpack(by_the_row(inputs))

    assert again(read, WEIGHED) == told(asked, picture, WEIGHED)
    for part in ("idcs", "stock", "lines"):
        before, after = getattr(picture, part), getattr(read.snapshot(), part)
        for field in fields(before):
            if field.name not in ("facts", "memory"):
                np.testing.assert_equal(getattr(after, field.name), getattr(before, field.name), err_msg=field.name)


def test_a_column_that_a_record_does_not_have_was_not_known_then() -> None:
    """A record that was written before there was such a column stays readable."""
    picture = snapshot(sample_world())
    asked = request(picture)
    document = msgspec.msgpack.decode(zlib.decompress(pack(columns_seen_by(asked, picture))))
    for table, column in (("idcs", "providers"), ("idcs", "taken"), ("lines", "commit"), ("lines", "charge_types")):
        del document[table][column]

    question = request_inputs(Question(asked, picture, profile(), now=NOW))
    read = unpack(pack(question), zlib.compress(msgspec.msgpack.encode(document))).snapshot()

    assert (set(read.idcs.providers), set(read.lines.charge_types.tolist())) == ({""}, {"p95_month"})
    assert np.isnan(read.lines.commit).all()
    assert not read.stock.taken["cpu"].any()
    assert read.lines.purchased.tolist() == picture.lines.purchased.tolist()


@pytest.mark.parametrize("data", [zlib.compress(msgspec.msgpack.encode(part)) for part in (5, {"lines": 5}, {})])
def test_what_is_no_part_of_a_snapshot(data: bytes) -> None:
    picture = snapshot(sample_world())
    question = request_inputs(Question(request(picture), picture, profile(), now=NOW))
    with pytest.raises(ValueError, match="no recorded inputs"):
        unpack(pack(question), data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"nonsense", id="not packed"),
        pytest.param(zlib.compress(b"nonsense"), id="not encoded"),
        pytest.param(zlib.compress(msgspec.msgpack.encode({"now": 5})), id="something else"),
    ],
)
def test_what_is_no_record(data: bytes) -> None:
    with pytest.raises(ValueError, match="no recorded inputs"):
        unpack(data)


def test_what_cannot_be_recorded_is_said() -> None:
    picture = snapshot(sample_world())
    inputs = inputs_of(Question(request(picture), picture, profile(), now=NOW, labels={"a": object()}))  # type: ignore[dict-item]
    with pytest.raises(NotImplementedError, match="object cannot be recorded"):
        pack(inputs)
