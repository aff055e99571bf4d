"""`locality`: near the client is better, by distance or by measured latency."""

from typing import Any

import numpy as np
import pytest

from idcsched.framework.facts import MetricFact, RegionFact
from idcsched.framework.testing import Outcome, decide_for, profile, world
from plugins.locality import great_circle_km

BEIJING, GUANGZHOU = (39.9042, 116.4074), (23.1291, 113.2644)


def decided(client: Any = None, **args: Any) -> Outcome:
    known = world(
        {
            "bj": {"latitude": BEIJING[0], "longitude": BEIJING[1], "metrics": {"rtt_ms": 40, "lag": 9}},
            "gz": {"latitude": GUANGZHOU[0], "longitude": GUANGZHOU[1], "metrics": {"rtt_ms": (10, 601), "lag": 60}},
            "xx": {},
        },
        regions={
            "A": RegionFact(code="A", latitude=BEIJING[0], longitude=BEIJING[1]),
            "vague": RegionFact(code="vague", latitude=1.0),
            "below": RegionFact(code="below", parent="A"),
        },
        metrics=[MetricFact(code="rtt_ms", direction="lower", max_age=600)],
    )
    fields = {} if client is None else {"client": client}
    return decide_for(known, profile(("near", "locality", {"weight": 1, "args": args})), **fields)


def test_it_works() -> None:
    outcome = decided({"latitude": GUANGZHOU[0], "longitude": GUANGZHOU[1]})
    assert outcome.winner == "gz"
    scores = outcome.scores("near")
    assert scores["gz"].raw == pytest.approx(0, abs=1e-6)
    assert scores["bj"].raw == pytest.approx(1889, abs=5)
    assert scores["bj"].normalized == pytest.approx(100 - 1889 / 30, abs=0.2)


def test_a_region_stands_for_its_coordinates() -> None:
    by_region, by_place = decided({"region": "A"}), decided({"latitude": BEIJING[0], "longitude": BEIJING[1]})
    assert by_region.winner == "bj"
    assert by_region.totals == by_place.totals


def test_a_region_without_coordinates_stands_where_the_nearest_above_it_does() -> None:
    assert decided({"region": "below"}).totals == decided({"region": "A"}).totals


def test_distances_are_rounded_to_a_metre() -> None:
    """Processors differ in the digits beyond that, and a replay on another one must give identical distances."""
    raw = decided({"latitude": 30.123, "longitude": 104.456}).scores("near")["bj"].raw
    assert raw == round(raw, 3)


def test_coordinates_come_before_the_region() -> None:
    assert decided({"region": "A", "latitude": GUANGZHOU[0], "longitude": GUANGZHOU[1]}).winner == "gz"


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(None, id="no client"),
        pytest.param({}, id="a client without a place"),
    ],
)
def test_without_a_place_distance_is_not_scored(client: Any) -> None:
    outcome = decided(client)
    assert outcome.scores("near") == {}
    assert set(outcome.totals.values()) == {0.0}


def test_a_region_without_coordinates_is_said_and_not_scored() -> None:
    outcome = decided({"region": "vague"})
    scores = outcome.scores("near").values()
    note = "neither the client's region vague nor a region above it has coordinates"
    assert {(score.missing, score.contribution, score.note) for score in scores} == {("left_out", 0.0, note)}
    assert set(outcome.totals.values()) == {0.0}


def test_an_idc_without_coordinates_is_neutral() -> None:
    score = decided({"latitude": BEIJING[0], "longitude": BEIJING[1]}).scores("near")["xx"]
    assert (score.raw, score.normalized, score.missing) == (None, 50.0, "neutral")


def test_by_rtt_the_client_does_not_matter() -> None:
    scores = decided(by="rtt").scores("near")
    assert (scores["bj"].raw, scores["bj"].normalized) == (40.0, 60.0)
    assert (scores["gz"].raw, scores["gz"].missing, scores["gz"].normalized) == (10.0, "neutral", 50.0)


def test_by_rtt_of_another_metric() -> None:
    scores = decided(by="rtt", metric="lag").scores("near")
    assert {idc: score.normalized for idc, score in scores.items()} == {"bj": 91.0, "gz": 40.0, "xx": 50.0}


def test_farther_than_3000_km_is_as_far_as_it_gets() -> None:
    assert decided({"latitude": -33.9, "longitude": 151.2}).scores("near")["bj"].normalized == 0.0


@pytest.mark.parametrize(
    ("here", "there", "km"),
    [
        pytest.param((0, 0), (0, 0), 0, id="here"),
        pytest.param((0, 0), (0, 90), 10_007.56, id="a quarter of the equator"),
        pytest.param((0, 0), (0, 180), 20_015.11, id="the other side"),
        pytest.param((90, 0), (-90, 0), 20_015.11, id="pole to pole"),
        pytest.param((0, 179), (0, -179), 222.39, id="over the date line"),
        pytest.param((51.5, -0.12), (48.86, 2.35), 341.9, id="London to Paris"),
    ],
)
def test_great_circle(here: tuple[float, float], there: tuple[float, float], km: float) -> None:
    latitudes, longitudes = np.array([there[0]]), np.array([there[1]])
    found = great_circle_km(*here, latitudes, longitudes)
    assert found.tolist() == pytest.approx([km], rel=5e-3, abs=1e-6)
