"""The measurements of the demo's monitoring system: pure functions of the time, the demo's documents and the orders.

What orders carry, `ordered`, is given by line, slot by slot from the time's own slot on.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from zlib import crc32

import numpy as np

from metrics_ingest.builtin import BANDWIDTH
from metrics_ingest.services import Sample

from .documents import demo
from .traffic import SLOT_SECONDS, Floats, Traffic, bandwidth, slot_of

__all__ = ["LineKey", "history", "line_traffic", "measured_now", "readings_at", "samples_at", "slot_start"]

LineKey = tuple[str, str]
Ordered = Mapping[LineKey, Floats]

HIGHEST: Final = {"cpu_load": 1.0, "memory_load": 1.0, "disk_load": 1.0, "quality_score": 100.0}
STEADY: Final = frozenset({"cost_index"})
NOISE, MOST_NOISE = 0.01, 2.0
DECIMALS: Final = 3
IN_PER_OUT: Final = 0.4


@cache
def line_traffic() -> dict[LineKey, Traffic]:
    """Return the traffic of each line, by the codes of IDC and line."""
    purchased = {(idc["code"], line["isp"]): line["purchased_mbps"] for idc in demo("idcs") for line in idc["lines"]}
    return {
        (entry["idc"], entry["line"]): Traffic(
            shape=entry["shape"],
            p95_mbps=entry["level"] * purchased[entry["idc"], entry["line"]],
            seed=_seed(entry["idc"], entry["line"]),
        )
        for entry in demo("traffic")
    }


def history(key: LineKey, *, first: int, until: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the line's own bandwidth from slot `first` on up to, not including, slot `until`."""
    return bandwidth(line_traffic()[key], first=first, count=until - first).astype(np.float32)


def slot_start(slot: int) -> datetime:
    return datetime.fromtimestamp(slot * SLOT_SECONDS, UTC)


def samples_at(at: datetime, ordered: Ordered) -> Iterator[Sample]:
    """Yield all samples of that moment: bandwidth by line, the other metrics by IDC."""
    slot = slot_of(at.timestamp())
    for (idc, line), traffic in line_traffic().items():
        value = float(_with_orders(bandwidth(traffic, first=slot, count=1), ordered.get((idc, line)))[0])
        yield Sample(idc=idc, line=line, metric=BANDWIDTH, value=float(round(value)), at=at)
    yield from readings_at(at)


def readings_at(at: datetime) -> Iterator[Sample]:
    """Yield the samples of IDCs of that moment."""
    slot = slot_of(at.timestamp())
    for reading in demo("readings"):
        for metric, usual in reading.items():
            if metric != "idc":
                value = _reading(reading["idc"], metric, usual, slot)
                yield Sample(idc=reading["idc"], metric=metric, value=value, at=at)


def measured_now(at: datetime, ordered: Ordered) -> dict[str, Any]:
    """Return the monitoring system's answer at that moment; lines are interpolated between their five-minute values."""
    slot = slot_of(at.timestamp())
    passed = at.timestamp() / SLOT_SECONDS - slot
    lines = [
        {"site": key[0], "carrier": key[1], **_both_ways(_with_orders(own, ordered.get(key)), passed)}
        for key, own in ((key, bandwidth(traffic, first=slot, count=2)) for key, traffic in line_traffic().items())
    ]
    sites = [
        {
            name: value if name == "idc" else _reading(reading["idc"], name, value, slot)
            for name, value in reading.items()
        }
        for reading in demo("readings")
    ]
    return {"at": at.isoformat(), "lines": lines, "sites": sites}


def _with_orders(own: Floats, ordered: Floats | None) -> Floats:
    return own if ordered is None else own + ordered[: own.size]


def _both_ways(around: np.ndarray[Any, np.dtype[np.float64]], passed: float) -> dict[str, float]:
    """Return outbound bandwidth, which is the larger one and is billed, and inbound bandwidth."""
    larger = float(around[0] + (around[1] - around[0]) * passed)
    return {"out_mbps": float(round(larger)), "in_mbps": float(round(larger * IN_PER_OUT))}


def _reading(idc: str, metric: str, usual: float, slot: int) -> float:
    """Return a value near the usual one, a little different every five minutes."""
    if metric in STEADY:
        return usual
    rng = np.random.default_rng([_seed(idc, metric), slot])
    value = usual * (1 + NOISE * np.clip(rng.standard_normal(), -MOST_NOISE, MOST_NOISE))
    return round(float(min(value, HIGHEST.get(metric, np.inf))), DECIMALS)


def _seed(*names: str) -> int:
    return crc32("/".join(names).encode())
