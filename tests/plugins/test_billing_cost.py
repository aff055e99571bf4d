"""`billing_cost`: what this request would add to the bill of the chosen lines, in money per Mbps and month.

The five levels of 200 Mbps are 176, 190, 200, 211 and 227.
"""

from statistics import mean as mean_of
from typing import Any

import pytest

import plugins.billing_cost
from idcsched.framework.capacity import Usage
from idcsched.framework.errors import Invalid
from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import LineSpec, Outcome, decide_for, profile, world

BANDWIDTH = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
EVENING = [0.0] * 16 + [1.0] * 8
BUSY_EVENINGS = ([100.0] * 18 + [900.0] * 6) * 7


def mean(*parts: float) -> float:
    return mean_of(parts)


def decided(idcs: dict[str, dict[str, LineSpec]], need: float = 100, **fields: Any) -> Outcome:
    entry = {"weight": 1, "args": fields.pop("args", {})}
    body = {name: fields.pop(name) for name in ("bgp_substitutes",) if name in fields}
    known = world(
        {code: {"lines": lines} for code, lines in idcs.items()}, metrics=[BANDWIDTH], usage=fields.pop("usage", None)
    )
    machines = [{"bandwidth_mbps": need}] if need else []
    return decide_for(known, profile(("bill", "billing_cost", entry), **body), machines=machines, **fields)


def raw(line: LineSpec, need: float = 100, **fields: Any) -> float | None:
    return decided({"a": {"ct": line}}, need, **fields).scores("bill")["a"].raw


def test_it_works() -> None:
    lines: dict[str, dict[str, LineSpec]] = {
        "cheap": {"ct": {"used_mbps": 100, "price_per_mbps": 20}},
        "dear": {"ct": {"used_mbps": 100, "price_per_mbps": 50}},
    }
    outcome = decided(lines, args={"dearest": 50})
    assert outcome.totals == {"cheap": 60.0, "dear": 0.0}
    score = outcome.scores("bill")["cheap"]
    assert score.raw == 20.0
    assert score.note == (
        "the order's shape is not known, so all of it counts as flowing in the line's busiest hours; the line has no "
        "commit: 2,000 CNY a month"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param({}, 20, id="no commit: all of it is billed"),
        pytest.param({"commit_mbps": 100}, 20, id="far above the commit: all of it"),
        pytest.param(
            {"commit_mbps": 600}, 20 * 0.25 * 0.5**2, id="half of the commit used: a quarter of what `free` is"
        ),
        pytest.param(
            {"commit_mbps": 240},
            20 * (mean(0.3594, 0.4978, 0.6, 0.7077, 0.8735) + 0.25 * (1 - mean(0.3594, 0.4978, 0.6, 0.7077, 0.8735))),
            id="partly above: the rest uses up the commit",
        ),
        pytest.param(
            {"commit_mbps": 300},
            20 * (mean(0, 0, 0, 0.1077, 0.2735) + 0.25 * (1 - mean(0, 0, 0, 0.1077, 0.2735))),
            id="just under the commit: two of five levels of the traffic exceed it",
        ),
        pytest.param(
            {"pending_mbps": 100, "commit_mbps": 400},
            20 * (mean(0, 0, 0, 0.1615, 0.4102) + 0.25 * (1 - mean(0, 0, 0, 0.1615, 0.4102))),
            id="what is pending is used",
        ),
        pytest.param({"charge_type": "fixed"}, 20 * 0.25 * (300 / 900) ** 2, id="fixed: 0.9 of it is the commit"),
        pytest.param({"charge_type": "fixed", "commit_mbps": 1}, 20 * 0.25 / 9, id="fixed: whatever the commit says"),
        pytest.param({"charge_type": "daily_peak", "price_per_mbps": 1}, 30, id="daily peak: by 30 days"),
        pytest.param(
            {"charge_type": "daily_peak", "commit_mbps": 900, "price_per_mbps": 1},
            30 * 0.25 * (300 / 900) ** 2,
            id="daily peak: up to the commit a day costs the same",
        ),
        pytest.param({"charge_type": "volume", "price_per_gb": 0.1}, 16.2, id="volume: 162 GB"),
        pytest.param(
            {"charge_type": "volume", "price_per_gb": 0.1, "commit_mbps": 300},
            16.2 * 0.25 * (300 / 600) ** 2,
            id="volume: a commit of 300 Mbps on average is a peak of 600",
        ),
        pytest.param({"charge_type": "fourth_peak_month", "commit_mbps": 600}, 1.25, id="fourth peak: as the 95th"),
        pytest.param({"used_mbps": 600}, 20, id="at 70 % nothing is scarce yet"),
        pytest.param({"used_mbps": 700}, 20 * (1 + 0.75 * 0.5**2), id="at 80 % it begins"),
        pytest.param({"used_mbps": 800}, 20 * (1 + 0.75), id="at 90 % it is dear"),
        pytest.param({"used_mbps": 1500}, 20 * (1 + 0.75 * 1.5**2), id="above 100 % it gets no dearer"),
    ],
)
def test_the_formula(line: LineSpec, expected: float) -> None:
    full: LineSpec = {"used_mbps": 200, "price_per_mbps": 20, **line}
    assert raw(full) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("args", "line", "expected"),
    [
        pytest.param({"free": 0}, {"commit_mbps": 600}, 0, id="free 0: what is paid costs nothing"),
        pytest.param(
            {"free": 1}, {"commit_mbps": 600}, 5, id="free 1: it costs like any other, by how full the commit is"
        ),
        pytest.param({"scarcity": 0}, {"used_mbps": 800}, 20, id="scarcity 0: the last room like the first"),
        pytest.param({"scarcity": 2}, {"used_mbps": 800}, 60, id="scarcity 2: three times the price"),
    ],
)
def test_arguments(args: dict[str, float], line: LineSpec, expected: float) -> None:
    full: LineSpec = {"used_mbps": 200, "price_per_mbps": 20, **line}
    assert raw(full, args=args) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("shape", "hourly", "expected"),
    [
        pytest.param(None, BUSY_EVENINGS, 20, id="no shape: flat, all in the busiest hours"),
        pytest.param(EVENING, None, 20, id="no history of the line: all in the busiest hours"),
        pytest.param([1.0] + [0.0] * 23, BUSY_EVENINGS, 0, id="nothing in the busiest hours"),
        pytest.param([1.0] * 24, BUSY_EVENINGS, 20, id="always"),
        pytest.param([1.0] + [0.0] * 17 + [0.5] * 6, BUSY_EVENINGS, 10, id="half of its peak in the busiest hours"),
        pytest.param([300] + [0] * 17 + [150] * 6, BUSY_EVENINGS, 10, id="on any scale"),
        pytest.param([0.0] * 18 + [1.0] * 3 + [0.0] * 3, BUSY_EVENINGS, 10, id="half of the busiest hours"),
        pytest.param([1.0] * 24 + [0.0] * 144, [900.0] * 9 + [100.0] * 159, 20, id="hours of the week, from Monday"),
        pytest.param([0.0] * 24 + [1.0] * 144, [900.0] * 9 + [100.0] * 159, 0, id="… not on Monday"),
    ],
)
def test_only_the_lines_busiest_hours_count(
    shape: list[float] | None, hourly: list[float] | None, expected: float
) -> None:
    line: LineSpec = {"used_mbps": 200, "price_per_mbps": 20}
    if hourly is not None:
        line["hourly"] = hourly
    fields = {} if shape is None else {"shape": shape}
    assert raw(line, **fields) == pytest.approx(expected, abs=1e-6)


def test_scarcity_does_not_depend_on_the_hour() -> None:
    line: LineSpec = {"used_mbps": 800, "price_per_mbps": 20, "hourly": BUSY_EVENINGS}
    assert raw(line, shape=[1.0] + [0.0] * 23) == pytest.approx(20 * 0.75)


@pytest.mark.parametrize(
    ("lines", "fields", "expected"),
    [
        pytest.param(
            {"ct": {"used_mbps": 0, "price_per_mbps": 20}, "cu": {"used_mbps": 0, "price_per_mbps": 12}},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            32,
            id="all: the bills of both lines",
        ),
        pytest.param(
            {"bgp": {"used_mbps": 0, "price_per_mbps": 80}},
            {"isp": ["ct", "cu"], "isp_match": "all", "bgp_substitutes": True},
            80,
            id="all: a shared BGP line is billed once",
        ),
        pytest.param(
            {"ct": {"used_mbps": 0, "price_per_mbps": 20}, "cu": {"used_mbps": 50, "price_per_mbps": 1}},
            {},
            20,
            id="any: the chosen line's bill",
        ),
    ],
)
def test_several_lines(lines: dict[str, LineSpec], fields: dict[str, Any], expected: float) -> None:
    assert decided({"a": lines}, **fields).scores("bill")["a"].raw == pytest.approx(expected)


def test_where_orders_count_they_are_what_is_used() -> None:
    line: LineSpec = {
        "used_mbps": 0,
        "ordered_mbps": 200,
        "pending_mbps": 999,
        "price_per_mbps": 20,
        "commit_mbps": 600,
    }
    assert raw(line, usage=Usage(count="ordered")) == pytest.approx(20 * 0.25 * 0.5**2)


@pytest.mark.parametrize(
    ("shape", "gigabytes"),
    [
        pytest.param(None, 162, id="not known: half of the peak on average"),
        pytest.param([1.0] * 24, 324, id="always: twice that"),
        pytest.param([1.0] * 6 + [0.0] * 18, 81, id="for six hours of the night: half of that, whatever the line does"),
    ],
)
def test_by_volume_all_that_flows_is_billed(shape: list[float] | None, gigabytes: float) -> None:
    line: LineSpec = {"used_mbps": 0, "charge_type": "volume", "price_per_gb": 0.1, "hourly": BUSY_EVENINGS}
    fields = {} if shape is None else {"shape": shape}
    assert raw(line, **fields) == pytest.approx(0.1 * gigabytes)


@pytest.mark.parametrize(
    ("args", "score"),
    [
        pytest.param({}, 66.666667, id="the installation's, 60"),
        pytest.param({"dearest": 40}, 50.0, id="what the profile says"),
        pytest.param({"dearest": 16}, 0.0, id="what bills more is clipped"),
    ],
)
def test_fixed_up_to_the_dearest_price(args: dict[str, float], score: float) -> None:
    """The range of the scores ends at the dearest price of the profile or the installation, whatever the prices of
    other IDCs.
    """
    known = world(
        {
            "a": {"lines": {"ct": {"used_mbps": 0, "price_per_mbps": 20}}},
            "b": {"region": "B", "lines": {"ct": {"price_per_mbps": 4000}, "cu": {"price_per_gb": 9}}},
        }
    )
    policy = profile(("bill", "billing_cost", {"weight": 1, "args": args}))
    asked = {"region": "A", "machines": [{"bandwidth_mbps": 1}]}
    found = decide_for(known, policy, **asked).scores("bill")["a"]
    assert (found.normalized, found.range) == (score, (0.0, args.get("dearest", 60.0)))
    assert ("20 CNY a month, 20.00 per Mbps: from 16 per Mbps on" in found.note) is (score == 0.0)


@pytest.mark.parametrize("price", [None, 0.0], ids=["no price", "all free"])
def test_a_free_inventory_has_a_scale_too(price: float | None) -> None:
    line: LineSpec = {"used_mbps": 0} if price is None else {"used_mbps": 0, "price_per_mbps": price}
    outcome = decided({"a": {"ct": line}})
    assert outcome.answer.plugin_errors == ()
    assert outcome.totals == {"a": 0.0 if price is None else 100.0}


@pytest.mark.parametrize(
    ("lines", "need"),
    [
        pytest.param({"ct": LineSpec(used_mbps=0, price_per_mbps=20)}, 0, id="no bandwidth is needed"),
        pytest.param({"ct": LineSpec(used_mbps=0)}, 100, id="no survivor has a price"),
        pytest.param({}, 100, id="no survivor has a line"),
    ],
)
def test_it_leaves_the_sum(lines: dict[str, LineSpec], need: float) -> None:
    assert decided({"a": lines}, need).scores("bill") == {}


def test_missing_is_neutral() -> None:
    idcs: dict[str, dict[str, LineSpec]] = {
        "cheap": {"ct": {"used_mbps": 0, "price_per_mbps": 10}},
        "dear": {"ct": {"used_mbps": 0, "price_per_mbps": 100}},
        "no price": {"ct": {"used_mbps": 0}},
        "stale": {"ct": {"used_mbps": (0, 601), "price_per_mbps": 1}},
        "no line": {},
    }
    scores = decided(idcs, args={"dearest": 100}).scores("bill")
    assert {idc: (score.normalized, score.missing) for idc, score in scores.items()} == {
        "cheap": (90.0, None),
        "dear": (0.0, None),
        "no price": (45.0, "neutral"),
        "stale": (45.0, "neutral"),
        "no line": (45.0, "neutral"),
    }
    assert [score.note for score in (scores["no price"], scores["no line"])] == [scores["no line"].note] * 2


@pytest.mark.parametrize(
    ("line", "note"),
    [
        pytest.param(
            {"commit_mbps": 240},
            "50 % of the order flows in the line's busiest hours, 61 % of that is billed on top of the commit: "
            "304 CNY a month; with the commit, then 100 % used, and the room that it takes up the order counts as 353",
            id="with a commit",
        ),
        pytest.param(
            {},
            "50 % of the order flows in the line's busiest hours; the line has no commit: 500 CNY a month",
            id="without",
        ),
        pytest.param(
            {"used_mbps": 800},
            "50 % of the order flows in the line's busiest hours; the line has no commit: 500 CNY a month; with the "
            "room that it takes up it counts as 1,250",
            id="without, and nearly full",
        ),
        pytest.param(
            {"charge_type": "volume", "price_per_gb": 0.1},
            "the order moves 4,050 GB a month: 405 CNY",
            id="by volume",
        ),
        pytest.param(
            {"charge_type": "volume", "price_per_gb": 0.1, "commit_mbps": 120},
            "the order moves 4,050 GB a month, 61 % of that is billed on top of what is paid anyway: 246 CNY a month; "
            "with what it takes up of the commit and the room it counts as 286",
            id="by volume, with a commit",
        ),
        pytest.param(
            {"commit_mbps": 50},
            "50 % of the order flows in the line's busiest hours, all of it above the commit: 500 CNY a month",
            id="far above the commit",
        ),
        pytest.param(
            {"charge_type": "fixed"},
            "the line costs the same whatever flows: 0 CNY a month; with what the order takes up of the line, then "
            "30 % used, it counts as 14",
            id="flat rate",
        ),
    ],
)
def test_the_sentence_tells_what_is_billed(line: LineSpec, note: str) -> None:
    full: LineSpec = {"used_mbps": 200, "price_per_mbps": 10, "hourly": BUSY_EVENINGS, **line}
    assert decided({"a": {"ct": full}}, shape=[0.0] * 18 + [1.0] * 3 + [0.0] * 3).scores("bill")["a"].note == note


@pytest.mark.parametrize(
    ("line", "shape", "note"),
    [
        pytest.param({}, None, "the order's shape is not known, so all of it counts", id="no shape"),
        pytest.param({"commit_mbps": 50}, None, "the order's shape is not known, so all of it counts", id="a commit"),
        pytest.param(
            {"hourly": [float("nan")] * 168},
            [1.0] * 24,
            "the line's busiest hours are not known, so all of the order counts",
            id="no history",
        ),
        pytest.param({}, [1.0] * 24, "100 % of the order flows in the line's busiest hours; ", id="both are known"),
    ],
)
def test_the_sentence_tells_what_is_not_known(line: LineSpec, shape: list[float] | None, note: str) -> None:
    full: LineSpec = {"used_mbps": 200, "price_per_mbps": 10, "hourly": BUSY_EVENINGS, **line}
    assert decided({"a": {"ct": full}}, shape=shape).scores("bill")["a"].note.startswith(note)


def test_the_example_of_its_page() -> None:
    score = decided({"a": {"ct": {"used_mbps": 200, "price_per_mbps": 20, "commit_mbps": 240}}}).scores("bill")["a"]
    assert score.raw == pytest.approx(14.115, abs=1e-3)
    assert ": 1,215 CNY a month;" in score.note
    assert "counts as 1,412" in score.note
    page = " ".join((plugins.billing_cost.__doc__ or "").split())
    assert "1,215 CNY a month are billed; with the commit that it uses up the request counts as 1,412" in page


@pytest.mark.parametrize(("args", "code"), [({"free": -1}, "out_of_range"), ({"fee": 1}, "unknown_field")])
def test_arguments_are_checked(args: dict[str, float], code: str) -> None:
    with pytest.raises(Invalid, match="plugin billing_cost: ") as refusal:
        decided({"a": {}}, args=args)
    assert refusal.value.code == code
