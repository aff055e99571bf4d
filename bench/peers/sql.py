"""What one would write instead of a service: the decision as one SQL statement.

WHERE filters, window functions normalise by min-max over the survivors, a weighted sum scores (a negative weight
prefers the small value), ORDER BY score, id LIMIT 1 picks. The statement runs on PostgreSQL and on SQLite alike.
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from .floor import Bare

__all__ = ["COLUMNS", "LIMITS", "SCORERS", "bare_of", "fill", "pick", "rows", "tainted"]

ISP_BITS = {"ct": 1, "cu": 2, "cm": 4, "bgp": 8}
LIMITS = {"isp": ISP_BITS["ct"], "mbps": 200, "tier": "gold", "max_cpu": 0.95, "tolerated": "spot"}
FITTING = 0.7
"""So that about half of the IDCs can take the order, as in the fleet that our engine is measured on."""
COLUMNS = (
    "id",
    "name",
    "available",
    "isps",
    "bw_total",
    "bw_used",
    "cpu_used",
    "cost",
    "latency_ms",
    "vms",
    "failures",
    "tier",
)
SCORERS = (
    ("bw_total - bw_used", 2.0),
    ("1.0 - cpu_used", 1.0),
    ("cost", -1.0),
    ("latency_ms", -1.5),
    ("vms", -0.5),
    ("failures", -1.0),
)

_TABLES = (
    """CREATE TABLE idc (id INTEGER PRIMARY KEY, name TEXT NOT NULL, available BOOLEAN NOT NULL,
      isps INTEGER NOT NULL, bw_total INTEGER NOT NULL, bw_used INTEGER NOT NULL,
      cpu_used DOUBLE PRECISION NOT NULL, cost DOUBLE PRECISION NOT NULL, latency_ms DOUBLE PRECISION NOT NULL,
      vms INTEGER NOT NULL, failures INTEGER NOT NULL, tier TEXT NOT NULL)""",
    "CREATE TABLE idc_taint (idc_id INTEGER NOT NULL REFERENCES idc(id), key TEXT NOT NULL, PRIMARY KEY (idc_id, key))",
    "CREATE INDEX idc_tier ON idc (tier) WHERE available",
)
_RAW = ", ".join(f"({column}) AS s{number}" for number, (column, _) in enumerate(SCORERS))
_SCORE = " + ".join(
    f"({weight}) * COALESCE((s{number} - {'min' if weight > 0 else 'max'}(s{number}) OVER ()) * 1.0"
    f" / NULLIF(max(s{number}) OVER () - min(s{number}) OVER (), 0), 0)"
    for number, (_, weight) in enumerate(SCORERS)
)
_PICK = f"""
WITH fit AS (
  SELECT id, name, {_RAW} FROM idc
  WHERE available AND (isps & {{isp}}) <> 0 AND bw_total - bw_used >= {{mbps}}
    AND cpu_used <= {{max_cpu}} AND tier = {{tier}}
    AND NOT EXISTS (SELECT 1 FROM idc_taint t WHERE t.idc_id = idc.id AND t.key <> {{tolerated}})
), scored AS (SELECT id, name, {_SCORE} AS score FROM fit)
SELECT id, name, score FROM scored ORDER BY score DESC, id LIMIT 1
"""


def rows(count: int, seed: int = 7) -> Iterator[tuple[Any, ...]]:
    """The rows of `idc`, in the order of COLUMNS."""
    rng = random.Random(seed)
    for number in range(count):
        total = rng.choice([10_000, 40_000, 100_000])
        yield (
            number,
            f"idc-{number:05d}",
            rng.random() >= 0.05,
            rng.randrange(1, 16) | (ISP_BITS["ct"] if rng.random() < FITTING else 0),
            total,
            int(total * rng.random()),
            rng.random(),
            1 + rng.random(),
            5 + 80 * rng.random(),
            rng.randrange(0, 500),
            rng.choice([0, 0, 0, 0, 1]),
            "gold" if rng.random() < FITTING else "silver",
        )


def tainted(count: int, seed: int = 8) -> list[tuple[int, str]]:
    rng = random.Random(seed)
    return [(number, "maintenance") for number in range(count) if rng.random() < 0.05]


def fill(cursor: Any, mark: str, count: int) -> None:
    """Make the tables anew; `mark` is what the driver calls a parameter."""
    for table in ("idc_taint", "idc"):
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES:
        cursor.execute(statement)
    cursor.executemany(f"INSERT INTO idc VALUES ({', '.join([mark] * len(COLUMNS))})", list(rows(count)))
    cursor.executemany(f"INSERT INTO idc_taint VALUES ({mark}, {mark})", tainted(count))
    cursor.execute("ANALYZE")


def pick(style: str) -> str:
    """The statement, with parameters as `pyformat` or `named` drivers want them; their values are LIMITS."""
    return _PICK.format(**{name: f"%({name})s" if style == "pyformat" else f":{name}" for name in LIMITS})


def bare_of(count: int) -> Bare:
    """Return the fleet and the question of the SQL statement as bare columns, for the NumPy floor."""
    columns = dict(zip(COLUMNS, zip(*rows(count), strict=True), strict=True))
    array = {name: np.array(column) for name, column in columns.items()}
    free = (array["bw_total"] - array["bw_used"]).astype(float)
    taints = np.zeros(count)
    taints[[number for number, _ in tainted(count)]] = 1
    isp = (array["isps"] & ISP_BITS["ct"]).astype(float)
    values = {"bw_total - bw_used": free, "1.0 - cpu_used": 1.0 - array["cpu_used"]}
    return Bare(
        facts=[array["available"].astype(float), isp, free, array["cpu_used"], (array["tier"] == "gold") - taints],
        limits=[(1, None), (1, None), (200, None), (None, LIMITS["max_cpu"]), (1, None)],
        values=[values.get(name, array.get(name)).astype(float) for name, _ in SCORERS],  # type: ignore[union-attr]
        weights=[weight for _, weight in SCORERS],
    )
