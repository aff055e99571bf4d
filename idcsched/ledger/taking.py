"""Taking and giving back: the only code that writes holdings, claims and headcounts.

A claim is honoured only if what is counted of its holding does not exceed the claim's ceiling, in the very statement
that takes it: the check constraint `claim_within_ceiling` says so. Rows are touched in one order everywhere
(headcounts, stocks, lines, each by IDC), so that two who want the same wait for each other instead of deadlocking.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError
from django.db.models import F
from django.db.models.functions import Greatest, Round

from idcsched.audit.services import feed_append
from idcsched.audit.statements import SHAPES, Statement, announcements, places, rounded, stored, typed
from idcsched.audit.writing import write
from idcsched.framework.capacity import Claim as Wanted
from idcsched.framework.normalize import DECIMALS

from .keeping import Keep, keep_returned
from .models import Claim, Headcount, Holding

__all__ = ["Stay", "claim_left", "claims_fade", "claims_fade_begin", "claims_release", "oversold", "taking"]

OF_LINE = "holding.line_id = wanted.column7"
OF_STOCK = "holding.line_id IS NULL AND holding.idc_id = wanted.column7 AND holding.resource = wanted.column8"
GUARD = "claim_within_ceiling"
KEPT = " - CASE WHEN holding.kept_until > %s AND holding.kept_for >= wanted.column6 THEN holding.kept ELSE 0 END"
"""By so much the ceiling is lower for whoever stands behind those that wait."""
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


def taking(stays: Sequence[Stay], *, at: datetime) -> list[Statement]:
    """The statements that take all of it; run them together with what records the placements.

    However many stays there are, they are few. An IntegrityError that is `oversold` means that something was no longer
    there. What everybody wants is touched last, and held for the shortest time.
    """
    parts = sorted((_part(stay, claim) for stay in stays for claim in stay.claims), key=attrgetter("place"))
    stock = [part for part in parts if not part.claim.line]
    bandwidth = [part for part in parts if part.claim.line]
    return [
        announcements("ledger", sorted({stay.idc for stay in stays}), at),
        *_present(stays),
        *_taken(stock, at, target="(idc_id, resource) WHERE line_id IS NULL"),
        *_taken(bandwidth, at, target="(line_id)"),
    ]


def _part(stay: Stay, claim: Wanted) -> _Part:
    return _Part((stay.idc_key, stay.line_key(claim.line) or 0, claim.resource), stay, claim)


def _present(stays: Sequence[Stay]) -> Iterator[Statement]:
    """The machines that come to stand there; those of one business together: no statement may touch a row twice."""
    machines: dict[tuple[int, int, str], int] = defaultdict(int)
    for stay in stays:
        machines[stay.idc_key, stay.tenant_key, stay.business] += stay.machines
    rows = [(*key, count) for key, count in sorted(machines.items()) if count]
    if rows:
        yield Statement(
            f"""
            INSERT INTO ledger_headcount (idc_id, tenant_id, business, machines) VALUES {places(4, len(rows))}
            ON CONFLICT (idc_id, tenant_id, business)
            DO UPDATE SET machines = ledger_headcount.machines + excluded.machines
            """,  # noqa: S608 - names of this module's own
            [*chain.from_iterable(rows)],
        )


def _taken(parts: Sequence[_Part], at: datetime, *, target: str) -> Iterator[Statement]:
    """The holdings go up by the claims on them, then each claim is written down with what its holding came to with it.

    An IDC or line that is gone undoes everything: its key is no key, or leaves NULL where none may stand.
    """
    if not parts:
        return
    rows = [(idc, line or None, resource, sum_, sum_) for (idc, line, resource), sum_ in _sums(parts).items()]
    yield Statement(_taken_sql(len(rows), target), [*chain.from_iterable(rows)])
    yield _claims(parts, at)


@lru_cache(maxsize=SHAPES)
def _taken_sql(rows: int, target: str) -> str:
    grown = ", ".join(
        f"{name} = {rounded(f'ledger_holding.{name} + excluded.{name}', DECIMALS)}" for name in ("taken", "ordered")
    )
    return f"""
        INSERT INTO ledger_holding (idc_id, line_id, resource, taken, ordered) VALUES {places(5, rows)}
        ON CONFLICT {target} DO UPDATE SET {grown}
        """  # noqa: S608 - names of this module's own


def _sums(parts: Sequence[_Part]) -> dict[tuple[int, int, str], float]:
    sums: dict[tuple[int, int, str], float] = defaultdict(float)
    for part in parts:
        sums[part.place] += part.claim.amount
    return {place: round(amount, DECIMALS) for place, amount in sums.items()}


def _later(parts: Sequence[_Part]) -> Iterator[float]:
    """For each how much of the same is taken by those after it: so much less was taken when its own turn came."""
    left = _sums(parts)
    for part in parts:
        left[part.place] = round(left[part.place] - part.claim.amount, DECIMALS)
        yield left[part.place]


def _claims(parts: Sequence[_Part], at: datetime) -> Statement:
    """Each claim with its holding, which is this transaction's now. One without would leave NULL, too."""
    created, of_lines = stored(Claim, "created_at", at), bool(parts[0].claim.line)
    wanted = [_wanted(part, later) for part, later in zip(parts, _later(parts), strict=True)]
    return Statement(_claims_sql(len(wanted), of_lines=of_lines), [created, created, *chain(*wanted)])


def _wanted(part: _Part, later: float) -> tuple[Any, ...]:
    """A claim as the columns of a table; of a stock with one more, since its holding has no line to be known by."""
    claim, (idc, line, resource) = part.claim, part.place
    of = (line or None,) if claim.line else (idc, resource)
    placement = stored(Claim, "placement", part.stay.placement)
    return placement, claim.amount, later, claim.ceiling, claim.counted, part.stay.behind, *of


@lru_cache(maxsize=SHAPES)
def _claims_sql(rows: int, *, of_lines: bool) -> str:
    """The claims on lines or on stocks; what fills it: when, twice, then all that is `_wanted`."""
    number, text = typed(Claim, "amount"), typed(Holding, "resource")
    kinds = [typed(Claim, "placement"), number, number, number, text, typed(Holding, "kept_for")]
    kinds += [typed(Holding, "line")] if of_lines else [typed(Holding, "idc"), text]
    row = f"({', '.join(kinds)})"
    counted = "CASE wanted.column5 WHEN 'ordered' THEN holding.ordered ELSE holding.taken END"
    return f"""
        INSERT INTO ledger_claim (placement, holding_id, amount, remaining, taken_after, ceiling, created_at)
        SELECT wanted.column1, holding.id, wanted.column2, wanted.column2,
        {rounded(f"{counted} - wanted.column3", DECIMALS)}, wanted.column4{KEPT}, %s
        FROM (VALUES {", ".join([row] * rows)}) AS wanted
        LEFT JOIN ledger_holding AS holding ON {OF_LINE if of_lines else OF_STOCK}
        """  # noqa: S608 - names of this module's own


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
