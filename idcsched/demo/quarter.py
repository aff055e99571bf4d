"""A quarter of orders on the demo's inventory, made up from a seed: what a backtest needs, without any database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from idcsched.framework.building import build_snapshot
from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.columns import IdcTable, LineColumns
from idcsched.framework.decoding import convert
from idcsched.framework.facts import (
    AffinityFact,
    MetricFact,
    RegionFact,
    Samples,
    ShapeFact,
    TaintFact,
    World,
)
from idcsched.framework.matching import parse_terms
from idcsched.framework.normalize import Floats
from idcsched.framework.request import Request
from idcsched.planning.period import PastOrder, Period
from metrics_ingest.billing.charges import Tariff

from .documents import Document, demo
from .source import history
from .traffic import BUSINESSES, SHAPES, SLOT_SECONDS, SLOTS_A_DAY

__all__ = ["demo_quarter"]

ZONE: Final = ZoneInfo("Asia/Shanghai")
START: Final = datetime(2026, 3, 1, 16, tzinfo=UTC)
"""Midnight of a Monday in Shanghai."""
LEAD, DAYS = 30, 90
FADE: Final = timedelta(days=5).total_seconds()
ORDERS_A_DAY: Final = 5.0
MEDIAN_MBPS, SPREAD_MBPS = 200.0, 0.8
"""The sizes of orders are log-normal."""
MEAN_STAY: Final = timedelta(days=60).total_seconds()
MACHINE_MBPS: Final = 100.0
ANY_ISP: Final = 0.3
"""The part of the orders that name no ISP."""


@dataclass(frozen=True, slots=True)
class _Line:
    idc: str
    region: str
    code: str
    document: Document


def demo_quarter(*, seed: int, shapes: bool = True) -> Period:
    """Return 90 days of orders, after 30 days of history; the same seed gives the same quarter.

    With `shapes` the traffic shapes of the businesses are known, as they are once they have been learnt.
    """
    chance = np.random.default_rng(seed)
    lines = list(_lines())
    snapshot = build_snapshot(_world(lines, shapes=shapes), id="demo", built_at=START.timestamp())
    first, slots = int(START.timestamp()) // SLOT_SECONDS, (LEAD + DAYS) * SLOTS_A_DAY
    traffic = np.array([history((line.idc, line.code), first=first, until=first + slots) for line in lines])
    return Period(
        lines={(line.idc, line.code): row for row, line in enumerate(lines)},
        tariffs=tuple(_tariff(line.document) for line in lines),
        isps=tuple(line.document["isp"] for line in lines),
        regions=tuple(line.region for line in lines),
        traffic=traffic,
        start=START,
        zone=ZONE,
        lead=LEAD,
        orders=tuple(PastOrder(snapshot=lambda: snapshot, **fields) for fields in _orders(chance, _places())),
        fade=FADE,
        currency="CNY",
    )


def _orders(chance: np.random.Generator, places: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield what each order asks for; `places` are the regions with the ISPs of their lines."""
    at, end = START.timestamp() + LEAD * 86_400, START.timestamp() + (LEAD + DAYS) * 86_400
    regions, businesses = sorted(places), sorted(BUSINESSES)
    weights = np.array([len(places[region]) for region in regions], dtype=float)
    number = 0
    while (at := at + float(chance.exponential(86_400 / ORDERS_A_DAY))) < end:
        number += 1
        region = regions[chance.choice(len(regions), p=weights / weights.sum())]
        business = businesses[chance.integers(len(businesses))]
        machines = max(1, round(float(chance.lognormal(np.log(MEDIAN_MBPS), SPREAD_MBPS)) / MACHINE_MBPS))
        isp = None if chance.random() < ANY_ISP else places[region][int(chance.integers(len(places[region])))]
        document = {
            "request_id": f"order-{number}",
            "region": region,
            "machines": [{"count": machines, "cpu": 8, "memory_gib": 16, "bandwidth_mbps": MACHINE_MBPS}],
        }
        yield {
            "code": f"order-{number}",
            "at": at,
            "until": at + float(chance.exponential(MEAN_STAY)),
            "request": convert(document | ({} if isp is None else {"isp": isp}), Request),
            "labels": {"tenant": "demo", "business": business},
            "flow": float(chance.uniform(0.7, 1.0)) * _week(BUSINESSES[business]),
        }


def _week(shape: str) -> Floats:
    """Return the 168 hours of a shape as shares of the busiest."""
    hours = np.array([*SHAPES[shape].weekday * 5, *SHAPES[shape].weekend * 2])
    return hours / hours.max()


def _places() -> dict[str, list[str]]:
    """Return the top regions with the ISPs of the lines in them, each as often as it has lines."""
    parents = {document["code"]: document.get("parent") for document in demo("regions")}
    places: dict[str, list[str]] = {}
    for document in demo("idcs"):
        region = document["region"]
        while parents[region] is not None:
            region = parents[region]
        places.setdefault(region, []).extend(line["isp"] for line in document["lines"])
    return places


def _world(lines: Sequence[_Line], *, shapes: bool) -> World:
    """Return the demo's inventory, without its taints for a time, and its readings, which do not grow old."""
    businesses = BUSINESSES.items() if shapes else ()
    idcs = IdcTable.of(demo("idcs"))
    return World(
        regions=tuple(convert(document, RegionFact) for document in demo("regions")),
        isps={name: isp["code"] for isp in demo("isps") for name in (isp["code"], *isp["aliases"])},
        idcs=idcs,
        lines=LineColumns.of(({"idc": line.idc, "code": line.code, **line.document} for line in lines), idcs.codes),
        taints=tuple(
            convert(taint, TaintFact) for taint in demo("taints") if not {"starts_at", "ends_at"} & taint.keys()
        ),
        affinities=tuple(_affinity(document) for document in demo("affinities")),
        samples=tuple(_samples()),
        shapes=tuple(
            ShapeFact(business=business, hours=_week(shape).astype(np.float32)) for business, shape in businesses
        ),
    )


def _affinity(document: Document) -> AffinityFact:
    selectors = {"selector": "terms", "request_selector": "request_terms"}
    terms = {fact: parse_terms(document[name]) for name, fact in selectors.items() if name in document}
    fields: dict[str, Any] = _without(document, *selectors) | terms
    return AffinityFact(**fields)


def _samples() -> Iterator[Samples]:
    """Yield the readings of IDCs by metric; the bandwidth of lines has no value, since the period has it."""
    nothing = np.empty(0)
    bandwidth = MetricFact(code=BANDWIDTH, scope="line")
    yield Samples(metric=bandwidth, subjects=nothing.astype(np.int64), values=nothing, at=nothing)
    position = {document["code"]: place for place, document in enumerate(demo("idcs"))}
    for code in sorted({name for reading in demo("readings") for name in reading} - {"idc"}):
        known = [(position[reading["idc"]], reading[code]) for reading in demo("readings") if code in reading]
        subjects, values = zip(*known, strict=True)
        yield Samples(
            metric=MetricFact(code=code, direction="higher" if code == "quality_score" else "lower"),
            subjects=np.array(subjects, dtype=np.int64),
            values=np.array(values, dtype=np.float64),
            at=np.full(len(values), START.timestamp()),
        )


def _lines() -> Iterator[_Line]:
    for idc in demo("idcs"):
        for line in idc["lines"]:
            yield _Line(idc["code"], idc["region"], line["isp"], line)


def _tariff(document: Document) -> Tariff:
    terms = ("charge_type", "purchased_mbps", "commit_mbps", "price_per_mbps", "price_per_gb")
    return Tariff(**{"charge_type": "p95_month"} | {name: document[name] for name in terms if name in document})


def _without(document: Document, *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}
