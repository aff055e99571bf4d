"""Taking and giving back: the only code that writes holdings, claims and headcounts.

One statement raises a holding and says what it came to. A claim is honoured only if that does not exceed the claim's
ceiling: the check constraint `claim_within_ceiling` says so. Rows are touched in one order everywhere (headcounts,
stocks, lines, each by IDC), so that two who want the same wait for each other instead of deadlocking.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import F
from django.db.models.functions import Greatest, Round

from idcsched.audit.services import feed_append, feed_extend
from idcsched.audit.writing import write
from idcsched.framework.capacity import Claim as Wanted
from idcsched.framework.normalize import DECIMALS

from .keeping import Keep, keep_returned
from .models import Claim, Headcount, Holding

__all__ = ["Stay", "claim_left", "claims_fade", "claims_fade_begin", "claims_release", "claims_take", "oversold"]

GUARD = "claim_within_ceiling"
BANDWIDTH = "bandwidth_mbps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """Where a placement stands, for whom and how many machines, and what it takes there.

    The primary keys are those of the picture that was decided on: what has been renamed since is still what was meant.
    `behind`: it takes nothing that is kept for orders which wait with this priority or a higher one; None: it may.
    """

    placement: UUID
    idc: str
    idc_key: int
    line_keys: Mapping[str, int]
    tenant_key: int
    business: str
    machines: int
    claims: tuple[Wanted, ...]
    behind: int | None = None

    def line_key(self, code: str | None) -> int | None:
        """None: it is none, or not there any more."""
        return self.line_keys.get(code) if code else None


class _Part(NamedTuple):
    """One thing that is taken, and for whom. `place`: IDC, line (0: none) and resource, in the order of being taken."""

    place: tuple[int, int, str]
    stay: Stay
    claim: Wanted


class _Passed(NamedTuple):
    """What the statement that took from a holding found it to come to, `kept` being what is kept of it at present."""

    key: int
    taken: float
    ordered: float
    kept: float
    kept_for: int | None


def claims_take(stays: Sequence[Stay], *, at: datetime) -> int:
    """Take all of it, or raise an IntegrityError: an `oversold` one where something is no longer there.

    Call it last in the transaction that records the placements: everybody waits for the rows that it touches. Returns
    the mark of the transaction. This process is not told of the news: it knows what it takes.
    """
    mark = feed_extend(topic="ledger", keys=sorted({stay.idc for stay in stays}), tell=False)
    parts = sorted((_part(stay, claim) for stay in stays for claim in stay.claims), key=attrgetter("place"))
    stock = [part for part in parts if not part.claim.line]
    bandwidth = [part for part in parts if part.claim.line]
    with connection.cursor() as cursor:
        _headcounts_raise(cursor, stays)
        passed = _holdings_raise(cursor, stock, at, target="(idc_id, resource) WHERE line_id IS NULL")
        passed |= _holdings_raise(cursor, bandwidth, at, target="(line_id)")
        _claims_insert(cursor, stock + bandwidth, passed, at)
    return mark


def _part(stay: Stay, claim: Wanted) -> _Part:
    return _Part((stay.idc_key, stay.line_key(claim.line) or 0, claim.resource), stay, claim)


def _headcounts_raise(cursor: CursorWrapper, stays: Sequence[Stay]) -> None:
    """Add the machines to the headcounts, those of one business together: no statement may touch a row twice."""
    machines: dict[tuple[int, int, str], int] = defaultdict(int)
    for stay in stays:
        machines[stay.idc_key, stay.tenant_key, stay.business] += stay.machines
    rows = [(*key, count) for key, count in sorted(machines.items()) if count]
    if rows:
        cursor.execute(
            f"""
            INSERT INTO ledger_headcount (idc_id, tenant_id, business, machines) VALUES {_places(4, len(rows))}
            ON CONFLICT (idc_id, tenant_id, business)
            DO UPDATE SET machines = ledger_headcount.machines + excluded.machines
            """,  # noqa: S608 - names of this module's own
            [value for row in rows for value in row],
        )


def _holdings_raise(
    cursor: CursorWrapper, parts: Sequence[_Part], at: datetime, *, target: str
) -> dict[tuple[int, int, str], _Passed]:
    """Raise the holdings by the claims on them; an IDC or line that is gone leaves a key that no constraint passes."""
    if not parts:
        return {}
    rows = [(idc, line or None, resource, sum_, sum_) for (idc, line, resource), sum_ in _sums(parts).items()]
    on_postgresql = connection.vendor == "postgresql"
    rounded = f"ROUND(({{}})::numeric, {DECIMALS})::float8" if on_postgresql else f"ROUND({{}}, {DECIMALS})"
    grown = ", ".join(
        f"{name} = {rounded.format(f'ledger_holding.{name} + excluded.{name}')}" for name in ("taken", "ordered")
    )
    cursor.execute(
        f"""
        INSERT INTO ledger_holding (idc_id, line_id, resource, taken, ordered) VALUES {_places(5, len(rows))}
        ON CONFLICT {target} DO UPDATE SET {grown}
        RETURNING idc_id, line_id, resource, id, taken, ordered,
        CASE WHEN kept_until > %s THEN kept ELSE 0 END, kept_for
        """,  # noqa: S608 - names of this module's own
        [*(value for row in rows for value in row), connection.ops.adapt_datetimefield_value(at)],
    )
    return {(idc, line or 0, resource): _Passed(*rest) for idc, line, resource, *rest in cursor.fetchall()}


def _places(width: int, rows: int) -> str:
    """The placeholders of so many rows of so many values, as they stand after VALUES."""
    row = f"({', '.join(['%s'] * width)})"
    return ", ".join([row] * rows)


def _sums(parts: Sequence[_Part]) -> dict[tuple[int, int, str], float]:
    sums: dict[tuple[int, int, str], float] = defaultdict(float)
    for part in parts:
        sums[part.place] += part.claim.amount
    return {place: round(amount, DECIMALS) for place, amount in sums.items()}


def _claims_insert(
    cursor: CursorWrapper, parts: Sequence[_Part], passed: Mapping[tuple[int, int, str], _Passed], at: datetime
) -> None:
    """Write each claim with what its holding came to with it, without those that come after it: the guard."""
    if not parts:
        return
    later, values = _sums(parts), []
    key_of = partial(Claim._meta.get_field("placement").get_db_prep_value, connection=connection)
    created = connection.ops.adapt_datetimefield_value(at)
    for part in parts:
        later[part.place] = round(later[part.place] - part.claim.amount, DECIMALS)
        claim, holding, behind = part.claim, passed[part.place], part.stay.behind
        counted = holding.ordered if claim.counted == "ordered" else holding.taken
        after = round(counted - later[part.place], DECIMALS)
        stands_behind = behind is not None and holding.kept_for is not None and holding.kept_for >= behind
        ceiling = claim.ceiling if claim.ceiling is None or not stands_behind else claim.ceiling - holding.kept
        values += [key_of(part.stay.placement), holding.key, claim.amount, claim.amount, after, ceiling, created]
    cursor.execute(
        f"""
        INSERT INTO ledger_claim (placement, holding_id, amount, remaining, taken_after, ceiling, created_at)
        VALUES {_places(7, len(parts))}
        """,  # noqa: S608 - names of this module's own
        values,
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
        (claim, claim_left(claim, now, over_seconds))
        for claim in Claim.objects.filter(holding=holding, fading_since__isnull=False, remaining__gt=0)
    ]
    moved = [(claim, left) for claim, left in moved if left < claim.remaining]
    _give_back(holding, pending=sum(claim.remaining - left for claim, left in moved), ordered=0.0)
    for claim, left in moved:
        Claim.objects.filter(pk=claim.pk).update(remaining=left)
    if moved:
        feed_append(topic="ledger", key=locked.idc.code)
    return len(moved)


def claim_left(claim: Claim, now: datetime, over_seconds: float) -> float:
    """What still counts of it: all when the fading begins, nothing when it is over."""
    if not over_seconds:
        return 0.0
    since = claim.fading_since or now
    share = 1 - (now - since).total_seconds() / over_seconds
    return round(claim.amount * min(max(share, 0.0), 1.0), DECIMALS)


def _locked(holdings: Iterable[int]) -> list[Holding]:
    """Those holdings, held until the transaction ends."""
    rows = Holding.objects.filter(pk__in=list(holdings))
    found = sorted(rows, key=lambda row: (row.idc_id, row.line_id or 0, row.resource))
    return [Holding.objects.select_for_update(of=("self",)).select_related("idc").get(pk=row.pk) for row in found]


def _give_back(holding: int, *, pending: float, ordered: float) -> None:
    Holding.objects.filter(pk=holding).update(
        taken=Greatest(Round(F("taken") - pending, DECIMALS), 0.0),
        ordered=Greatest(Round(F("ordered") - ordered, DECIMALS), 0.0),
    )
