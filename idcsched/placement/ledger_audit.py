"""The ledger worked out anew from the placements, beside the ledger as it stands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from idcsched.framework.normalize import DECIMALS
from idcsched.ledger.models import Claim, Headcount, Holding, Resource
from idcsched.ledger.taking import claim_left
from idcsched.scheduling.live import one_moment

from .lifecycle import HOLDING, Move, State
from .models import Placement

__all__ = ["Difference", "ledger_differences"]

BEYOND_ROUNDING = 10.0 ** (1 - DECIMALS)
BESIDE_EACH_OTHER = 300.0
"""Seconds by which what is written in one transaction may lie apart, after it has waited for a row."""
BANDWIDTH = Resource.BANDWIDTH_MBPS.value
SEEN = frozenset({Move.CONFIRM, Move.UP})
"""The moves from which on monitoring sees what a placement uses."""
Place = tuple[Any, str, str, str]
"""Placement, IDC, line (or nothing) and resource."""


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
        return [*_of_holdings(), *_of_claims(), *_of_kept(), *_of_headcounts()]


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


def _of_claims() -> Iterator[Difference]:
    """Open claims are what the placements that hold capacity took, by the events that tell of it."""
    now, rows = timezone.now(), Claim.objects.filter(released_at__isnull=True)
    claims = {_place(row): row for row in rows.select_related("holding__idc", "holding__line__idc")}
    expected: dict[Place, _Expected] = {}
    holding = Placement.objects.filter(state__in=sorted(HOLDING)).select_related("idc").prefetch_related("events")
    for placement in holding.iterator(chunk_size=1000):
        if (found := _expected(placement)) is None:  # no event tells of claims: its lines do, and nothing of stock
            found = _by_lines(placement)
            claims = {place: row for place, row in claims.items() if place[0] != placement.pk or place[3] == BANDWIDTH}
        expected |= found
    for place in sorted({*claims, *expected}, key=str):
        claim, wanted = claims.get(place), expected.get(place)
        what = "{3} of placement {0} in {1}/{2}".format(*place)
        yield from _unless_equal(what, claim.amount if claim else 0.0, wanted.amount if wanted else 0.0)
        if claim is not None and wanted is not None:
            yield from _of_claim(what, claim, wanted, now)


def _place(claim: Claim) -> Place:
    holding = claim.holding
    return claim.placement, holding.idc.code, holding.line.code if holding.line else "", holding.resource


def _of_claim(what: str, claim: Claim, wanted: "_Expected", now: datetime) -> Iterator[Difference]:
    """What else there is to say of a claim, as far as the placement's events determine it."""
    line = claim.holding.line
    if line is not None and line.idc_id != claim.holding.idc_id:
        yield Difference(f"{what}, IDC of its line", claim.holding.idc_id, line.idc_id)
    if wanted.at is None:  # it is from before events told of claims
        return
    yield from _of_times(what, claim, wanted)
    least = claim_left(claim, now, settings.BANDWIDTH_FADE.total_seconds()) if wanted.fading_since else claim.amount
    if claim.remaining < least - BEYOND_ROUNDING:
        yield Difference(f"{what}, remaining", claim.remaining, least)
    if claim.taken_after < claim.amount - BEYOND_ROUNDING:
        yield Difference(f"{what}, taken after it", claim.taken_after, claim.amount)
    ceiling, most = _or_endless(claim.ceiling), _or_endless(wanted.ceiling)
    if ceiling > most + BEYOND_ROUNDING or (ceiling < most and most == inf):
        yield Difference(f"{what}, ceiling", ceiling, most)


def _of_times(what: str, claim: Claim, wanted: "_Expected") -> Iterator[Difference]:
    times = {
        "created": (claim.created_at.timestamp(), wanted.at or 0.0),
        "fading since": (claim.fading_since.timestamp() if claim.fading_since else 0.0, wanted.fading_since or 0.0),
    }
    for name, (told, happened) in times.items():
        if abs(told - happened) > BESIDE_EACH_OTHER:
            yield Difference(f"{what}, {name}", told, happened)


def _or_endless(ceiling: float | None) -> float:
    return inf if ceiling is None else ceiling


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expected:
    """A claim as the placement's events have it; `ceiling` is lower where something was kept for others."""

    amount: float
    ceiling: float | None = None
    at: float | None = None
    fading_since: float | None = None


def _by_lines(placement: Placement) -> dict[Place, _Expected]:
    idc = placement.idc.code if placement.idc else ""
    return {
        (placement.pk, idc, line["line"], BANDWIDTH): _Expected(amount=float(line["bandwidth_mbps"]))
        for line in placement.lines
    }


def _expected(placement: Placement) -> dict[Place, _Expected] | None:
    """What the placement holds: what the last event that took something says; None where no event does."""
    idc = placement.idc.code if placement.idc else ""
    events = sorted(placement.events.all(), key=attrgetter("version"))
    taken = next((event for event in reversed(events) if "claims" in event.detail), None)
    if taken is None:
        return None
    seen = [event.at.timestamp() for event in events if event.version > taken.version and event.move in SEEN]
    return {
        (placement.pk, idc, claim.get("line") or "", claim["resource"]): _Expected(
            amount=float(claim["amount"]),
            ceiling=claim.get("ceiling"),
            at=taken.at.timestamp(),
            fading_since=seen[0] if seen and claim["resource"] == BANDWIDTH else None,
        )
        for claim in taken.detail["claims"]
    }


def _of_kept() -> Iterator[Difference]:
    """What is kept free for longer than until they are tried is kept for orders that wait."""
    priorities = set(Placement.objects.filter(state=State.WAITING).values_list("priority", flat=True))
    soon = timezone.now() + timedelta(minutes=2)
    for holding in Holding.objects.filter(kept__gt=0, kept_until__gt=soon).select_related("idc", "line__idc"):
        if holding.kept_for not in priorities:
            yield Difference(f"{holding}, kept free", holding.kept, 0.0)


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
