"""Taking and giving back: the only code that writes holdings, claims and headcounts.

A claim is honoured only if what is counted of its holding does not exceed the claim's ceiling, in the very statement
that takes it: the check constraint `claim_within_ceiling` says so. Rows are touched in one order everywhere
(headcounts, stocks, lines, each by IDC), so that two who want the same wait for each other instead of deadlocking.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Greatest, Round

from idcsched.audit.services import feed_append
from idcsched.audit.statements import Statement, announcements, rounded, stored, typed
from idcsched.audit.writing import write
from idcsched.framework.claiming import Claim as Wanted
from idcsched.framework.normalize import DECIMALS

from .keeping import Keep, keep_returned
from .models import Claim, Headcount, Holding

__all__ = ["Stay", "claims_fade", "claims_fade_begin", "claims_release", "oversold", "taking"]

IDC = "(SELECT id FROM inventory_idc WHERE code = %s)"
LINE = f"(SELECT id FROM inventory_line WHERE idc_id = {IDC} AND code = %s)"  # noqa: S608 - names of this module's own
TENANT = "(SELECT id FROM accounts_tenant WHERE code = %s)"
STOCK = f"line_id IS NULL AND idc_id = {IDC} AND resource = %s"
GUARD = "claim_within_ceiling"
KEPT = " - CASE WHEN holding.kept_until > %s AND holding.kept_for >= wanted.column7 THEN holding.kept ELSE 0 END"
"""By so much the ceiling is lower for whoever stands behind those that wait."""
BANDWIDTH = "bandwidth_mbps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Where a placement stands, for whom and how many machines, and what it takes there.

    `behind`: it takes nothing that is kept for orders which wait with this priority or a higher one; None: it may.
    """

    placement: UUID
    idc: str
    tenant: str
    business: str
    machines: int
    claims: tuple[Wanted, ...]
    behind: int | None = None


Pair = tuple[Stay, Wanted]
"""One thing that is taken, and for whom."""


def taking(stays: Sequence[Stay], *, at: datetime) -> list[Statement]:
    """The statements that take all of it; run them together with what records the placements.

    However many stays there are, they are few. An IntegrityError that is `oversold` means that something was no longer
    there. What everybody wants is touched last, and held for the shortest time.
    """
    wanted = [(stay, claim) for stay in stays for claim in stay.claims]
    stock = sorted((pair for pair in wanted if not pair[1].line), key=_place)
    bandwidth = sorted((pair for pair in wanted if pair[1].line), key=_place)
    return [
        announcements("ledger", sorted({stay.idc for stay in stays}), at),
        *_present(stays),
        *_taken(stock, at, target="(idc_id, resource) WHERE line_id IS NULL"),
        *_taken(bandwidth, at, target="(line_id)"),
    ]


def _place(pair: Pair) -> tuple[str, str, str]:
    stay, claim = pair
    return stay.idc, *claim.key


def _present(stays: Sequence[Stay]) -> Iterator[Statement]:
    """The machines that come to stand there; those of one business together: no statement may touch a row twice."""
    machines: dict[tuple[str, str, str], int] = defaultdict(int)
    for stay in stays:
        machines[stay.idc, stay.tenant, stay.business] += stay.machines
    rows = [[*key, count] for key, count in sorted(machines.items()) if count]
    if rows:
        yield Statement(
            f"""
            INSERT INTO ledger_headcount (idc_id, tenant_id, business, machines)
            VALUES {", ".join([f"({IDC}, {TENANT}, %s, %s)"] * len(rows))}
            ON CONFLICT (idc_id, tenant_id, business)
            DO UPDATE SET machines = ledger_headcount.machines + excluded.machines
            """,  # noqa: S608 - names of this module's own
            [value for row in rows for value in row],
        )


def _taken(pairs: Sequence[Pair], at: datetime, *, target: str) -> Iterator[Statement]:
    """The holdings go up by the claims on them, then each claim is written down with what its holding came to with it.

    An IDC or line that is gone leaves NULL where none may stand, which undoes everything.
    """
    if not pairs:
        return
    sums = _sums(pairs)
    rows = ", ".join(f"({IDC}, {LINE if line else 'NULL'}, %s, %s, %s)" for _, line, _ in sums)
    grown = ", ".join(
        f"{name} = {rounded(f'ledger_holding.{name} + excluded.{name}', DECIMALS)}" for name in ("taken", "ordered")
    )
    yield Statement(
        f"""
        INSERT INTO ledger_holding (idc_id, line_id, resource, taken, ordered) VALUES {rows}
        ON CONFLICT {target} DO UPDATE SET {grown}
        """,  # noqa: S608
        [
            value
            for (idc, line, resource), amount in sums.items()
            for value in (idc, *([idc, line] if line else []), resource, amount, amount)
        ],
    )
    yield _claims(pairs, at)


def _sums(pairs: Sequence[Pair]) -> dict[tuple[str, str, str], float]:
    sums: dict[tuple[str, str, str], float] = defaultdict(float)
    for pair in pairs:
        sums[_place(pair)] += pair[1].amount
    return {place: round(amount, DECIMALS) for place, amount in sums.items()}


def _later(pairs: Sequence[Pair]) -> list[float]:
    """For each how much of the same is taken by those after it: so much less was taken when its own turn came."""
    left = _sums(pairs)
    found = []
    for pair in pairs:
        left[_place(pair)] = round(left[_place(pair)] - pair[1].amount, DECIMALS)
        found.append(left[_place(pair)])
    return found


def _claims(pairs: Sequence[Pair], at: datetime) -> Statement:
    """Each claim with its holding, which is this transaction's now. One without would leave NULL, too."""
    created = stored(Claim, "created_at", at)
    wanted = [_wanted(stay, claim, later) for (stay, claim), later in zip(pairs, _later(pairs), strict=True)]
    counted = "CASE wanted.column6 WHEN 'ordered' THEN holding.ordered ELSE holding.taken END"
    return Statement(
        f"""
        INSERT INTO ledger_claim (placement, holding_id, amount, remaining, taken_after, ceiling, created_at)
        SELECT wanted.column1, holding.id, wanted.column3, wanted.column3,
        {rounded(f"{counted} - wanted.column4", DECIMALS)}, wanted.column5{KEPT}, %s
        FROM (VALUES {", ".join(sql for sql, _ in wanted)}) AS wanted
        LEFT JOIN ledger_holding AS holding ON holding.id = wanted.column2
        """,  # noqa: S608
        [created, created, *(value for _, params in wanted for value in params)],
    )


def _wanted(stay: Stay, claim: Wanted, later: float) -> Statement:
    """A claim as the columns 1 to 7 of a table."""
    where, params = (f"line_id = {LINE}", [stay.idc, claim.line]) if claim.line else (STOCK, [stay.idc, claim.resource])
    number, priority = typed(Claim, "amount"), typed(Holding, "kept_for")
    return Statement(
        f"({typed(Claim, 'placement')}, (SELECT id FROM ledger_holding WHERE {where}),"  # noqa: S608
        f" {number}, {number}, {number}, %s, {priority})",
        [
            stored(Claim, "placement", stay.placement),
            *params,
            claim.amount,
            later,
            claim.ceiling,
            claim.counted,
            stay.behind,
        ],
    )


def oversold(error: IntegrityError) -> bool:
    """Whether a claim was refused because its ceiling is reached."""
    return GUARD in str(error)


@write()
def claims_release(
    *,
    placement: UUID,
    idc: str,
    tenant: str,
    business: str,
    machines: int,
    at: datetime,
    keep: Keep | None = None,
) -> int:
    """Give back whatever the placement still holds in that IDC; says how many claims that were. Again: none.

    It is kept for whom it is to be kept for.
    """
    headcounts = Headcount.objects.filter(idc__code=idc, tenant__code=tenant, business=business)
    headcounts.update(machines=Greatest(F("machines") - machines, 0))
    open_claims = Claim.objects.filter(placement=placement, holding__idc__code=idc, released_at__isnull=True)
    _locked(open_claims.values_list("holding_id", flat=True))
    released = list(open_claims)
    for claim in released:
        _give_back(claim.holding_id, pending=claim.remaining, ordered=claim.amount)
        if keep is not None and claim.remaining:
            keep_returned(claim.holding_id, claim.remaining, keep, at=at)
    open_claims.update(released_at=at, remaining=0)
    if keep is not None and released:
        feed_append(topic="kept_free", key=idc)
    feed_append(topic="ledger", key=idc)
    return len(released)


@write()
def claims_fade_begin(*, placement: UUID, since: datetime) -> None:
    """From now on monitoring sees what the placement uses: its bandwidth claims begin to fade."""
    bandwidth = Claim.objects.filter(placement=placement, released_at__isnull=True, holding__resource=BANDWIDTH)
    bandwidth.filter(fading_since__isnull=True).update(fading_since=since)


def claims_fade(*, now: datetime, over_seconds: float, at_most: int = 10_000) -> int:
    """Let fading claims count for less, holding by holding; says how many claims moved."""
    fading = Claim.objects.filter(fading_since__isnull=False, remaining__gt=0)
    holdings = fading.order_by("holding_id").values_list("holding_id", flat=True).distinct()[:at_most]
    return sum(_fade(holding, now, over_seconds) for holding in list(holdings))


@write()
def _fade(holding: int, now: datetime, over_seconds: float) -> int:
    (locked,) = _locked([holding])
    moved = [
        (claim, _left(claim, now, over_seconds))
        for claim in Claim.objects.filter(holding=holding, fading_since__isnull=False, remaining__gt=0)
    ]
    moved = [(claim, left) for claim, left in moved if left < claim.remaining]
    _give_back(holding, pending=sum(claim.remaining - left for claim, left in moved), ordered=0.0)
    for claim, left in moved:
        Claim.objects.filter(pk=claim.pk).update(remaining=left)
    if moved:
        feed_append(topic="ledger", key=locked.idc.code)
    return len(moved)


def _left(claim: Claim, now: datetime, over_seconds: float) -> float:
    """What still counts of it: all when the fading begins, nothing when it is over."""
    since = claim.fading_since or now
    share = 1 - (now - since).total_seconds() / over_seconds
    return round(claim.amount * min(max(share, 0.0), 1.0), DECIMALS)


def _locked(holdings: Iterable[int]) -> list[Holding]:
    """Those holdings, held until the transaction ends."""
    rows = Holding.objects.filter(pk__in=list(holdings)).select_related("idc", "line")
    found = sorted(rows, key=lambda row: (row.idc.code, row.line.code if row.line else "", row.resource))
    return [Holding.objects.select_for_update(of=("self",)).select_related("idc").get(pk=row.pk) for row in found]


def _give_back(holding: int, *, pending: float, ordered: float) -> None:
    Holding.objects.filter(pk=holding).update(
        taken=Greatest(Round(F("taken") - pending, DECIMALS), 0.0),
        ordered=Greatest(Round(F("ordered") - ordered, DECIMALS), 0.0),
    )
