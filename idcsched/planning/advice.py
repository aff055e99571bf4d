"""Advice: which placements would be cheaper elsewhere, which commits are too high, and which lines fill up."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
from django.conf import settings

from idcsched.framework.billing import DAYS_A_MONTH, MEAN_OF_PEAK, monthly_price
from idcsched.framework.rules import VERSION
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.choices import ChargeType
from idcsched.inventory.models import Line
from idcsched.scheduling.live import LiveState
from metrics_ingest.billing.report import measured_in_30_days, rollups_reported
from metrics_ingest.models import BandwidthDay

from .expectation import expectation
from .made_moves import MadeMove, moves_made
from .moves import CENTS, LEAST, Move, Place, rearrangement
from .optimum import Status

__all__ = ["Advice", "CommitAdvice", "FullLine", "MadeMove", "Move", "Place", "advice"]

SOON: Final = 30
"""Days in which a line that fills up is named."""
Pending = Mapping[tuple[str, str], float]
"""The Mbps of each (IDC, line) that are ordered and not measured yet."""


class CommitAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """A line whose commit is above what flows: `saves` is what a commit of `expected_mbps` would save a month.

    `expected_mbps` is the contract's own figure of the last 30 days, with 30 more days of its trend and what is ordered
    and not measured yet.
    """

    idc: str
    line: str
    commit_mbps: float
    expected_mbps: float
    saves: float | None


class FullLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that passes its high-water mark within 30 days; `mbps_needed` more purchased bandwidth carry it for 30
    days."""

    idc: str
    line: str
    days: float
    mbps_needed: float


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """What advice was computed on: a snapshot and when it was built, the version of the rules, and the revision of each
    profile by which a placement was decided."""

    snapshot: str
    built_at: datetime
    rules: int
    profiles: dict[str, int]


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """What would be cheaper than what stands now, per month; `status` is `not_computed` before the first night.

    Of `placements` that hold bandwidth, `left_out` had no part in the search. `saves` is what all moves save together;
    by the formula that places are searched by, no moves save more than `saves_at_most`. Of what a move promises, the
    part `expected_factor` is expected: learnt from `moves_learnt_from` moves that were `made`; null in advice from
    before this was stored, as is `inputs`. Callers who are bound to a tenant are told none of these figures but
    `expected_factor`, and `saves` of their own moves; the others are null.
    """

    computed_at: datetime | None = None
    inputs: Inputs | None = None
    currency: str
    placements: int | None = 0
    left_out: int | None = 0
    status: Status | Literal["nothing_to_move", "not_computed"] = "not_computed"
    saves: float = 0.0
    saves_at_most: float | None = 0.0
    expected_factor: float | None = None
    moves_learnt_from: int | None = None
    moves: tuple[Move, ...] = ()
    made: tuple[MadeMove, ...] = ()
    commits: tuple[CommitAdvice, ...] = ()
    full_soon: tuple[FullLine, ...] = ()

    def without(self, placements: Set[UUID]) -> "Advice":
        """Return the advice without the moves of those placements."""
        return self.with_moves([move for move in self.moves if move.placement not in placements])

    def with_moves(self, moves: Iterable[Move]) -> "Advice":
        """Return the advice with these of its moves."""
        kept = tuple(moves)
        if len(kept) == len(self.moves):
            return self
        return msgspec.structs.replace(self, moves=kept, saves=round(sum([move.saves for move in kept]), CENTS))

    def of_tenant(self, tenant: str | None) -> "Advice":
        """Return what a caller who is bound to that tenant may see."""
        return msgspec.structs.replace(
            self.with_moves([move for move in self.moves if move.tenant == tenant]),
            inputs=None,
            placements=None,
            left_out=None,
            saves_at_most=None,
            moves_learnt_from=None,
            made=tuple([move for move in self.made if move.tenant == tenant]),
            commits=(),
            full_soon=(),
        )


def advice(picture: LiveState, *, now: datetime, seconds: float, staying: Set[UUID] = frozenset()) -> Advice:
    """Return the advice for what stands now, searched for so many seconds; the placements `staying` are not moved."""
    found = rearrangement(picture, now=now, seconds=seconds, staying=staying)
    made = moves_made(picture, now)
    expected = expectation([(move.promised, move.saves) for move in made])
    rows, pending = list(rollups_reported(now)), _pending(picture.snapshot)
    saves = round(sum([move.saves for move in found.moves]), CENTS)
    return Advice(
        computed_at=now,
        inputs=Inputs(
            snapshot=picture.snapshot.id,
            built_at=datetime.fromtimestamp(picture.snapshot.built_at, UTC),
            rules=VERSION,
            profiles=dict(found.profiles),
        ),
        currency=picture.snapshot.currency,
        placements=found.placements,
        left_out=found.left_out,
        status=found.status,
        saves=saves,
        saves_at_most=max(round(found.saves_at_most, CENTS), saves),
        expected_factor=expected.factor,
        moves_learnt_from=expected.moves,
        moves=tuple(
            [msgspec.structs.replace(move, expected=round(expected.of(move.saves), CENTS)) for move in found.moves]
        ),
        made=tuple(made),
        commits=tuple(_commits(rows, pending, now)),
        full_soon=tuple(_full_soon(rows, pending)),
    )


def _pending(snapshot: Snapshot) -> Pending:
    lines, codes = snapshot.lines, snapshot.idcs.codes
    columns = zip(lines.idc.tolist(), lines.codes, lines.pending.tolist(), strict=True)
    return {(codes[idc], code): pending for idc, code, pending in columns}


def _commits(rows: Iterable[Any], pending: Pending, now: datetime) -> list[CommitAdvice]:
    """Return the lines whose commit is above what flows, those that would save most first."""
    found, today = [], now.astimezone(ZoneInfo(settings.BILLING_ZONE)).date()
    peaks = _daily_peaks(rows, today)
    for row in rows:
        line: Line = row.line
        measured = measured_in_30_days(row)
        if not line.commit_mbps or measured is None:
            continue
        flows = MEAN_OF_PEAK if line.charge_type == ChargeType.VOLUME else 1.0
        expected = measured + flows * pending.get((line.idc.code, line.code), 0.0)
        saves = _saved(line, expected, peaks.get(line.pk, ()))
        if expected < line.commit_mbps and (saves is None or saves >= LEAST):
            found.append(
                CommitAdvice(
                    idc=line.idc.code,
                    line=line.code,
                    commit_mbps=line.commit_mbps,
                    expected_mbps=round(expected, CENTS),
                    saves=None if saves is None else round(saves, CENTS),
                )
            )
    return sorted(found, key=lambda advice: -(advice.saves or 0.0))


def _daily_peaks(rows: Iterable[Any], today: date) -> dict[int, list[float]]:
    """Return the peaks of the last 30 whole days of each line that is billed by each day's."""
    lines = [row.line_id for row in rows if row.line.charge_type == ChargeType.DAILY_PEAK]
    days = BandwidthDay.objects.filter(line__in=lines, day__lt=today, day__gte=today - timedelta(days=DAYS_A_MONTH))
    peaks: dict[int, list[float]] = defaultdict(list)
    for line, peak in days.values_list("line", "peak_mbps"):
        peaks[line].append(peak)
    return peaks


def _saved(line: Line, expected: float, peaks: Sequence[float]) -> float | None:
    """Return what a commit of what is expected saves a month; None: the price is not known.

    Where each day is billed by its own peak, a day above the commit saves nothing; the days to come are taken to be
    those of the last month, higher by what is expected on top.
    """
    price, commit = monthly_price(line.charge_type, line.price_per_mbps, line.price_per_gb), line.commit_mbps or 0.0
    if price is None:
        return None
    if line.charge_type == ChargeType.VOLUME:
        price /= MEAN_OF_PEAK  # that price is of 1 Mbps at the peak; the commit is a mean
    days = np.array(peaks if len(peaks) else [0.0])
    days += expected - days.mean()
    return float(price * (np.maximum(days, commit) - np.maximum(days, expected)).mean())


def _full_soon(rows: Iterable[Any], pending: Pending) -> list[FullLine]:
    """Return the lines that pass their high-water mark soon by their trend and by what is ordered and not measured yet,
    the first to do so first."""
    found = []
    for row in rows:
        line: Line = row.line
        if row.trend_level_mbps is None:
            continue
        level = row.trend_level_mbps + pending.get((line.idc.code, line.code), 0.0)
        growth = max(0.0, row.trend_mbps_per_day)
        missing = level + SOON * growth - row.high_water_mbps
        if missing >= 0:
            found.append(
                FullLine(
                    idc=line.idc.code,
                    line=line.code,
                    days=round(max(0.0, row.high_water_mbps - level) / growth, 1)
                    if level < row.high_water_mbps
                    else 0.0,
                    mbps_needed=round(missing * line.purchased_mbps / row.high_water_mbps, CENTS),
                )
            )
    return sorted(found, key=lambda line: line.days)
