"""Supposing something gives the answer that doing it would give, for every field that can be supposed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.answer import Answer
from idcsched.framework.capacity import BANDWIDTH
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


def line_done(idc: str, code: str, **fields: Any) -> Do:
    def do(known: World) -> World:
        lines = [replace(line, **fields) if (line.idc, line.code) == (idc, code) else line for line in known.lines]
        return replace(known, lines=tuple(lines))

    return do


def used_done(idc: str, code: str, value: float | None) -> Do:
    """Measure this traffic on the line in the whole window: as the latest value, the percentile and every hour."""

    def do(known: World) -> World:
        number = next(n for n, line in enumerate(known.lines) if (line.idc, line.code) == (idc, code))
        hourly = np.full((len(known.lines), 168), np.nan) if known.hourly is None else known.hourly.copy()
        hourly[number] = np.nan if value is None else value
        measured = with_value(replace(known, hourly=hourly), BANDWIDTH, number, value)
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
def priced_worlds(draw: st.DrawFn) -> World:
    """Worlds whose lines have contracts, percentiles and pending orders of all kinds."""
    known = draw(worlds(least=1))
    return replace(known, lines=tuple(replace(line, **draw(contracts)) for line in known.lines))


@st.composite
def changes(draw: st.DrawFn, known: World) -> tuple[dict[str, Any], Do]:
    """A hypothesis, and the function that makes the same change in the world itself."""
    idc = draw(st.sampled_from([fact.code for fact in known.idcs]))
    own = [line.code for line in known.lines if line.idc == idc]
    kinds = ["status", "taint", "ignored", "metric", *(["line", "used"] if own else [])]
    match draw(st.sampled_from(kinds)):
        case "status":
            status = draw(st.sampled_from(["online", "offline", "draining", "retired"]))
            return {"idcs": [{"code": idc, "status": status}]}, lambda world: replace(
                world, idcs=tuple(replace(fact, status=status) if fact.code == idc else fact for fact in world.idcs)
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
            row = [fact.code for fact in known.idcs].index(idc)
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
    known = data.draw(priced_worlds())
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
