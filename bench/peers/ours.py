"""The SQL peer's fleet and question put to our own engine, so that all can be held to the same answer."""

from typing import Any

import numpy as np

from bench.fleet import NOW, profile_of
from idcsched.framework.building import BANDWIDTH, build_snapshot
from idcsched.framework.columns import IdcTable, LineColumns
from idcsched.framework.decoding import convert
from idcsched.framework.facts import MetricFact, RegionFact, Samples, TaintFact, World
from idcsched.framework.profile import Profile
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot

from . import sql

__all__ = ["question", "same_fleet", "same_policy"]


def same_fleet(count: int) -> Snapshot:
    rows = [dict(zip(sql.COLUMNS, row, strict=True)) for row in sql.rows(count)]
    lines = [(row, isp) for row in rows for isp, bit in sql.ISP_BITS.items() if row["isps"] & bit]
    values = {name: _values(name, rows) for name, _ in sql.SCORERS}
    used = [row["bw_used"] for row, _ in lines]
    samples = {_metric(name): column for name, column in values.items()} | {
        MetricFact(code="cpu_load"): [row["cpu_used"] for row in rows],
        MetricFact(code=BANDWIDTH, scope="line"): used,
    }
    world = World(
        regions=(RegionFact(code="all"),),
        isps={isp: isp for isp in sql.ISP_BITS},
        idcs=IdcTable.of(_idc(row) for row in rows),
        lines=LineColumns.of((_line(row, isp) for row, isp in lines), [row["name"] for row in rows]),
        taints=tuple(TaintFact(idc=f"idc-{number:05d}", key=key) for number, key in sql.tainted(count)),
        samples=tuple(_sampled(fact, column) for fact, column in samples.items()),
    )
    return build_snapshot(world, id="same", built_at=NOW)


def same_policy() -> Profile:
    scorers = [
        {
            "name": f"s{number}",
            "plugin": "metric",
            "weight": abs(weight),
            "normalizer": {"kind": "min_max"},
            "args": {"metric": f"s{number}", "better": "more" if weight > 0 else "less"},
        }
        for number, (_, weight) in enumerate(sql.SCORERS)
    ]
    cpu = {"name": "resource", "plugin": "resource", "args": {"cpu": sql.LIMITS["max_cpu"]}}
    plain = [{"name": name, "plugin": name} for name in ("available", "isp", "network_flow", "taint")]
    return profile_of({"plugins": [*plain, cpu, *scorers]})


def question() -> Request:
    """The one that the statement asks."""
    asked: dict[str, Any] = {
        "region": "all",
        "isp": "ct",
        "partition": sql.LIMITS["tier"],
        "machines": [{"bandwidth_mbps": sql.LIMITS["mbps"]}],
        "tolerations": [{"key": sql.LIMITS["tolerated"], "operator": "Exists"}],
    }
    return convert(asked, Request)


def _metric(scorer: str) -> MetricFact:
    number = next(number for number, (name, _) in enumerate(sql.SCORERS) if name == scorer)
    return MetricFact(code=f"s{number}")


def _values(scorer: str, rows: list[dict[str, Any]]) -> list[float]:
    if scorer == "bw_total - bw_used":
        return [row["bw_total"] - row["bw_used"] for row in rows]
    if scorer == "1.0 - cpu_used":
        return [1.0 - row["cpu_used"] for row in rows]
    return [row[scorer] for row in rows]


def _idc(row: dict[str, Any]) -> dict[str, Any]:
    status = "online" if row["available"] else "offline"
    return {"code": row["name"], "region": "all", "partition": row["tier"], "status": status}


def _line(row: dict[str, Any], isp: str) -> dict[str, Any]:
    return {"idc": row["name"], "code": isp, "isp": isp, "purchased_mbps": float(row["bw_total"]), "max_level": 1.0}


def _sampled(fact: MetricFact, column: list[float]) -> Samples:
    values = np.array(column, dtype=np.float64)
    return Samples(metric=fact, subjects=np.arange(values.size), values=values, at=np.full(values.size, NOW))
