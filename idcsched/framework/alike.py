"""Questions that are alike in all but how many machines they are about, and how large these are.

What neither orders nor the machines move is told once for all of them, from a decision on a picture of which everything
is remembered. Of one of them, asked when so much has been taken, only the rest is worked out: who still has enough of
what it needs (`Plugin.needs`), and of those who promised most what they score as their lines stand now
(`Plugin.score_again`). Nobody has got better, so that who promised less then than the best has now can't be the best.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from .building import BANDWIDTH
from .claiming import BANDWIDTH_RESOURCE
from .contenders import FIRST_LOOK, promised_most
from .context import Cycle, fresh
from .decision import Decision
from .found import Found, check_decided, place_of, raw_again, rejections_of, scale_again
from .labels import Mask, Rows, all_of
from .lines import NO_LINE
from .normalize import Floats, Scale, normalize, rounded_each
from .profile import Entry
from .scoring import SILENT, Whole, remembered_whole
from .standing import Books, LineNow
from .thresholds import Closed, Part, Thresholds

__all__ = ["Alike", "Needs"]

Needs = Mapping[str, float]
"""How much of which resource a question needs."""
WORTH_IT = 2
"""When the second of them comes, it is worth while to find out who promises most."""
_BYTES = 10_000
_Promised = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


class _Front(msgspec.Struct, frozen=True):
    """Some of those whom nothing but orders rejects; what everybody else promises at most, and what theirs is of the
    totals whatever is needed."""

    positions: Rows
    beyond: float
    lasting: Floats


class Alike:
    """What is the same for all of them; nothing in it changes but how many are looked at first, in each copy anew."""

    def __init__(self, decision: Decision) -> None:
        """Raises Closed where what was decided hangs on more than can be told of single IDCs."""
        check_decided(decision)
        ctx = decision.cycle
        self.rows: slice = ctx.rows  # type: ignore[assignment]
        self.size = ctx.size
        self.thresholds = Thresholds(ctx, decision.judgements)
        self._tell_lines(ctx)
        self.weight = 0.0
        self.scorers: list[tuple[Entry, float]] = []
        self._wholes: list[tuple[Floats, float]] = []
        self._tell_scorers(decision)
        self._promised: _Promised | None = promised_most(ctx, worth_it=False)
        self._fronts: dict[int, _Front] = {}
        self._look, self._came = FIRST_LOOK, 0

    @property
    def bytes(self) -> int:
        """Roughly how much of memory it holds alone."""
        return 2 * self.size + _BYTES

    def own(self, ctx: Cycle) -> "Alike":
        """A copy in which it is counted anew how many are to be looked at, for a question on the same picture."""
        if self._promised is None:
            self._see_who_promises(ctx, worth_it=False)
        other: Alike = object.__new__(Alike)
        other.__dict__.update(self.__dict__)
        return other

    def best(self, ctx: Cycle, needs: Needs, books: Books) -> Found | None:
        """Who is the best now; None: several stand level, which only the whole ranking tells apart.

        Raises Closed where nothing is left, or what is left hangs on more than can be told of single IDCs.
        """
        self._came += 1
        if self._came == WORTH_IT and self._promised is None:
            self._see_who_promises(ctx, worth_it=True)
        lines = self.lines_now(books)
        alive, lefts = self.thresholds.kept(lambda resource: self._short(resource, needs, books, lines))
        if lefts and not lefts[-1]:
            raise Closed
        scales, look = self.scales(ctx), self._look
        while True:
            front = self._front(look)
            totals = self._totals(ctx, front, LineNow(books, lines[front.positions]), scales, alive)
            place = int(totals.argmax())
            score: float = totals.item(place)
            if score > front.beyond:
                break
            look = self._look = 2 * look
        if np.count_nonzero(totals == score) > 1:
            return None
        position: int = front.positions.item(place)
        found = place_of(ctx, position, lines.item(position))
        return Found(found, score, self.weight, rejections_of(self.thresholds.reasons, lefts, self.size))

    def lines_now(self, books: Books) -> Rows:
        """The line that each row would use: of those of which it is known how much is used the one with most room."""
        if self.planes is None:
            return self._lines
        rooms = np.where(self.planes == NO_LINE, -np.inf, books.room[self.planes])
        chosen = np.take_along_axis(self.planes, rooms.argmax(axis=0)[np.newaxis], axis=0)[0]
        lines: Rows = np.where(chosen == NO_LINE, self._lines, chosen)
        return lines

    def scales(self, ctx: Cycle) -> list[Scale]:
        """By which those are scored who are asked again."""
        return [scale_again(ctx, entry) for entry, _ in self.scorers]

    def rejected_first(self, needs: Needs, books: Books, lines: Rows) -> tuple[Rows, list[int]]:
        """By the judgement of which number each row goes first (as many as there are: none), and how many each leaves.

        Those that go before anything is needed, go by none that could be told apart: −1.
        """
        thresholds = self.thresholds
        alive, lefts = thresholds.begun.copy(), thresholds.begun_lefts.copy()
        first = np.where(alive, len(thresholds.reasons), -1)
        for number, part in enumerate(thresholds.parts, start=len(lefts)):
            gone = self._gone(part, needs, books, lines)
            if gone is not None:
                first[alive & gone] = number
                alive &= ~gone
            lefts.append(int(np.count_nonzero(alive)))
        return first, lefts

    def totals_of_all(self, ctx: Cycle, scales: list[Scale], line: LineNow[Floats], alive: Mask) -> Floats:
        """What each row scores now, −inf where it is not alive."""
        everybody = np.arange(self.size)
        return self._totals(ctx, _Front(everybody, -np.inf, self._lasting_of(everybody)), line, scales, alive)

    def lasting(self, position: int) -> float:
        """What neither orders nor machines move of a total."""
        total = 0.0
        for scores, weight in self._wholes:
            total += scores.item(position) * weight
        return total

    def _lasting_of(self, positions: Rows) -> Floats:
        total = np.zeros(positions.size)
        for scores, weight in self._wholes:
            total += scores[positions] * weight
        return total

    def _tell_lines(self, ctx: Cycle) -> None:
        choice, snapshot = ctx.lines, ctx.snapshot
        if not snapshot.lines.codes:
            raise Closed
        self._lines: Rows = choice.groups[0]
        self._with_line = None if choice.complete else choice.has_line
        self._known = None if choice.all_known else choice.known
        wanted = ctx.line_policy().wanted
        planes = [plane for isp in wanted or (None,) for plane in snapshot.planes(isp)]
        self.planes: Rows | None = None
        if len(planes) > 1:
            key = "line planes", wanted, self.rows.start, self.rows.stop
            size = 8 * len(planes) * self.size
            self.planes = ctx.moment.recalled(key, lambda: _planes_known(ctx, planes), size=size)

    def _tell_scorers(self, decision: Decision) -> None:
        ctx, speaking = decision.cycle, {column.entry.name for column in decision.best.columns}
        for entry, (_, weight) in ctx.profile.weighed or ():
            if not entry.lasting:
                if entry.name in speaking:
                    self.scorers.append((entry, weight))
                elif ctx.need:  # of another need it may speak
                    raise Closed
                else:
                    continue
            else:
                whole = remembered_whole(ctx, entry, at_once=True)
                if whole is SILENT:
                    continue
                if not isinstance(whole, Whole) or whole.scores is None:
                    raise Closed
                self._wholes.append((whole.scores, weight))
            self.weight += weight

    def _gone(self, part: Part, needs: Needs, books: Books, lines: Rows) -> Mask | None:
        """Whom the judgement rejects; None: nobody."""
        if part.resource is None:
            return None if part.keep is None else ~part.keep
        return self._short(part.resource, needs, books, lines)

    def _short(self, resource: str, needs: Needs, books: Books, lines: Rows) -> Mask:
        """Who has less left than is needed: what is not known is no less, and where there is no line, nothing is."""
        if resource != BANDWIDTH_RESOURCE:
            short: Mask = books.left(resource)[self.rows] < needs[resource]
            return short
        short = books.room[lines] < needs[resource]
        if self._with_line is not None:
            short &= self._with_line
        return short

    def _see_who_promises(self, ctx: Cycle, *, worth_it: bool) -> None:
        """Until then everybody is looked at."""
        ctx.settle(self.rows)
        self._promised, self._fronts = promised_most(ctx, worth_it=worth_it), {}

    def _front(self, look: int) -> _Front:
        """So many of those who promise most; all, where nobody has promised anything."""
        found = self._fronts.get(look)
        if found is None:
            found = self._fronts[look] = self._front_of(look)
        return found

    def _front_of(self, look: int) -> _Front:
        beyond = -np.inf
        if self._promised is None:
            positions = np.flatnonzero(self.thresholds.fixed())
        else:
            rows, bounds = self._promised
            places = np.flatnonzero(self.thresholds.fixed()[rows])
            if places.size > look:
                beyond = float(bounds[places[look]])
            positions = rows[places[:look]].astype(np.intp)
        return _Front(positions, beyond, self._lasting_of(positions))

    def _totals(self, ctx: Cycle, front: _Front, line: LineNow[Floats], scales: list[Scale], alive: Mask) -> Floats:
        """What those in front score now, −inf where they are not alive."""
        living, totals = alive[front.positions], front.lasting.copy()
        certain = self._known is None or all_of(self._known[front.positions] | ~living)
        for (entry, weight), scale in zip(self.scorers, scales, strict=True):
            raw = raw_again(ctx, entry, line)
            finite = np.isfinite(raw)
            if not (certain and raw.shape == totals.shape and (all_of(finite) or all_of(finite | ~living))):
                raise Closed
            totals += normalize(raw, scale) * weight
        totals = rounded_each(totals)
        np.copyto(totals, -np.inf, where=~living)
        return totals


def _planes_known(ctx: Cycle, planes: list[Rows]) -> Rows:
    """Of each row its lines of which it is known how much is used, by code, so far as there are any."""
    column, known = ctx.snapshot.metrics.get(BANDWIDTH), ~np.isnan(ctx.snapshot.lines.room)
    if column is None:
        known = np.zeros_like(known)
    else:
        known &= fresh(column, column.values, column.at, ctx.now)
    stacked = np.stack([ctx.take(plane) for plane in planes])
    stacked[~known[stacked]] = NO_LINE
    stacked.sort(axis=0)
    return stacked
