"""Random worlds, profiles and requests for property tests."""

from typing import Any

from hypothesis import strategies as st

from idcsched.framework.facts import AffinityFact, MetricFact, World
from idcsched.framework.profile import Profile
from idcsched.framework.testing import affinity, profile, world

REGIONS = {"A": None, "A1": "A", "A2": "A", "B": None}
METRICS = [
    MetricFact(code="bandwidth_mbps", scope="line", max_age=600),
    MetricFact(code="x", max_age=600),
    MetricFact(code="y", low=0, high=10),
    MetricFact(code="cpu_load", max_age=600),
    MetricFact(code="memory_load", max_age=600),
]

codes = st.sampled_from([f"idc{number}" for number in range(8)])
ages = st.sampled_from([0.0, 30.0, 900.0])
measured = st.none() | st.tuples(st.integers(-3, 15).map(float), ages)
loads = st.tuples(st.sampled_from([0.2, 0.5, 0.95]), ages)
used = st.none() | st.tuples(st.integers(0, 11).map(lambda tenth: tenth * 100.0), ages)
lines = st.fixed_dictionaries({"used_mbps": used}, optional={"price_per_mbps": st.sampled_from([10.0, 20.0])})
taints = st.sampled_from(["k=v:NoSchedule", "k:PreferNoSchedule", "l:NoExecute", "m:PreferNoSchedule"])
terms = st.sampled_from(
    [
        {"match_labels": {"disk": "ssd"}},
        {"match_labels": {"idc/tier": "center"}},
        {"match_expressions": [{"key": "disk", "operator": "DoesNotExist"}]},
        {"match_expressions": [{"key": "idc/isp", "operator": "In", "values": ["ct", "cu"]}]},
    ]
)

idcs = st.fixed_dictionaries(
    {
        "region": st.sampled_from(sorted(REGIONS)),
        "tier": st.sampled_from(["edge", "center"]),
        "status": st.sampled_from(["online", "online", "online", "draining"]),
        "labels": st.sampled_from([{}, {"disk": "ssd"}, {"disk": "hdd"}]),
        "metrics": st.fixed_dictionaries(
            {}, optional={"x": measured, "y": measured, "cpu_load": loads, "memory_load": loads}
        ),
        "lines": st.dictionaries(st.sampled_from(["ct", "cu", "bgp"]), lines, max_size=3),
        "taints": st.lists(taints, max_size=2, unique=True),
        "stock": st.fixed_dictionaries({}, optional={"cpu": st.sampled_from([4.0, 20.0, 100.0])}),
    }
)


def _affinities(known: list[str]) -> st.SearchStrategy[list[AffinityFact]]:
    return st.lists(
        st.builds(
            affinity,
            st.sampled_from(["prefer", "require", "forbid"]),
            st.sampled_from(known),
            weight=st.integers(-50, 50),
        ),
        max_size=3,
    )


@st.composite
def worlds(draw: st.DrawFn, *, least: int = 0, contracts: st.SearchStrategy[dict[str, Any]] | None = None) -> World:
    """A world of up to eight IDCs in four regions, with lines, taints, stock, metrics and affinities at random.

    With `contracts` each line has such fields, too.
    """
    fleet = draw(st.dictionaries(codes, idcs, min_size=least, max_size=8))
    for line in [line for idc in fleet.values() for line in idc["lines"].values() if contracts is not None]:
        line.update(draw(contracts))
    affinities = draw(_affinities(sorted(fleet))) if fleet else []
    return world(fleet, regions=REGIONS, metrics=METRICS, affinities=affinities)


weights = st.integers(0, 30).map(float)
missing = st.sampled_from(["worst", "neutral", "last", None])
moving = st.none() | st.fixed_dictionaries(
    {"metric": st.sampled_from(["cpu_load", "x"]), "reference": st.just(0.5), "factor": st.sampled_from([-1.0, 1.0])},
    optional={"aggregate": st.sampled_from(["min", "max", "median", "sum"]), "max": st.just(40.0)},
)
normalizers = st.sampled_from([None, {"kind": "share"}, {"kind": "min_max"}, {"kind": "max_ratio"}, {"kind": "none"}])


def _metric(name: str) -> st.SearchStrategy[tuple[str, str, dict[str, Any]]]:
    options = st.fixed_dictionaries(
        {"weight": weights, "args": st.just({"metric": name}), "on_missing": missing, "normalizer": normalizers},
        optional={"dynamic_weight": moving},
    )
    return options.map(lambda option: (name, "metric", option))


def _scorer(name: str) -> st.SearchStrategy[tuple[str, str, dict[str, Any]]]:
    return weights.map(lambda weight: (name, name, {"weight": weight}))


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A profile of any of the plugins that have something to judge in such worlds, in any order."""
    entries = [
        "available",
        *(draw(_scorer(name)) for name in ("taint", "affinity", "network_flow", "billing_cost", "resource")),
        *(draw(_metric(name)) for name in ("x", "y")),
    ]
    chosen = draw(st.lists(st.sampled_from(range(len(entries))), unique=True))
    pick = draw(st.sampled_from([None, {"kind": "near_best", "epsilon": 5}]))
    fallback = draw(st.none() | st.lists(terms, min_size=1, max_size=3))
    return profile(
        *(entries[number] for number in chosen),
        pick=pick,
        fallback=fallback,
        line_choice=draw(st.sampled_from(["roomiest", "cheapest", "least_billed"])),
        bgp_substitutes=draw(st.booleans()),
    )


@st.composite
def requests(draw: st.DrawFn, known: World) -> dict[str, Any]:
    """The fields of a request that names only IDCs, ISPs and regions that exist in the world."""
    named = st.lists(st.sampled_from(known.idcs.codes or ["-"]), min_size=1, max_size=4)
    optional: dict[str, st.SearchStrategy[Any]] = {
        "request_id": st.sampled_from(["r1", "r2", "r3"]),
        "isp": st.sampled_from(["ct", ["ct", "cu"], "bgp"]),
        "isp_match": st.sampled_from(["any", "all"]),
        "tier": st.sampled_from(["edge", "center"]),
        "selector": terms,
        "tolerations": st.sampled_from([[], [{"operator": "Exists"}], [{"key": "k", "operator": "Exists"}]]),
        "prefer": terms.map(lambda term: [{"weight": 7, **term}]),
        "machines": st.integers(0, 700).map(lambda mbps: [{"bandwidth_mbps": mbps, "cpu": 4}]),
        "fallback": st.lists(terms, min_size=1, max_size=2),
    }
    if known.idcs.codes:
        optional |= {"only": named, "exclude": named}
    where = st.sampled_from(["A", "B", "A1", ["A1", "B"], ["A", "A2"]])
    return draw(st.fixed_dictionaries({"region": where}, optional=optional))


@st.composite
def questions(draw: st.DrawFn, *, least: int = 0) -> tuple[World, Profile, dict[str, Any]]:
    """A world, a profile, and the fields of a request to decide on them."""
    known = draw(worlds(least=least))
    return known, draw(profiles()), draw(requests(known))
