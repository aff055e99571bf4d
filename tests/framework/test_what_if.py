"""Supposing something gives the answer that doing it would give, for every field that can be supposed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.answer import Answer
from idcsched.framework.building import busiest_hours
from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.columns import LineColumns, columns_of, floats
from idcsched.framework.facts import Samples, TaintFact, World
from idcsched.framework.testing import NOW, decide_for, profile
from idcsched.framework.testing import snapshot as picture_of

from .fleets import profiles, requests, worlds

PRICED = profile(
    "available",
    "network_flow",
    ("bill", "billing_cost", {"weight": 80}),
    ("room", "network_flow", {"weight": 10}),
    ("load", "metric", {"weight": 10, "args": {"metric": "cpu_load"}}),
    ("taint", "taint", {"weight": 20}),
)
EFFECTS = (None, "NoSchedule", "PreferNoSchedule", "NoExecute")
SHAPE = [0.1] * 18 + [1.0] * 6
Do = Callable[[World], World]


def line_done(idc: str, code: str, **numbers: float | None) -> Do:
    """Change these numbers of the line, by field; None: there is none."""

    def do(known: World) -> World:
        changed = {}
        for name, column in columns_of(LineColumns).items():
            if column.field in numbers:
                changed[name] = getattr(known.lines, name).copy()
                changed[name][line_of(known, idc, code)] = floats([numbers[column.field]]).item()
        return replace(known, lines=replace(known.lines, **changed))

    return do


def line_of(known: World, idc: str, code: str) -> int:
    return list(zip(known.lines.idc, known.lines.codes, strict=True)).index((known.idcs.codes.index(idc), code))


def used_done(idc: str, code: str, value: float | None) -> Do:
    """Measure this traffic on the line in the whole window: as the latest value, the percentile and every hour."""

    def do(known: World) -> World:
        line, busy_bits = line_of(known, idc, code), known.lines.busy_bits.copy()
        busy_bits[line] = busiest_hours(np.full((1, 168), np.nan if value is None else value))
        measured = with_value(replace(known, lines=replace(known.lines, busy_bits=busy_bits)), BANDWIDTH, line, value)
        return line_done(idc, code, percentile_mbps=value)(measured)

    return do


def with_value(known: World, metric: str, subject: int, value: float | None) -> World:
    def changed(samples: Samples) -> Samples:
        others = samples.subjects != subject
        more: list[float] = [] if value is None else [value]
        return replace(
            samples,
            subjects=np.array([*samples.subjects[others], *([subject] if more else [])], dtype=np.int64),
            values=np.array([*samples.values[others], *more]),
            at=np.array([*samples.at[others], *([NOW] if more else [])]),
        )

    return replace(
        known, samples=tuple(changed(each) if each.metric.code == metric else each for each in known.samples)
    )


CHARGE_TYPES = ("p95_month", "fixed", "daily_peak", "daily_peak_average", "fourth_peak_month", "volume")
contracts = st.fixed_dictionaries(
    {"charge_type": st.sampled_from(CHARGE_TYPES)},
    optional={
        "commit_mbps": st.sampled_from([0.0, 300.0]),
        "price_per_gb": st.just(0.1),
        "percentile_mbps": st.sampled_from([200.0, 850.0]),
        "pending_mbps": st.just(100.0),
    },
)


@st.composite
def changes(draw: st.DrawFn, known: World) -> tuple[dict[str, Any], Do]:
    """A hypothesis, and the function that makes the same change in the world itself."""
    row, idc = draw(st.sampled_from(list(enumerate(known.idcs.codes))))
    own = [code for owner, code in zip(known.lines.idc, known.lines.codes, strict=True) if owner == row]
    kinds = ["status", "taint", "ignored", "metric", *(["line", "used"] if own else [])]
    match draw(st.sampled_from(kinds)):
        case "status":
            status = draw(st.sampled_from(["online", "offline", "draining", "retired"]))
            statuses = (*known.idcs.statuses[:row], status, *known.idcs.statuses[row + 1 :])
            return {"idcs": [{"code": idc, "status": status}]}, lambda world: replace(
                world, idcs=replace(world.idcs, statuses=statuses)
            )
        case "taint":
            taint = {
                "key": draw(st.sampled_from(["a", "k", "new"])),
                "value": draw(st.sampled_from(["", "v", "w"])),
                "effect": draw(st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])),
            }
            fact = TaintFact(idc=idc, **taint)
            return {"taints": [{"idc": idc, **taint}]}, lambda world: replace(world, taints=(*world.taints, fact))
        case "ignored":
            ignored = {"key": draw(st.sampled_from(["k", "l"])), "effect": draw(st.sampled_from(EFFECTS))}
            return {"ignore_taints": [{"idc": idc, **ignored}]}, lambda world: replace(
                world, taints=tuple(taint for taint in world.taints if not is_ignored(taint, idc, **ignored))
            )
        case "metric":
            metric = draw(st.sampled_from(["cpu_load", "memory_load", "x", "y"]))
            value = draw(st.none() | st.sampled_from([0.0, 0.4, 1.0]))
            supposed = {"idcs": [{"code": idc, "metrics": {metric: value}}]}
            return supposed, lambda world: with_value(world, metric, row, value)
        case "used":
            code, value = draw(st.sampled_from(own)), draw(st.none() | st.sampled_from([0.0, 300.0, 880.0]))
            supposed = {"idcs": [{"code": idc, "lines": [{"line": code, "metrics": {BANDWIDTH: value}}]}]}
            return supposed, used_done(idc, code, value)
    code = draw(st.sampled_from(own))
    fields = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "purchased_mbps": st.sampled_from([500.0, 4000.0]),
                "commit_mbps": st.none() | st.sampled_from([0.0, 400.0]),
                "max_level": st.sampled_from([0.5, 1.0]),
                "price_per_mbps": st.none() | st.sampled_from([0.0, 33.0, 4000.0]),
                "price_per_gb": st.none() | st.sampled_from([0.0, 0.2]),
            },
        )
    )
    return {"idcs": [{"code": idc, "lines": [{"line": code, **fields}]}]}, line_done(idc, code, **fields)


def is_ignored(taint: TaintFact, idc: str, key: str, effect: str | None) -> bool:
    return (taint.idc, taint.key) == (idc, key) and effect in (None, taint.effect)


@given(st.data())
def test_it_works(data: st.DataObject) -> None:
    known = data.draw(worlds(least=1, contracts=contracts))
    asked = {**data.draw(requests(known)), **data.draw(st.sampled_from([{}, {"shape": SHAPE}]))}
    asked.pop("hypothetical", None)
    policy = data.draw(st.just(PRICED) | profiles())
    supposed, done = {}, known
    drawn = data.draw(st.lists(changes(known), min_size=1, max_size=3, unique_by=one_of_each))
    for changed, do in sorted(drawn, key=one_of_each):  # what is ignored is ignored before what is added
        supposed |= changed
        done = do(done)
    assert told(known, policy, {**asked, "hypothetical": supposed}) == told(done, policy, asked)


def one_of_each(change: tuple[dict[str, Any], Do]) -> str:
    """The field of `hypothetical` that a change uses; each may be used only once, because a second value would replace
    the first.
    """
    (part,) = change[0]
    return part


def told(known: World, policy: Any, asked: dict[str, Any]) -> Answer:
    return decide_for(picture_of(known), policy, **asked).answer
