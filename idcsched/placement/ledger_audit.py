"""The audit of the ledger: what it holds is compared with what the placements and their events say."""

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
MOST_SECONDS_APART = 300.0
"""How far times of one transaction may differ, as it may have waited for a lock in between."""
BANDWIDTH = Resource.BANDWIDTH_MBPS.value
SEEN_BY_MONITORING = frozenset({Move.CONFIRM, Move.UP})
"""The moves after which monitoring sees what a placement uses."""
Place = tuple[Any, str, str, str]
"""Placement, IDC, line (or an empty text) and resource."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure that differs between the ledger and the placements."""

    what: str
    ledger: float
    placements: float

    def __str__(self) -> str:
        return f"{self.what}: {self.ledger:.10g} in the ledger, {self.placements:.10g} by the placements"


def ledger_differences() -> list[Difference]:
    """Return all differences, read at one moment; any of them means that there is a bug."""
    with one_moment():
        return [*_compare_holdings(), *_compare_claims(), *_compare_kept(), *_compare_headcounts()]


def _compare_holdings() -> Iterator[Difference]:
    """Compare what is taken of each holding with the sum of its open claims."""
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


def _compare_claims() -> Iterator[Difference]:
    """Compare the open claims with those in the events of the placements that hold capacity."""
    now, rows = timezone.now(), Claim.objects.filter(released_at__isnull=True)
    claims = {_place(row): row for row in rows.select_related("holding__idc", "holding__line__idc")}
    expected: dict[Place, _Expected] = {}
    holding = Placement.objects.filter(state__in=sorted(HOLDING)).select_related("idc").prefetch_related("events")
    for placement in holding.iterator(chunk_size=1000):
        if (expected_claims := _expected_by_events(placement)) is None:
            # Events of older versions list no claims: bandwidth is compared by the lines, and stock not at all.
            expected_claims = _expected_by_lines(placement)
            claims = {place: row for place, row in claims.items() if place[0] != placement.pk or place[3] == BANDWIDTH}
        expected |= expected_claims
    for place in sorted({*claims, *expected}, key=str):
        claim, expected_claim = claims.get(place), expected.get(place)
        what = "{3} of placement {0} in {1}/{2}".format(*place)
        yield from _unless_equal(what, claim.amount if claim else 0.0, expected_claim.amount if expected_claim else 0.0)
        if claim is not None and expected_claim is not None:
            yield from _compare_claim(what, claim, expected_claim, now)


def _place(claim: Claim) -> Place:
    holding = claim.holding
    return claim.placement, holding.idc.code, holding.line.code if holding.line else "", holding.resource


def _compare_claim(what: str, claim: Claim, expected: "_Expected", now: datetime) -> Iterator[Difference]:
    """Compare a claim's other fields with the placement's events, as far as these determine them."""
    line = claim.holding.line
    if line is not None and line.idc_id != claim.holding.idc_id:
        yield Difference(f"{what}, IDC of its line", claim.holding.idc_id, line.idc_id)
    if expected.at is None:  # the claim is older than claims in events
        return
    yield from _compare_times(what, claim, expected)
    least = claim_left(claim, now, settings.BANDWIDTH_FADE.total_seconds()) if expected.fading_since else claim.amount
    if claim.remaining < least - BEYOND_ROUNDING:
        yield Difference(f"{what}, remaining", claim.remaining, least)
    if claim.taken_after < claim.amount - BEYOND_ROUNDING:
        yield Difference(f"{what}, taken after it", claim.taken_after, claim.amount)
    ceiling, most = _or_endless(claim.ceiling), _or_endless(expected.ceiling)
    if ceiling > most + BEYOND_ROUNDING or (ceiling < most and most == inf):
        yield Difference(f"{what}, ceiling", ceiling, most)


def _compare_times(what: str, claim: Claim, expected: "_Expected") -> Iterator[Difference]:
    times = {
        "created": (claim.created_at.timestamp(), expected.at or 0.0),
        "fading since": (claim.fading_since.timestamp() if claim.fading_since else 0.0, expected.fading_since or 0.0),
    }
    for name, (claimed, happened) in times.items():
        if abs(claimed - happened) > MOST_SECONDS_APART:
            yield Difference(f"{what}, {name}", claimed, happened)


def _or_endless(ceiling: float | None) -> float:
    return inf if ceiling is None else ceiling


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expected:
    """A claim as the placement's events have it; the ledger's `ceiling` is lower where capacity was kept for others."""

    amount: float
    ceiling: float | None = None
    at: float | None = None
    fading_since: float | None = None


def _expected_by_lines(placement: Placement) -> dict[Place, _Expected]:
    idc = placement.idc.code if placement.idc else ""
    return {
        (placement.pk, idc, line["line"], BANDWIDTH): _Expected(amount=float(line["bandwidth_mbps"]))
        for line in placement.lines
    }


def _expected_by_events(placement: Placement) -> dict[Place, _Expected] | None:
    """Return the claims in the last event that lists claims; None where no event does."""
    idc = placement.idc.code if placement.idc else ""
    events = sorted(placement.events.all(), key=attrgetter("version"))
    taking = next((event for event in reversed(events) if "claims" in event.detail), None)
    if taking is None:
        return None
    seen_at = [
        event.at.timestamp() for event in events if event.version > taking.version and event.move in SEEN_BY_MONITORING
    ]
    return {
        (placement.pk, idc, claim.get("line") or "", claim["resource"]): _Expected(
            amount=float(claim["amount"]),
            ceiling=claim.get("ceiling"),
            at=taking.at.timestamp(),
            fading_since=seen_at[0] if seen_at and claim["resource"] == BANDWIDTH else None,
        )
        for claim in taking.detail["claims"]
    }


def _compare_kept() -> Iterator[Difference]:
    """Report capacity kept beyond the next minutes for a priority of which no order waits."""
    priorities = set(Placement.objects.filter(state=State.WAITING).values_list("priority", flat=True))
    soon = timezone.now() + timedelta(minutes=2)
    for holding in Holding.objects.filter(kept__gt=0, kept_until__gt=soon).select_related("idc", "line__idc"):
        if holding.kept_for not in priorities:
            yield Difference(f"{holding}, kept free", holding.kept, 0.0)


def _compare_headcounts() -> Iterator[Difference]:
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
    yield from _compare_sums("machines of {1} {2} in {0}", counted, held)


def _compare_sums(
    what: str, ledger: Mapping[tuple[Any, ...], float], placements: Mapping[tuple[Any, ...], float]
) -> Iterator[Difference]:
    for key in sorted({*ledger, *placements}, key=str):
        yield from _unless_equal(what.format(*key), ledger.get(key, 0.0), placements.get(key, 0.0))


def _unless_equal(what: str, ledger: float, placements: float) -> Iterator[Difference]:
    if abs(ledger - placements) > BEYOND_ROUNDING:
        yield Difference(what, ledger, placements)
