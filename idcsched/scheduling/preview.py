"""What a draft of a profile, or something supposed, would have changed in the profile's last decisions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from math import nan
from time import time
from typing import Any, Final, Literal

import msgspec
import numpy as np
from django.conf import settings

from idcsched.accounts.roles import Principal
from idcsched.framework.answer import Bill, IdcBrief, IdcShare, LineUse
from idcsched.framework.bills import bill_on
from idcsched.framework.context import Cycle
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError
from idcsched.framework.hypothetical import suppose
from idcsched.framework.labels import Rows
from idcsched.framework.lines import NO_LINE, LinePolicy
from idcsched.framework.normalize import Floats, rounded_value
from idcsched.framework.profile import Profile as Policy
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.recording import Inputs
from idcsched.framework.request import Hypothetical
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot

from .deciding import OVER_QUOTA
from .live import live
from .models import Decision, Profile
from .plugins import registry
from .profile_checks import profile_check
from .replay import answer_again, recorded_inputs
from .selectors import decisions_visible

__all__ = ["Mean", "Moved", "Preview", "preview", "what_if_check"]

Figure = Literal["room", "load", "distance_km"]
FIGURES: Final[tuple[Figure, ...]] = ("room", "load", "distance_km")
"""What is said on average of the IDCs that orders go to, by the raw values of the plugins below."""
JUDGES: Final = {
    "plugins": [{"name": name, "plugin": name, "weight": 1} for name in ("network_flow", "resource", "locality")]
}


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


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the IDCs that orders went to and would have gone to, on average of `orders` of which both are known.

    `room`: the share of the line's bandwidth that is left under its limit, with the order; `load`: the highest of an
    IDC's loads, as a share; `distance_km` from the client.
    """

    figure: Figure
    then: float
    would_be: float
    orders: int


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a draft, or what is supposed, would have changed in a profile's last decisions that the caller may see.

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
    means: tuple[Mean, ...]
    changed: tuple[Moved, ...]


def what_if_check(what_if: Hypothetical) -> None:
    """Raise Invalid for names that do not exist now."""
    suppose(live.catch_up().snapshot, what_if, now=time())


def preview(
    *,
    profile: Profile,
    body: Mapping[str, Any],
    last: int,
    principal: Principal,
    what_if: Hypothetical | None = None,
) -> Preview:
    """Decide the last decisions of a profile that the principal may see again under a draft, with `what_if` supposed.

    Raises Invalid as saving the draft would. Hypothetical decisions are left out, and those that a quota refused, which
    no profile would have changed.
    """
    draft = profile_check(profile.code, body)
    visible = decisions_visible(principal)
    not_hypothetical = visible.filter(profile=profile.code, request__hypothetical__isnull=True)
    decisions = not_hypothetical.exclude(reason_code=OVER_QUOTA).order_by("-id")[:last]
    seen, without_inputs, failed = list[_Seen](), 0, 0
    for decision in decisions.iterator(chunk_size=100):
        if decision.inputs is None:
            without_inputs += 1
            continue
        try:
            seen.append(_seen(decision, recorded_inputs(decision), draft, what_if))
        except IdcschedError:
            failed += 1
    moves = [one.moved for one in seen]
    return Preview(
        examined=len(seen),
        since=seen[-1].at if seen else None,
        without_inputs=without_inputs,
        failed=failed,
        billed=round(sum(moved.billed or 0.0 for moved in moves), 2),
        would_be_billed=round(sum(moved.would_be_billed or 0.0 for moved in moves), 2),
        currency=settings.CURRENCY,
        means=_means(seen),
        changed=tuple(moved for moved in moves if moved.idc != moved.would_be_idc),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """One decision that was made again: where the order went and would have gone, and the FIGURES of both."""

    at: datetime
    moved: Moved
    then: Floats
    would_be: Floats


def _seen(decision: Decision, inputs: Inputs, draft: Policy, what_if: Hypothetical | None) -> _Seen:
    """Decide once more; raises IdcschedError where the draft, or what is supposed, does not allow it."""
    again = answer_again(inputs, draft, "then", what_if=what_if)
    snapshot = inputs.snapshot()
    supposed = snapshot if what_if is None else suppose(snapshot, what_if, now=inputs.now)
    then, would_be = convert(decision.answer, _Place), convert(msgspec.to_builtins(again), _Place)
    return _Seen(
        at=decision.created_at,
        moved=Moved(
            decision_id=str(decision.id),
            request_id=decision.request_id or None,
            idc=decision.idc or None,
            score=decision.answer["score"],
            billed=_billed(inputs, snapshot, then),
            would_be_idc=again.idc.code if again.idc else None,
            would_be_score=again.score,
            would_be_billed=_billed(inputs, supposed, would_be),
        ),
        then=_figures(inputs, snapshot, then),
        would_be=_figures(inputs, supposed, would_be),
    )


def _means(seen: Sequence[_Seen]) -> tuple[Mean, ...]:
    """Return the means of the figures of those orders of which they are known on both sides."""
    if not seen:
        return ()
    then, would_be = np.array([one.then for one in seen]), np.array([one.would_be for one in seen])
    known = ~np.isnan(then) & ~np.isnan(would_be)
    return tuple(
        Mean(
            figure=figure,
            then=rounded_value(float(then[both, column].mean())),
            would_be=rounded_value(float(would_be[both, column].mean())),
            orders=int(both.sum()),
        )
        for column, (figure, both) in enumerate(zip(FIGURES, known.T, strict=True))
        if both.any()
    )


class _Place(msgspec.Struct):
    """The part of an answer that says where the order would stand: in one IDC, or spread over several."""

    idc: IdcBrief | None = None
    lines: tuple[LineUse, ...] = ()
    idcs: tuple[IdcShare, ...] = ()

    def shares(self) -> Iterator[tuple[str, tuple[LineUse, ...]]]:
        """Yield each IDC with the lines that the order would use there."""
        if self.idcs:
            yield from ((share.idc, share.lines) for share in self.idcs)
        elif self.idc:
            yield self.idc.code, self.lines


def _cycle(inputs: Inputs, snapshot: Snapshot, need: float, rows: Rows) -> Cycle:
    return Cycle(
        request=inputs.request,
        snapshot=snapshot,
        now=inputs.now,
        labels=inputs.labels,
        line_policy=LinePolicy(need=need),
        rows=rows,
        shape=order_shape(inputs.request, inputs.labels, snapshot.shapes),
    )


def _billed(inputs: Inputs, snapshot: Snapshot, place: _Place) -> float | None:
    """Return what an order adds to the bills of the lines per month, each by itself; None: none is known."""
    bills = [
        bill_on(
            _cycle(inputs, snapshot, use.bandwidth_mbps, np.empty(0, dtype=np.intp)),
            np.array([snapshot.lines.number(snapshot.idcs.row_of[idc], use.line)]),
        )
        for idc, uses in place.shares()
        for use in uses
        if use.bandwidth_mbps
    ]
    known = [bill.per_month for bill in bills if isinstance(bill, Bill)]
    return round(sum(known), 2) if known else None


@cache
def _judges() -> Policy:
    return compile_profile(convert(JUDGES, ProfileBody), registry(), code="", revision=0)


def _figures(inputs: Inputs, snapshot: Snapshot, place: _Place) -> Floats:
    """Return the FIGURES of the IDC that an order goes to, or their means over several; NaN: not known."""
    parts = [_figures_at(inputs, snapshot, idc, uses) for idc, uses in place.shares()]
    return np.mean(parts, axis=0) if parts else np.full(len(FIGURES), np.nan)


def _figures_at(inputs: Inputs, snapshot: Snapshot, idc: str, uses: Sequence[LineUse]) -> list[float]:
    loaded = [use for use in uses if use.bandwidth_mbps]
    need = max((use.bandwidth_mbps for use in loaded), default=0.0)
    row = snapshot.idcs.row_of[idc]
    cycle = _cycle(inputs, snapshot, need, np.array([row], dtype=np.intp))
    cycle = cycle.on_lines(tuple(snapshot.lines.number(row, use.line) for use in loaded) or (NO_LINE,))
    readings = [entry.run(cycle, "score") for entry in _judges().scorers]
    return [nan if one is None or not one.known[0] else one.values.item(0) for one in readings]
