"""Takes capacity and gives it back: the only code that raises and lowers holdings, claims and headcounts.

A holding is what all placements together have taken of one line or stock, a claim one placement's part of it, a
headcount the number of a tenant's machines in an IDC. One statement raises a holding and returns its new amount. The
check constraint `claim_within_ceiling` refuses a claim for which that amount exceeds the claim's ceiling. Rows are
locked in the same order everywhere (headcounts, stocks, lines, each by IDC), so that orders for the same rows wait for
each other instead of deadlocking.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

import msgspec
from django.db import IntegrityError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import F
from django.db.models.functions import Greatest, Round

from idcsched.audit.writing import write
from idcsched.feed.reading import FeedNews
from idcsched.feed.services import feed_append, feed_extend
from idcsched.framework.capacity import Claim as RequestedClaim
from idcsched.framework.decoding import decoder_of
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.overlay import Allocation

from .keeping import Keep, keep_returned
from .models import Claim, Headcount, Holding

__all__ = [
    "Entry",
    "allocations_told",
    "claim_left",
    "claims_fade",
    "claims_fade_begin",
    "claims_release",
    "claims_take",
    "oversold",
]

GUARD = "claim_within_ceiling"
BANDWIDTH = "bandwidth_mbps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a placement takes of an IDC, with the primary keys of what it takes.

    The keys come from the snapshot on which the decision was made, so that a later renaming does not matter. `behind`
    is the order's priority if capacity kept for waiting orders of the same or a higher priority may not be taken; None:
    all kept capacity may be taken.
    """

    placement: UUID
    allocation: Allocation
    idc_key: int
    line_keys: Mapping[str, int]
    tenant_key: int
    behind: int | None = None

    def line_key(self, code: str | None) -> int | None:
        """Return the line's primary key; None where the claim is on no line, or the line is not in `line_keys`."""
        return self.line_keys.get(code) if code else None


class _EntryClaim(NamedTuple):
    """One claim of one entry. `place`: IDC, line (0: none) and resource, by which the claims are sorted."""

    place: tuple[int, int, str]
    entry: Entry
    claim: RequestedClaim


class _RaisedHolding(NamedTuple):
    """The columns of a holding right after it was raised, as in `Holding`; a `kept` that has run out is 0."""

    key: int
    taken: float
    ordered: float
    kept: float
    kept_for: int | None


def claims_take(entries: Sequence[Entry], *, at: datetime) -> tuple[FeedNews, ...]:
    """Take everything that the entries claim, and return what the feed tells of it. Raises IntegrityError.

    `oversold` tells whether that error means that capacity has run out. Call this last in the transaction that records
    the placements: other orders wait for the rows that it locks. The feed's entries do not make this process read the
    feed at once: once they are committed, the caller shows them to the live picture.
    """
    news = _announce(entries)
    claims = sorted(
        (_entry_claim(entry, claim) for entry in entries for claim in entry.allocation.claims), key=attrgetter("place")
    )
    stock = [each for each in claims if not each.claim.line]
    bandwidth = [each for each in claims if each.claim.line]
    with connection.cursor() as cursor:
        _headcounts_raise(cursor, entries)
        holdings = _holdings_raise(cursor, stock, at, target="(idc_id, resource) WHERE line_id IS NULL")
        holdings |= _holdings_raise(cursor, bandwidth, at, target="(line_id)")
        _claims_insert(cursor, stock + bandwidth, holdings, at)
    return news


def _announce(entries: Sequence[Entry]) -> tuple[FeedNews, ...]:
    """Tell all processes what the entries take of each IDC; `allocations_told` reads it."""
    allocations: dict[str, list[Allocation]] = defaultdict(list)
    for entry in entries:
        allocations[entry.allocation.idc].append(entry.allocation)
    contents = {idc: msgspec.json.encode(those).decode() for idc, those in sorted(allocations.items())}
    return feed_extend(topic="ledger", keys=contents, contents=contents, tell=False)


def allocations_told(news: FeedNews) -> tuple[Allocation, ...]:
    """Return what orders took, as an entry of the feed tells it."""
    return decoder_of(tuple[Allocation, ...]).decode(news.content)


def _entry_claim(entry: Entry, claim: RequestedClaim) -> _EntryClaim:
    return _EntryClaim((entry.idc_key, entry.line_key(claim.line) or 0, claim.resource), entry, claim)


def _headcounts_raise(cursor: CursorWrapper, entries: Sequence[Entry]) -> None:
    """Add the machines to the headcounts, summed by row, as one upsert may not touch a row twice."""
    machines: dict[tuple[int, int, str], int] = defaultdict(int)
    for entry in entries:
        machines[entry.idc_key, entry.tenant_key, entry.allocation.business] += entry.allocation.machines
    rows = [(*key, count) for key, count in sorted(machines.items()) if count]
    if rows:
        cursor.execute(
            f"""
            INSERT INTO ledger_headcount (idc_id, tenant_id, business, machines) VALUES {_placeholders(4, len(rows))}
            ON CONFLICT (idc_id, tenant_id, business)
            DO UPDATE SET machines = ledger_headcount.machines + excluded.machines
            """,  # noqa: S608 - names of this module's own
            [value for row in rows for value in row],
        )


def _holdings_raise(
    cursor: CursorWrapper, claims: Sequence[_EntryClaim], at: datetime, *, target: str
) -> dict[tuple[int, int, str], _RaisedHolding]:
    """Raise the holdings by the claims on them; a constraint refuses an IDC or line that is gone."""
    if not claims:
        return {}
    amounts = _amounts_by_place(claims)
    rows = [(idc, line or None, resource, amount, amount) for (idc, line, resource), amount in amounts.items()]
    on_postgresql = connection.vendor == "postgresql"
    round_sql = f"ROUND(({{}})::numeric, {DECIMALS})::float8" if on_postgresql else f"ROUND({{}}, {DECIMALS})"
    assignments = ", ".join(
        f"{column} = {round_sql.format(f'ledger_holding.{column} + excluded.{column}')}"
        for column in ("taken", "ordered")
    )
    cursor.execute(
        f"""
        INSERT INTO ledger_holding (idc_id, line_id, resource, taken, ordered) VALUES {_placeholders(5, len(rows))}
        ON CONFLICT {target} DO UPDATE SET {assignments}
        RETURNING idc_id, line_id, resource, id, taken, ordered,
        CASE WHEN kept_until > %s THEN kept ELSE 0 END, kept_for
        """,  # noqa: S608 - names of this module's own
        [*(value for row in rows for value in row), connection.ops.adapt_datetimefield_value(at)],
    )
    return {(idc, line or 0, resource): _RaisedHolding(*rest) for idc, line, resource, *rest in cursor.fetchall()}


def _placeholders(width: int, rows: int) -> str:
    """Return the placeholders of `rows` rows of `width` values each, as SQL has them after VALUES."""
    row = f"({', '.join(['%s'] * width)})"
    return ", ".join([row] * rows)


def _amounts_by_place(claims: Sequence[_EntryClaim]) -> dict[tuple[int, int, str], float]:
    amounts: dict[tuple[int, int, str], float] = defaultdict(float)
    for place, _entry, claim in claims:
        amounts[place] += claim.amount
    return {place: round(amount, DECIMALS) for place, amount in amounts.items()}


def _claims_insert(
    cursor: CursorWrapper,
    claims: Sequence[_EntryClaim],
    holdings: Mapping[tuple[int, int, str], _RaisedHolding],
    at: datetime,
) -> None:
    """Insert each claim with the amount that its holding had right after it: the constraint checks that amount."""
    if not claims:
        return
    # The holdings stand already as after all claims: the amount after one claim lacks those of the claims that follow.
    following, values = _amounts_by_place(claims), []
    placement_value = partial(Claim._meta.get_field("placement").get_db_prep_value, connection=connection)
    created = connection.ops.adapt_datetimefield_value(at)
    for place, entry, claim in claims:
        holding, ceiling = holdings[place], claim.ceiling
        following[place] = round(following[place] - claim.amount, DECIMALS)
        counted = holding.ordered if claim.counted == "ordered" else holding.taken
        after = round(counted - following[place], DECIMALS)
        kept_from_it = entry.behind is not None and holding.kept_for is not None and holding.kept_for >= entry.behind
        if ceiling is not None and kept_from_it:
            ceiling -= holding.kept
        values += [placement_value(entry.placement), holding.key, claim.amount, claim.amount, after, ceiling, created]
    cursor.execute(
        f"""
        INSERT INTO ledger_claim (placement, holding_id, amount, remaining, taken_after, ceiling, created_at)
        VALUES {_placeholders(7, len(claims))}
        """,  # noqa: S608 - names of this module's own
        values,
    )


def oversold(error: IntegrityError) -> bool:
    """Return whether a claim was refused because its ceiling is reached."""
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
    """Release the placement's open claims in the IDC and return how many they were; a second call releases none.

    With `keep`, the amounts that had not faded yet are kept for waiting orders.
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
    """Let the placement's bandwidth claims begin to fade, as monitoring sees its traffic from now on."""
    bandwidth = Claim.objects.filter(placement=placement, released_at__isnull=True, holding__resource=BANDWIDTH)
    bandwidth.filter(fading_since__isnull=True).update(fading_since=since)


def claims_fade(*, now: datetime, over_seconds: float, at_most: int = 10_000) -> int:
    """Lower what remains of the fading claims on at most `at_most` holdings; return how many claims have changed."""
    fading = Claim.objects.filter(fading_since__isnull=False, remaining__gt=0)
    holdings = fading.order_by("holding_id").values_list("holding_id", flat=True).distinct()[:at_most]
    return sum(_fade(holding_key, now, over_seconds) for holding_key in list(holdings))


@write()
def _fade(holding_key: int, now: datetime, over_seconds: float) -> int:
    (holding,) = _locked([holding_key])
    claims_left = [
        (claim, claim_left(claim, now, over_seconds))
        for claim in Claim.objects.filter(holding=holding_key, fading_since__isnull=False, remaining__gt=0)
    ]
    faded = [(claim, left) for claim, left in claims_left if left < claim.remaining]
    _give_back(holding_key, pending=sum(claim.remaining - left for claim, left in faded), ordered=0.0)
    for claim, left in faded:
        Claim.objects.filter(pk=claim.pk).update(remaining=left)
    if faded:
        feed_append(topic="ledger", key=holding.idc.code)
    return len(faded)


def claim_left(claim: Claim, now: datetime, over_seconds: float) -> float:
    """Return what remains of a fading claim: its amount falls linearly to 0 within `over_seconds`."""
    if not over_seconds:
        return 0.0
    since = claim.fading_since or now
    share = 1 - (now - since).total_seconds() / over_seconds
    return round(claim.amount * min(max(share, 0.0), 1.0), DECIMALS)


def _locked(holdings: Iterable[int]) -> list[Holding]:
    """Lock the holdings one by one, in the order of taking, until the transaction ends."""
    unlocked = Holding.objects.filter(pk__in=list(holdings))
    in_order = sorted(unlocked, key=lambda row: (row.idc_id, row.line_id or 0, row.resource))
    return [Holding.objects.select_for_update(of=("self",)).select_related("idc").get(pk=row.pk) for row in in_order]


def _give_back(holding: int, *, pending: float, ordered: float) -> None:
    """Lower what is taken of a holding by `pending`, and what is ordered of it by `ordered`; neither below 0."""
    Holding.objects.filter(pk=holding).update(
        taken=Greatest(Round(F("taken") - pending, DECIMALS), 0.0),
        ordered=Greatest(Round(F("ordered") - ordered, DECIMALS), 0.0),
    )
