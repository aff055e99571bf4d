"""The ledger worked out anew from the placements, beside the ledger as it stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from idcsched.framework.normalize import DECIMALS
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.scheduling.live import one_moment

from .lifecycle import HOLDING
from .models import Placement

__all__ = ["Difference", "ledger_differences"]

BEYOND_ROUNDING = 10.0 ** (1 - DECIMALS)


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of which the ledger says more or less than the placements do."""

    what: str
    ledger: float
    placements: float

    def __str__(self) -> str:
        return f"{self.what}: {self.ledger:.10g} in the ledger, {self.placements:.10g} by the placements"


def ledger_differences() -> list[Difference]:
    """Everything that does not agree, all seen at one moment; nothing, unless somebody made a mistake."""
    with one_moment():
        return [*_of_holdings(), *_of_bandwidth(), *_of_headcounts()]


def _of_holdings() -> Iterator[Difference]:
    """What is taken of each thing is the sum of its open claims."""
    sums = Claim.objects.filter(released_at__isnull=True).values("holding").order_by("holding")
    claimed = {
        row["holding"]: (row["remaining"], row["amount"])
        for row in sums.annotate(remaining=Sum("remaining"), amount=Sum("amount")).values(
            "holding", "remaining", "amount"
        )
    }
    for holding in Holding.objects.select_related("idc", "line__idc"):
        taken, ordered = claimed.get(holding.pk, (0.0, 0.0))
        yield from _unless_equal(f"{holding}, taken", holding.taken, taken)
        yield from _unless_equal(f"{holding}, ordered", holding.ordered, ordered)


def _of_bandwidth() -> Iterator[Difference]:
    """Open claims are those of placements that hold capacity, line by line."""
    claims: dict[Any, float] = {}
    rows = Claim.objects.filter(released_at__isnull=True, holding__line__isnull=False)
    for placement, idc, line, amount in rows.values_list(
        "placement", "holding__idc__code", "holding__line__code", "amount"
    ):
        claims[placement, idc, line] = claims.get((placement, idc, line), 0.0) + amount
    held = {
        (placement, idc, line["line"]): float(line["bandwidth_mbps"])
        for placement, idc, lines in Placement.objects.filter(state__in=sorted(HOLDING)).values_list(
            "pk", "idc__code", "lines"
        )
        for line in lines
    }
    yield from _compared("bandwidth of placement {0} in {1}/{2}", claims, held)


def _of_headcounts() -> Iterator[Difference]:
    counted = {
        (idc, tenant, business): float(machines)
        for idc, tenant, business, machines in Headcount.objects.values_list(
            "idc__code", "tenant__code", "business", "machines"
        )
    }
    holding = Placement.objects.filter(state__in=sorted(HOLDING)).order_by()
    held = {
        (idc, tenant, business): float(machines)
        for idc, tenant, business, machines in holding.values_list("idc__code", "tenant__code", "business").annotate(
            Sum("machine_count")
        )
    }
    yield from _compared("machines of {1} {2} in {0}", counted, held)


def _compared(
    what: str, ledger: Mapping[tuple[Any, ...], float], placements: Mapping[tuple[Any, ...], float]
) -> Iterator[Difference]:
    for key in sorted({*ledger, *placements}, key=str):
        yield from _unless_equal(what.format(*key), ledger.get(key, 0.0), placements.get(key, 0.0))


def _unless_equal(what: str, ledger: float, placements: float) -> Iterator[Difference]:
    if abs(ledger - placements) > BEYOND_ROUNDING:
        yield Difference(what, ledger, placements)
