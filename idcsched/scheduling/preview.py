"""What a draft of a profile, or something supposed, would have changed in the profile's last decisions."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
from django.conf import settings

from idcsched.accounts.roles import Principal
from idcsched.framework.answer import Answer, Bill, IdcBrief, IdcShare, LineUse
from idcsched.framework.bills import bill_on
from idcsched.framework.context import Cycle
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError
from idcsched.framework.lines import LinePolicy
from idcsched.framework.recording import Inputs
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot

from .models import Decision, Profile
from .profile_checks import profile_check
from .replay import answer_again, recorded_inputs
from .schedule import OVER_QUOTA
from .selectors import decisions_visible

__all__ = ["Moved", "Preview", "preview"]


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """One decision that would have gone elsewhere; null: nothing fitted, or would fit.

    `billed`: what the order added to bills, per month.
    """

    decision_id: str
    request_id: str | None
    idc: str | None
    score: float | None
    billed: float | None
    would_be_idc: str | None
    would_be_score: float | None
    would_be_billed: float | None


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a draft would have changed in the last decisions of a profile that the caller may see.

    `without_inputs` of them could not be examined since their inputs were not kept, `failed` since the draft
    does not know a scorer that the request weighs, one of its plugins raised, or it would ask the outside something
    that was not asked then. `since`: when the oldest of those examined was made.

    `billed` and `would_be_billed` are what the examined orders added, and would have added, to the bills of a month in
    `currency`: each order alone, by what its lines carried in the 30 days before. A backtest computes what they make of
    it together.
    """

    examined: int
    since: datetime | None
    without_inputs: int
    failed: int
    billed: float
    would_be_billed: float
    currency: str
    changed: tuple[Moved, ...]


def preview(*, profile: Profile, body: Mapping[str, Any], last: int, principal: Principal) -> Preview:
    """Decide the last decisions of a profile that the principal may see again under a draft.

    Raises Invalid as saving the draft would. Hypothetical decisions are left out, and those that a quota refused, which
    no profile would have changed.
    """
    draft = profile_check(profile.code, body)
    visible = decisions_visible(principal)
    not_hypothetical = visible.filter(profile=profile.code, request__hypothetical__isnull=True)
    decisions = not_hypothetical.exclude(reason_code=OVER_QUOTA).order_by("-id")[:last]
    changed, examined, without_inputs, failed = [], 0, 0, 0
    since: datetime | None = None
    billed = would_be_billed = 0.0
    for decision in decisions.iterator(chunk_size=100):
        if decision.inputs is None:
            without_inputs += 1
            continue
        inputs = recorded_inputs(decision)
        try:
            again = answer_again(inputs, draft, "then")
        except IdcschedError:
            failed += 1
            continue
        examined += 1
        since = decision.created_at
        moved = _moved(decision, again, inputs)
        billed, would_be_billed = billed + (moved.billed or 0.0), would_be_billed + (moved.would_be_billed or 0.0)
        if moved.idc != moved.would_be_idc:
            changed.append(moved)
    return Preview(
        examined=examined,
        since=since,
        without_inputs=without_inputs,
        failed=failed,
        billed=round(billed, 2),
        would_be_billed=round(would_be_billed, 2),
        currency=settings.CURRENCY,
        changed=tuple(changed),
    )


def _moved(decision: Decision, again: Answer, inputs: Inputs) -> Moved:
    snapshot = inputs.snapshot()
    then, would_be = convert(decision.answer, _Place), convert(msgspec.to_builtins(again), _Place)
    return Moved(
        decision_id=str(decision.id),
        request_id=decision.request_id or None,
        idc=decision.idc or None,
        score=decision.answer["score"],
        billed=_billed(inputs, snapshot, then.shares()),
        would_be_idc=again.idc.code if again.idc else None,
        would_be_score=again.score,
        would_be_billed=_billed(inputs, snapshot, would_be.shares()),
    )


class _Place(msgspec.Struct):
    """The part of an answer that says where the order would stand: in one IDC, or spread over several."""

    idc: IdcBrief | None = None
    lines: tuple[LineUse, ...] = ()
    idcs: tuple[IdcShare, ...] = ()

    def shares(self) -> Iterator[tuple[str, LineUse]]:
        """Yield each line that the order would use, with its IDC."""
        if self.idcs:
            yield from ((share.idc, line) for share in self.idcs for line in share.lines)
        elif self.idc:
            yield from ((self.idc.code, line) for line in self.lines)


def _billed(inputs: Inputs, snapshot: Snapshot, shares: Iterable[tuple[str, LineUse]]) -> float | None:
    """Return what an order adds to the bills of the lines per month, each by itself; None: none is known."""
    shape, lines = order_shape(inputs.request, inputs.labels, snapshot.shapes), snapshot.lines
    bills = []
    for idc, use in shares:
        if use.bandwidth_mbps:
            line = lines.codes.index(use.line, *lines.first[snapshot.idcs.row_of[idc] :][:2].tolist())
            share = Cycle(
                request=inputs.request,
                snapshot=snapshot,
                now=inputs.now,
                labels=inputs.labels,
                line_policy=LinePolicy(need=use.bandwidth_mbps),
                rows=slice(0, 0),
                shape=shape,
            )
            bills.append(bill_on(share, np.array([line])))
    known = [bill.per_month for bill in bills if isinstance(bill, Bill)]
    return round(sum(known), 2) if known else None
