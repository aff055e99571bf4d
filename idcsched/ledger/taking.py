"""Taking and giving back: the only code that writes holdings, claims and headcounts.

A claim is honoured only if what is counted of its holding does not exceed the claim's ceiling, in the very statement
that takes it: the check constraint `claim_within_ceiling` says so. Rows are touched in one order everywhere, so that
two who want the same things wait for each other instead of deadlocking.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Greatest, Round

from idcsched.audit.services import feed_append
from idcsched.audit.statements import Statement, announcement, rounded, stored
from idcsched.audit.writing import write
from idcsched.framework.claiming import Claim as Wanted
from idcsched.framework.normalize import DECIMALS

from .keeping import Keep, keep_returned
from .models import Claim, Headcount, Holding

__all__ = ["Stay", "claims_fade", "claims_fade_begin", "claims_release", "oversold", "taking"]

IDC = "(SELECT id FROM inventory_idc WHERE code = %s)"
LINE = f"(SELECT id FROM inventory_line WHERE idc_id = {IDC} AND code = %s)"  # noqa: S608 - names of this module's own
TENANT = "(SELECT id FROM accounts_tenant WHERE code = %s)"
GUARD = "claim_within_ceiling"
KEPT = " - CASE WHEN kept_until > %s AND kept_for >= %s THEN kept ELSE 0 END"
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


def taking(stays: Sequence[Stay], *, at: datetime) -> list[Statement]:
    """The statements that take all of it; run them together with what records the placements.

    An IntegrityError that is `oversold` means that something was no longer there.
    """
    ordered = sorted(stays, key=attrgetter("idc", "tenant", "business"))
    wanted = [(stay, claim) for stay in ordered for claim in stay.claims]
    return [
        *(_present(stay) for stay in ordered if stay.machines),
        *(
            statement
            for stay, claim in sorted(wanted, key=lambda pair: (pair[0].idc, pair[1].key))
            for statement in _take(stay, claim, at)
        ),
        *(announcement("ledger", idc, at) for idc in dict.fromkeys(stay.idc for stay in ordered)),
    ]


def _present(stay: Stay) -> Statement:
    return Statement(
        f"""
        INSERT INTO ledger_headcount (idc_id, tenant_id, business, machines) VALUES ({IDC}, {TENANT}, %s, %s)
        ON CONFLICT (idc_id, tenant_id, business)
        DO UPDATE SET machines = ledger_headcount.machines + excluded.machines
        """,  # noqa: S608
        [stay.idc, stay.tenant, stay.business, stay.machines],
    )


def _take(stay: Stay, claim: Wanted, at: datetime) -> Iterator[Statement]:
    """The holding goes up by the claim, then the claim is written down with what the holding came to.

    An IDC or line that is gone leaves NULL where none may stand, which undoes everything.
    """
    line, line_params = (LINE, [stay.idc, claim.line]) if claim.line else ("NULL", [])
    target = "(line_id)" if claim.line else "(idc_id, resource) WHERE line_id IS NULL"
    grown = ", ".join(
        f"{name} = {rounded(f'ledger_holding.{name} + excluded.{name}', DECIMALS)}" for name in ("taken", "ordered")
    )
    yield Statement(
        f"""
        INSERT INTO ledger_holding (idc_id, line_id, resource, taken, ordered) VALUES ({IDC}, {line}, %s, %s, %s)
        ON CONFLICT {target} DO UPDATE SET {grown}
        """,  # noqa: S608 - names of this module's own
        [stay.idc, *line_params, claim.resource, claim.amount, claim.amount],
    )
    where = f"line_id = {LINE}" if claim.line else f"line_id IS NULL AND idc_id = {IDC} AND resource = %s"
    counted = "ordered" if claim.counted == "ordered" else "taken"
    placement, created = stored(Claim, "placement", stay.placement), stored(Claim, "created_at", at)
    kept, kept_params = ("", []) if stay.behind is None or claim.ceiling is None else (KEPT, [created, stay.behind])
    yield Statement(
        f"""
        INSERT INTO ledger_claim (placement, holding_id, amount, remaining, taken_after, ceiling, created_at)
        SELECT %s, id, %s, %s, {counted}, %s{kept}, %s FROM ledger_holding WHERE {where}
        """,  # noqa: S608
        [placement, claim.amount, claim.amount, claim.ceiling, *kept_params, created]
        + (line_params or [stay.idc, claim.resource]),
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
