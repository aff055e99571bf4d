"""The facts from which a snapshot is built: IDCs and lines in columns, in any order, and all else as plain rows.

Times are seconds since the epoch. Lines and metric samples refer to IDCs and lines by their position in `World.idcs`
and `World.lines`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from .capacity import Usage
from .columns import IdcTable, LineColumns
from .labels import Mask, Rows
from .matching import Term
from .monthly_bill import MonthFigures
from .normalize import Floats

__all__ = [
    "DEAREST_PRICE",
    "AffinityFact",
    "HeadcountFact",
    "History",
    "MetricFact",
    "RegionFact",
    "Samples",
    "ShapeFact",
    "TaintFact",
    "World",
]

Ints = npt.NDArray[np.int64]

DEAREST_PRICE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionFact:
    code: str
    name: str = ""
    parent: str | None = None
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintFact:
    idc: str
    key: str
    value: str = ""
    effect: str = "NoSchedule"
    starts_at: float | None = None
    ends_at: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityFact:
    """About one IDC or those that match `terms`, for all requests or those whose labels match `request_terms`."""

    kind: Literal["prefer", "require", "forbid"]
    idc: str | None = None
    terms: tuple[Term, ...] | None = None
    weight: int = 0
    request_terms: tuple[Term, ...] | None = None
    starts_at: float | None = None
    ends_at: float | None = None
    id: int | None = None
    reason: str = ""

    def in_force(self, now: float) -> bool:
        """Return whether `now` lies in the affinity's window."""
        return (self.starts_at is None or self.starts_at <= now) and (self.ends_at is None or now < self.ends_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFact:
    code: str
    scope: Literal["idc", "line"] = "idc"
    direction: Literal["higher", "lower"] = "higher"
    max_age: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The latest values of one metric: `subjects` are positions in `World.idcs` or, by the scope, `World.lines`."""

    metric: MetricFact
    subjects: Ints
    values: Floats
    at: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadcountFact:
    idc: str
    tenant: str
    business: str
    machines: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShapeFact:
    """How the traffic of a tenant's business is spread over a week; without a tenant, of that business of any tenant.

    `hours` are the 168 hours of a week from Monday 00:00 of the billing zone, as shares of the busiest. A shape that
    was learnt rests on so many `lines` and `days` of traffic; None: an operator has entered it. `error` is the mean
    difference from the true shape that is to be expected, as a share of the shape's mean; records of earlier versions
    do not have it.
    """

    business: str
    tenant: str = ""
    hours: npt.NDArray[np.float32]
    lines: int | None = None
    days: int | None = None
    error: float | None = None

    @property
    def learnt(self) -> bool:
        return self.lines is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """What each line (a row) carried in 30 whole days: the mean Mbps of 720 hours, oldest first; NaN: a gap.

    `weekday` is that of the first day in the billing zone, 0 for a Monday. `version` names the readings that it is of.
    `measured` are the figures of these days by five-minute values, as `MonthFigures.of` takes them; None: not kept.
    """

    hours: npt.NDArray[np.float32]
    weekday: int
    version: str = ""
    measured: npt.NDArray[np.float32] | None = None

    @cached_property
    def figures(self) -> MonthFigures:
        """What contracts measure of these hours."""
        return MonthFigures.of(self.hours, self.measured)

    def of_lines(self, lines: Rows | Mask) -> "History":
        """Return the history of some lines, in that order."""
        measured = None if self.measured is None else self.measured[lines]
        return replace(self, hours=self.hours[lines], measured=measured)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All facts that a decision may use."""

    regions: tuple[RegionFact, ...] = ()
    isps: Mapping[str, str] = field(default_factory=dict)
    """The ISP's code by every name (code or alias) that a request may use."""
    idcs: IdcTable = field(default_factory=lambda: IdcTable.of(()))
    lines: LineColumns = field(default_factory=lambda: LineColumns.of((), ()))
    taints: tuple[TaintFact, ...] = ()
    affinities: tuple[AffinityFact, ...] = ()
    samples: tuple[Samples, ...] = ()
    headcounts: tuple[HeadcountFact, ...] = ()
    history: History | None = None
    """What every line, in the order of `lines`, carried in the last 30 days; None: that is not loaded."""
    shapes: tuple[ShapeFact, ...] = ()
    usage: Usage = field(default_factory=Usage)
    currency: str = "CNY"
    dearest_price: float | None = DEAREST_PRICE
    """The monthly price of a Mbps at which `billing_cost` gives 0 points; None, in records of version 1 of the rules:
    the price of the dearest line here."""
