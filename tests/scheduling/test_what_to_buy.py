"""Where nothing fits, a near miss says what to buy: with so much the order fits, and with one Mbps less it does not."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.decoding import convert
from idcsched.framework.facts import MetricFact
from idcsched.framework.fitting import count_fitting
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.question import Question
from idcsched.framework.registry import load_registry
from idcsched.framework.request import Machine
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import NOW, decide_for, request, snapshot, world
from idcsched.scheduling.shipped import SHIPPED, shipped_document

BANDWIDTH = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
STALE = 900.0

measured = st.none() | st.tuples(st.floats(0, 1500).map(lambda mbps: round(mbps, 3)), st.sampled_from([0.0, STALE]))
lines = st.fixed_dictionaries(
    {"used_mbps": measured, "purchased_mbps": st.sampled_from([500, 1000, 1234.5])},
    optional={
        "max_level": st.sampled_from([0.33, 0.7, 1.0]),
        "price_per_mbps": st.sampled_from([9.0, 20.0]),
        "commit_mbps": st.sampled_from([300.0, 900.0]),
        "pending_mbps": st.sampled_from([0.5, 200.0]),
        "isp": st.sampled_from(["ct", "cu", "bgp"]),
    },
)
fleets = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.fixed_dictionaries({"lines": st.dictionaries(st.sampled_from(["ct", "cu", "cm", "bgp"]), lines, max_size=4)}),
    min_size=1,
)
asked_for = st.fixed_dictionaries(
    {},
    optional={
        "isp": st.sampled_from(["ct", ["ct", "cu"], ["ct", "bgp"], "bgp"]),
        "isp_match": st.sampled_from(["any", "all"]),
    },
)
needs = st.integers(1, 3000) | st.floats(0.5, 3000).map(lambda mbps: round(mbps, 4))


@cache
def policy(code: str, on_missing: str, *, bgp_substitutes: bool) -> Profile:
    """A shipped profile, with or without BGP lines as substitutes, and with this treatment of stale values."""
    body = {name: value for name, value in shipped_document(code).items() if name not in ("code", "name", "message")}
    plugins = [
        {**entry, "on_missing": {"filter": on_missing}} if entry["plugin"] == "network_flow" else entry
        for entry in body.pop("plugins")
    ]
    body = convert({**body, "plugins": plugins, "bgp_substitutes": bgp_substitutes}, ProfileBody)
    return compile_profile(body, load_registry(), code=code, revision=1)


policies = st.builds(
    policy,
    st.sampled_from(SHIPPED),
    st.sampled_from(["reject", "pass", "last"]),
    bgp_substitutes=st.booleans(),
)


def purchases(known: Snapshot, idc: str, detail: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Hypotheses of the purchase that the rejection names: first all of it, then with one Mbps less on each line in
    turn.
    """
    row = known.idcs.row_of[idc]
    own = range(known.lines.first.item(row), known.lines.first.item(row + 1))
    purchased = {known.lines.codes[line]: known.lines.purchased.item(line) for line in own}
    lacking = {line["line"]: line["purchase_mbps"] for line in detail["lines"] if line["chosen"] and line["short_by"]}
    for less in (None, *lacking):
        bought = [
            {"line": line, "purchased_mbps": max(purchased[line] + more - (line == less), 0)}
            for line, more in lacking.items()
        ]
        yield {"idcs": [{"code": idc, "lines": bought}]}


@given(policies, fleets, needs, asked_for)
def test_it_works(profile: Profile, fleet: Any, need: float, asked: dict[str, Any]) -> None:
    known = snapshot(world(fleet, metrics=[BANDWIDTH]))
    machines = [{"bandwidth_mbps": need}]
    for miss in decide_for(known, profile, machines=machines, **asked).answer.near_misses:
        if miss.code == "not_enough_bandwidth":
            if asked.get("isp_match") != "all" or not isinstance(asked.get("isp"), list):
                assert miss.short_by == miss.detail["lines"][0]["short_by"]  # the least of all
            enough, *too_little = purchases(known, miss.idc, miss.detail)
            about = {"machines": machines, "only": [miss.idc], **asked}
            assert decide_for(known, profile, hypothetical=enough, **about).winner == miss.idc
            assert too_little
            for supposed in too_little:
                assert decide_for(known, profile, hypothetical=supposed, **about).winner is None


@given(policies, fleets, needs, asked_for)
def test_what_gives_out_is_what_to_buy_for_one_machine_more(
    profile: Profile, fleet: Any, need: float, asked: dict[str, Any]
) -> None:
    known = snapshot(world(fleet, metrics=[BANDWIDTH]))

    def counted(**more: Any) -> dict[str, Any]:
        order, machine = request(known, **asked, **more), Machine(bandwidth_mbps=need)
        fitting = count_fitting(Question(order, known, profile, now=NOW), machine=machine, at_most=3)
        return {known.idcs.codes[each.row]: each for each in fitting}

    for idc, fits in counted().items():
        if fits.limit is not None and fits.limit.code == "not_enough_bandwidth":
            enough, *too_little = purchases(known, idc, fits.limit.detail)
            assert counted(hypothetical=enough)[idc].count > fits.count
            assert {counted(hypothetical=supposed)[idc].count for supposed in too_little} == {fits.count}
