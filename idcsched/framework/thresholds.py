"""Filters that are known so well that they need not be asked: whom they reject hangs on how much is needed of what.

Of questions that are alike in all that is read of them, filters say the same but for those whom they keep by need
(`Plugin.needs`): who has less left of a resource than is needed, goes. What they said of one question is kept; for the
next one, columns are compared.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from .claiming import BANDWIDTH_RESOURCE
from .decision import Judgement, MissingNote
from .labels import Mask
from .lines import Settled
from .normalize import Floats
from .sieve import Sieve

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["Closed", "Part", "Thresholds", "learn", "needs_of", "sifted"]

_BYTES = 4000
_NOBODY = np.empty(0, dtype=np.bool_)


class Closed(Exception):  # nothing failed: it is to be decided afresh
    """What has changed can't be told of single IDCs."""


class Part(msgspec.Struct, frozen=True):
    """One judgement, that of a need where `resource` names one; `keep` None: it rejects nobody.

    `goes_on`: the next one gives the same reason, and speaks for both.
    """

    keep: Mask | None
    resource: str | None
    goes_on: bool


class Thresholds:
    """What was judged, taken apart.

    `reasons`: the judgements without their masks; `number_of`: resource → which of them keeps by it. `begun`: who is
    left before anything is needed, by as many judgements as `begun_lefts` has entries; `parts` are the others.
    """

    __slots__ = ("begun", "begun_lefts", "number_of", "parts", "reasons", "size")

    def __init__(self, ctx: "Cycle", judged: Sequence[Judgement]) -> None:
        """Raises Closed where it can't be told which judgement is that of which need."""
        self.size = ctx.size
        self.number_of = _numbered(ctx, judged)
        self.reasons = tuple([Judgement(each.plugin, each.reason, _NOBODY, None) for each in judged])
        resource_of = {number: resource for resource, number in self.number_of.items()}
        first = min(resource_of, default=len(judged))
        self.begun, self.begun_lefts = np.ones(ctx.size, dtype=np.bool_), list[int]()
        for judgement in judged[:first]:
            self.begun &= judgement.keep
            self.begun_lefts.append(int(np.count_nonzero(self.begun)))
        self.parts = [_part(judged, number, resource_of.get(number)) for number in range(first, len(judged))]

    def fixed(self) -> Mask:
        """Whom nothing but a need rejects."""
        keeps = [part.keep for part in self.parts if part.keep is not None]
        found: Mask = np.logical_and.reduce([self.begun, *keeps])
        return found

    def kept(self, short: Callable[[str], Mask]) -> tuple[Mask, list[int]]:
        """Who is rejected by nobody, and how many each judgement leaves; `short`: who has too little of a resource."""
        alive, lefts, fewer = self.begun.copy(), self.begun_lefts.copy(), False
        left = lefts[-1] if lefts else self.size
        for part in self.parts:
            if part.resource is not None:
                np.greater(alive, short(part.resource), out=alive)
                fewer = True
            elif part.keep is not None:
                alive &= part.keep
                fewer = True
            if fewer and not part.goes_on:
                left, fewer = int(np.count_nonzero(alive)), False
            lefts.append(left)
        return alive, lefts


class _Known(msgspec.Struct, frozen=True):
    """What filters said of all rows in question, and what is `left` there of each resource that is needed.

    `counted`: of whom the bandwidth counts at all, having a line of which it is known how much is used; None: of all.
    """

    thresholds: Thresholds
    left: dict[str, Floats]
    counted: Mask | None
    notes: tuple[MissingNote, ...]

    def short(self, resource: str, need: float) -> Mask:
        """Who has less left than is needed; who does not count is rejected for other reasons."""
        found: Mask = self.left[resource] < need
        if self.counted is not None and resource == BANDWIDTH_RESOURCE:
            found &= self.counted
        return found


def sifted(ctx: "Cycle", judge: Callable[[], Sequence[Judgement]]) -> Sieve | None:
    """Who is left, without asking any filter. None: they must be asked, since nobody is left, or not all is known.

    `judge`: what they would say.
    """
    try:
        needs = {resource: need for _, resource, need in needs_of(ctx)}
    except Closed:
        return None
    known: _Known | None = ctx.at_hand(ctx.profile.token, _named(needs))
    if known is None:
        return None
    thresholds = known.thresholds
    alive, lefts = thresholds.kept(lambda resource: known.short(resource, needs[resource]))
    if lefts and not lefts[-1]:
        return None
    ctx.notes.extend(known.notes)
    return Sieve.known(alive, lefts, thresholds.reasons, thresholds.fixed, judge)


def learn(ctx: "Cycle", judged: Sequence[Judgement], notes: Sequence[MissingNote]) -> None:
    """From what filters have said, for all questions that are alike and need some of the same."""
    try:
        needs = {resource: need for _, resource, need in needs_of(ctx)}
        known = _known(ctx, Thresholds(ctx, judged), needs, tuple(notes))
    except Closed:
        return
    ctx.shelve(ctx.profile.token, _named(needs), known, size=ctx.size + _BYTES)


def _named(needs: Iterable[str]) -> str:
    """Under which name it is kept what is known where these are needed."""
    return f"needs {' '.join(needs)}"


def _known(ctx: "Cycle", thresholds: Thresholds, needs: Collection[str], notes: tuple[MissingNote, ...]) -> _Known:
    """Raises Closed where the need has a say in which line is chosen, or several lines are."""
    stock, counted = ctx.snapshot.idcs.left, None
    left = {resource: ctx.take(stock[resource]) for resource in needs if resource != BANDWIDTH_RESOURCE}
    if BANDWIDTH_RESOURCE in needs:
        settled: Settled | None = ctx.at_hand(None, "lines")
        if settled is None or len(settled.choice.groups) != 1:
            raise Closed
        left[BANDWIDTH_RESOURCE], choice = settled.room, settled.choice
        counted = None if choice.complete and choice.all_known else choice.has_line & choice.known
    return _Known(thresholds, left, counted, notes)


def needs_of(ctx: "Cycle") -> list[tuple[str, str, float]]:
    """Which entries of the profile need how much of which resource; raises Closed where one can't say."""
    found: list[tuple[str, str, float]] = []
    for entry in ctx.profile.needing:
        ctx.entry = entry
        try:
            found += [(entry.name, resource, need) for resource, need in entry.plugin.needs(ctx)]  # type: ignore[union-attr]
        except Exception as error:  # who fails, or gives None, is asked in the ordinary way, where it is named
            raise Closed from error
    return found


def _numbered(ctx: "Cycle", judged: Sequence[Judgement]) -> dict[str, int]:
    """Resource → by which judgement an IDC goes that has less left of it than is needed."""
    found: dict[str, int] = {}
    numbers: dict[str, list[int]] = {}
    for number, judgement in enumerate(judged):
        numbers.setdefault(judgement.plugin, []).append(number)
    for plugin, resource, _ in reversed(needs_of(ctx)):  # they are its last
        if resource in found or not numbers.get(plugin):
            raise Closed
        found[resource] = numbers[plugin].pop()
    return found


def _part(judged: Sequence[Judgement], number: int, resource: str | None) -> Part:
    judgement, after = judged[number], judged[number + 1] if number + 1 < len(judged) else None
    idle = resource is not None or judgement.idle or bool(judgement.keep.all())
    goes_on = after is not None and after.reason is judgement.reason and after.plugin == judgement.plugin
    return Part(None if idle else judgement.keep, resource, goes_on)
