"""The indexes of an inventory: its rows by their facts, its lines by ISP, and what is paid for on a line anyway."""

import pytest

from idcsched.framework.cycle import suppose
from idcsched.framework.facts import MetricFact
from idcsched.framework.labels import LabelColumn
from idcsched.framework.request import Hypothetical, HypotheticalIdc, HypotheticalLine
from idcsched.framework.testing import NOW, snapshot, world

PICTURE = snapshot(
    world(
        {
            "w": {
                "region": "n1",
                "tier": "edge",
                "lines": {"1": {"isp": "cu"}, "2": {"isp": "ct"}, "3": {"isp": "cu"}},
            },
            "x": {"region": "n", "tier": "center", "partition": "p", "lines": {"1": {"isp": "ct"}}},
            "y": {"region": "s", "tier": "edge"},
        },
        regions={"n1": "n", "n": None, "s": None},
    )
)


ALIASES = {"ct": ["x", "w"], "telecom": ["x", "w"], "cu": ["w"], "unicom": ["w"]}


def rows(column: LabelColumn) -> dict[str, list[str]]:
    return {word: [PICTURE.idcs.codes[row] for row in found] for word, found in column.postings.items()}


def test_it_works() -> None:
    assert PICTURE.idcs.codes == ("x", "w", "y")
    assert rows(PICTURE.idcs.label("idc/tier")) == {"center": ["x"], "edge": ["w", "y"]}


@pytest.mark.parametrize(
    ("fact", "postings"),
    [
        pytest.param("idc/region", {"n": ["x", "w"], "n1": ["w"], "s": ["y"]}, id="a region and all that it lies in"),
        pytest.param("idc/isp", ALIASES, id="each ISP of an IDC once, by all its names"),
        pytest.param("idc/partition", {"p": ["x"]}, id="who has no partition does not carry the label"),
        pytest.param("idc/code", {"x": ["x"], "w": ["w"], "y": ["y"]}, id="codes"),
        pytest.param("idc/nonsense", {}, id="no such fact"),
    ],
)
def test_rows_by_fact(fact: str, postings: dict[str, list[str]]) -> None:
    assert rows(PICTURE.idcs.label(fact)) == postings


def test_an_empty_inventory_has_facts_of_nobody() -> None:
    nobody = snapshot(world({}))
    assert nobody.idcs.label("idc/isp").postings == {}
    assert nobody.planes(None) == ()


def test_nobody_can_bend_what_all_share() -> None:
    for shared in (PICTURE.planes("ct")[0], PICTURE.idcs.label("idc/tier").postings["edge"]):
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 0


@pytest.mark.parametrize(
    ("line", "paid"),
    [
        pytest.param({"commit_mbps": 300}, 300.0, id="the commit"),
        pytest.param({}, 0.0, id="no commit"),
        pytest.param({"charge_type": "fixed", "purchased_mbps": 1000}, 900.0, id="most of a flat-rate line"),
        pytest.param({"charge_type": "volume", "commit_mbps": 300}, 600.0, id="by volume the peak of that mean"),
    ],
)
def test_what_is_paid_anyway(line: dict[str, object], paid: float) -> None:
    assert snapshot(world({"a": {"lines": {"1": line}}})).lines.paid.tolist() == [paid]  # type: ignore[dict-item]


def test_a_supposed_width_is_paid_for_as_such() -> None:
    known = snapshot(world({"a": {"lines": {"1": {"charge_type": "fixed", "purchased_mbps": 1000}}}}))
    what_if = Hypothetical(
        idcs=(HypotheticalIdc(code="a", lines=(HypotheticalLine(line="1", purchased_mbps=2000.0),)),)
    )
    assert suppose(known, what_if, now=0.0).lines.paid.tolist() == [1800.0]


def test_metrics_measured_at_the_same_times_share_them() -> None:
    metrics = [MetricFact(code=code) for code in "xyz"]
    at = {"x": (1, 10.0), "y": (2, 10.0), "z": (3, 20.0)}
    picture = snapshot(world({"a": {"metrics": at}, "b": {}}, metrics=metrics))  # type: ignore[dict-item]
    x, y, z = (picture.metrics[code].at for code in "xyz")
    assert x is y
    assert x is not z
    assert (x[0], z[0]) == (NOW - 10.0, NOW - 20.0)
