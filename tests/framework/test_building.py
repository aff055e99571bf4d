"""From facts to a snapshot: rows sorted by region in pre-order, lines by IDC and code, columns that follow."""

import numpy as np
import pytest

from idcsched.framework.building import build_snapshot, code_hash
from idcsched.framework.columns import IdcTable, LineColumns
from idcsched.framework.facts import MetricFact, RegionFact, Samples, TaintFact, World
from idcsched.framework.testing import NOW, snapshot, world

REGIONS = {"n2": "n", "b": None, "a": None, "n": "a", "n1": "n", "s": "a", "empty": "s"}


def test_it_works() -> None:
    picture = build_snapshot(World(), id="1", built_at=NOW)
    assert (picture.id, picture.built_at, picture.size, picture.spans) == ("1", NOW, 0, {})


def test_rows_stand_in_pre_order_of_their_regions_then_by_code() -> None:
    where = {"z": "b", "y": "n1", "x": "a", "w": "s", "v": "n", "u": "n1", "t": "n2"}
    picture = snapshot(world({code: {"region": region} for code, region in where.items()}, regions=REGIONS))
    assert picture.idcs.codes == ("x", "v", "u", "y", "t", "w", "z")
    assert picture.idcs.row_of == {code: row for row, code in enumerate(picture.idcs.codes)}
    assert {region: picture.idcs.codes[slice(*span)] for region, span in picture.spans.items()} == {
        "a": ("x", "v", "u", "y", "t", "w"),
        "n": ("v", "u", "y", "t"),
        "n1": ("u", "y"),
        "n2": ("t",),
        "s": ("w",),
        "empty": (),
        "b": ("z",),
    }


def test_lineage_is_nearest_first() -> None:
    picture = snapshot(world({"x": {"region": "n1"}}, regions=REGIONS))
    assert picture.lineage("n1") == ("n1", "n", "a")
    assert picture.lineage("b") == ("b",)


def test_lines_stand_by_idc_then_code() -> None:
    picture = snapshot(world({"b": {"lines": {"z": {}, "a": {}}}, "none": {}, "a": {"lines": {"m": {}}}}, metrics=[]))
    assert picture.idcs.codes == ("a", "b", "none")
    assert picture.lines.codes == ("m", "a", "z")
    assert picture.lines.idc.tolist() == [0, 1, 1]
    assert picture.lines.first.tolist() == [0, 1, 3, 3]


def test_planes_hold_each_rows_nth_line() -> None:
    picture = snapshot(
        world(
            {
                "a": {"lines": {"1": {"isp": "ct"}, "2": {"isp": "cu"}, "3": {"isp": "ct"}}},
                "b": {"lines": {"1": {"isp": "cu"}}},
            }
        )
    )
    assert [plane.tolist() for plane in picture.planes(None)] == [[0, 3], [1, -1], [2, -1]]
    assert [plane.tolist() for plane in picture.planes("ct")] == [[0, -1], [2, -1]]
    assert picture.planes("cm") == ()
    assert picture.planes("ct") is picture.planes("ct")


def test_samples_follow_their_rows_wherever_those_stand() -> None:
    regions = (RegionFact(code="A"),)
    idcs = IdcTable.of({"code": code, "region": "A"} for code in "cab")
    lines = LineColumns.of(({"idc": idc, "code": "1", "isp": "ct", "purchased_mbps": 1000} for idc in "bca"), "cab")
    load = Samples(
        metric=MetricFact(code="load"),
        subjects=np.array([0, 2]),
        values=np.array([30.0, 20.0]),
        at=np.array([3.0, 2.0]),
    )
    used = Samples(
        metric=MetricFact(code="bandwidth_mbps", scope="line"),
        subjects=np.array([1, 2]),
        values=np.array([3.0, 1.0]),
        at=np.array([1.0, 1.0]),
    )
    picture = build_snapshot(World(regions=regions, idcs=idcs, lines=lines, samples=(load, used)), id="", built_at=0)
    assert picture.idcs.codes == ("a", "b", "c")
    assert picture.metrics["load"].values.tolist() == pytest.approx([np.nan, 20, 30], nan_ok=True)
    assert picture.metrics["load"].at.tolist() == pytest.approx([np.nan, 2, 3], nan_ok=True)
    assert picture.lines.used.tolist() == pytest.approx([1, np.nan, 3], nan_ok=True)


def test_what_is_not_said_has_its_default() -> None:
    picture = snapshot(world({"a": {"lines": {"ct": {"charge_type": "daily_peak", "price_per_mbps": 2}}}}))
    idcs, lines = picture.idcs, picture.lines
    assert (idcs.names, idcs.tiers, idcs.statuses) == (("a",), ("edge",), ("online",))
    assert np.isnan([idcs.latitude[0], picture.stock.total["cpu"][0], lines.commit[0], lines.percentile[0]]).all()
    assert (picture.stock.taken["cpu"][0], lines.pending[0], lines.max_level[0], lines.price[0]) == (0, 0, 0.9, 60)


@pytest.mark.parametrize(
    ("hours", "busiest"),
    [
        pytest.param(range(168), set(range(159, 168)), id="5 % of 168 hours, rounded up: nine"),
        pytest.param([5.0] * 168, set(range(168)), id="who stands level is let in"),
        pytest.param([np.nan] * 100 + [1.0] * 8 + [2.0] * 60, set(range(108, 168)), id="gaps are no hours"),
        pytest.param([np.nan] * 148 + list(range(20)), {167}, id="5 % of the known hours"),
        pytest.param([np.nan] * 147 + list(range(21)), {166, 167}, id="… rounded up"),
        pytest.param([np.nan] * 168, set(), id="no hour known: none"),
    ],
)
def test_busiest_hours(hours: list[float], busiest: set[int]) -> None:
    picture = snapshot(world({"b": {"lines": {"1": {"hourly": list(hours)}}}, "a": {"lines": {"2": {}}}}))
    assert set(np.flatnonzero(picture.lines.busiest[1])) == busiest
    assert not picture.lines.busiest[0].any()


def test_without_any_history_no_hour_is_busy() -> None:
    assert not snapshot(world({"a": {"lines": {"1": {}}}})).lines.busiest.any()


def test_taints_are_numbered_by_kind() -> None:
    picture = snapshot(world({"b": {"taints": ["k:NoSchedule"]}, "a": {"taints": ["l:NoExecute", "k:NoSchedule"]}}))
    taints = picture.taints
    assert taints.kinds == (("k", "", "NoSchedule"), ("l", "", "NoExecute"))
    assert (taints.idc.tolist(), taints.kind.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert (taints.starts.tolist(), taints.ends.tolist()) == ([-np.inf] * 3, [np.inf] * 3)


def test_hashes_of_codes_stay_the_same() -> None:
    assert code_hash("gz-ct-01") == 10362652313352196953
    assert snapshot(world({"gz-ct-01": {}})).idcs.hashes.tolist() == [code_hash("gz-ct-01")]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(World(idcs=IdcTable.of([{"code": "a", "region": "nowhere"}])), id="an IDC in no region"),
        pytest.param(
            World(regions=(RegionFact(code="A", parent="B"),), idcs=IdcTable.of([{"code": "a", "region": "A"}])),
            id="a region without its parent",
        ),
        pytest.param(World(taints=(TaintFact(idc="a", key="k"),)), id="a taint of no IDC"),
    ],
)
def test_facts_that_name_what_is_not_there_are_refused(facts: World) -> None:
    with pytest.raises(KeyError):
        build_snapshot(facts, id="", built_at=0)


def test_a_line_of_an_idc_that_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        LineColumns.of([{"idc": "b", "code": "1", "isp": "ct", "purchased_mbps": 1}], ["a"])


def test_what_is_left_is_told_of_limited_stock_alone() -> None:
    picture = snapshot(world({"a": {"stock": {"cpu": 8}, "taken": {"cpu": 3}}, "b": {"taken": {"cpu": 3}}}))
    assert picture.stock.left["cpu"].tolist() == [5, np.inf]
