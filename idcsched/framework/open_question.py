"""A question that stays open: asked again while orders take, it is answered by what has changed since.

What was decided once is kept as columns: who was rejected by what, each scorer's part of the totals, the lines chosen.
An order changes one IDC, so one entry of some of these columns is worked out again, by what plugins say of one alone
(`needs`, `score_again`), and its score only when it could be the best. What comes of it is what deciding afresh would
give, to the last bit; where that can't be told so, the question is closed and decided afresh.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .building import BANDWIDTH
from .claiming import BANDWIDTH_RESOURCE, Claim, claims_of
from .context import fresh
from .decision import Answer, Decision, IdcBrief, Judgement, LineUse, RejectedCount, ScoreColumn, counted
from .errors import Template
from .explain import answer, summary_of
from .labels import Mask
from .lines import NO_LINE
from .normalize import BY_ROW, DECIMALS, Scale, normalize_one, rounded
from .profile import Entry, Profile
from .scoring import normalizes_itself
from .standing import Books, LineNow
from .telling import Said, say_english

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["Closed", "Found", "OpenQuestion", "stays_open"]

Counts = list[tuple[RejectedCount, Judgement]]
_DEAD = -np.inf
_ROUNDED = 4e-6
"""More than a raw value and its score gain by being rounded."""


class Closed(Exception):  # nothing failed: it is to be decided afresh
    """What has changed can't be told of single IDCs."""


class Place(msgspec.Struct, frozen=True):
    """What an answer says of an IDC, and what the IDC would have to give."""

    idc: IdcBrief
    lines: tuple[LineUse, ...]
    claims: tuple[Claim, ...]


class Found(msgspec.Struct, frozen=True):
    """The best of a question as it stands, and who was rejected."""

    question: "OpenQuestion"
    place: Place
    score: float
    rejections: "_Rejections"

    @property
    def answer(self) -> Answer:
        """What `explain.answer` gives of it without explanation, in English."""
        question, place, rejections = self.question, self.place, self.rejections
        return msgspec.structs.replace(
            question.told,
            idc=place.idc,
            lines=place.lines,
            score=self.score,
            score_mean=round(self.score / question.weight, DECIMALS) if question.weight else 0.0,
            summary=rejections.summary,
            feasible=rejections.feasible,
        )


class _Rejections(msgspec.Struct, frozen=True):
    """How many were rejected for what, and how that is said; `sentences`: the text of each, and what it was made of."""

    evaluated: int
    feasible: int
    counts: Counts
    summary: str
    sentences: Said


def stays_open(profile: Profile) -> bool:
    """Whether all plugins of a profile say what an order changes of one IDC."""
    if profile.one_by_one or profile.gatherers or profile.fallback or profile.pick.kind != "best":
        return False
    filters = [call for step in profile.steps for call in step.entries]
    filters += [("pre_filter", entry) for entry in profile.narrowing]
    asked = [entry.name for point, entry in filters if point not in entry.plugin.unmoved]
    return (
        profile.weighed is not None
        and len(set(asked)) == len(asked)
        and all("needs" in entry.joined for point, entry in filters if point not in entry.plugin.unmoved)
        and all(_scores_again(entry) for entry, _ in profile.weighed)
        and all("reserve" in entry.plugin.unmoved for entry in profile.reservers)
    )


def _scores_again(entry: Entry) -> bool:
    told = "score" in entry.plugin.unmoved or "score_again" in entry.joined
    return told and "pre_score" not in entry.joined and not normalizes_itself(entry)


class _Scorer(msgspec.Struct):
    """What it adds to each row's total; `scale`: by which it is asked again, None: orders do not move it."""

    entry: Entry
    weight: float
    scale: Scale | None
    parts: list[float]


class OpenQuestion:
    """One question as it was decided when so much was taken, brought up to date whenever it is asked."""

    def __init__(self, decision: Decision, books: Books) -> None:
        """Raises Closed where what was decided hangs on more than can be told of single IDCs."""
        _check(decision)
        self._ctx, self._books, self._seen = decision.cycle, books, len(books.moves)
        self._start, self._size = decision.cycle.rows.start, decision.cycle.size  # type: ignore[union-attr]
        self._judgements = decision.judgements
        self._needs = self._numbered_needs()
        self._first = _first_rejections(decision)
        self._rejected = [0] * (len(self._judgements) + 1)
        for number in self._first:
            self._rejected[number] += 1
        self._lines: list[int] = decision.cycle.lines.groups[0].tolist()
        self._wanted, self._isps = decision.cycle.line_policy().wanted, decision.cycle.snapshot.lines.isps
        self._known = _known_lines(decision.cycle)
        self._eligible: dict[int, list[int]] = {}
        summed = sorted(decision.columns, key=lambda column: not column.entry.lasting)  # as `ranking` does
        self._scorers = [self._scorer(decision, column) for column in summed]
        self._totals = np.full(self._size, _DEAD)
        self._totals[decision.survivors.positions] = decision.ranking.totals
        self._stale: set[int] = set()
        self._slack = sum([_slack(scorer) for scorer in self._scorers])
        self._places: dict[tuple[int, int], Place] = {}
        self._told_last: _Rejections | None = None
        self.weight = sum([column.weight for column in decision.columns])
        self.told = answer(decision, explain="none")

    def best(self, now: float) -> Found | None:
        """None: several stand level, which only the whole ranking tells apart.

        Raises Closed, also where nothing is left, or so much time has gone by that more than orders may have moved.
        """
        if not self._ctx.moment.covers(now):
            raise Closed
        self._catch_up()
        place = int(self._totals.argmax())
        while place in self._stale:
            self._score_again(place)
            place = int(self._totals.argmax())
        score = self._totals.item(place)
        if score == _DEAD:
            raise Closed
        if np.count_nonzero(self._totals == score) > 1:
            return None
        if self._told_last is None:
            self._told_last = self._rejections()
        return Found(self, self._place(place), score, self._told_last)

    def _catch_up(self) -> None:
        """Who is still kept is worked out at once, since it is counted; what it scores is not."""
        moves, start, size, needs = self._books.moves, self._start, self._size, self._needs
        for row, resource, line, left in moves[self._seen :]:
            place = row - start
            if not 0 <= place < size:
                continue
            if line == NO_LINE:
                if resource in needs and left < needs[resource][1]:
                    self._reject(place, needs[resource][0])
            elif not self._wanted or self._isps[line] in self._wanted:
                self._take_line(place, line)
        self._seen = len(moves)

    def _take_line(self, place: int, line: int) -> None:
        """Something was taken of a line that the question could use there."""
        before = self._lines[place]
        now = self._lines[place] = self._roomiest(place)
        if line not in (before, now):
            return
        if BANDWIDTH_RESOURCE in self._needs:
            number, need = self._needs[BANDWIDTH_RESOURCE]
            if self._books.room(now) < need:
                self._reject(place, number)
        if self._first[place] == len(self._judgements):
            self._expect_less(place)
            if now != before:
                self._score_again(place)

    def _reject(self, place: int, number: int) -> None:
        """By that judgement, or by one before it that rejects it already."""
        before = self._first[place]
        if number < before:
            self._rejected[before] -= 1
            self._rejected[number] += 1
            self._first[place], self._told_last = number, None
            self._totals[place] = _DEAD
            self._stale.discard(place)

    def _expect_less(self, place: int) -> None:
        """It is worth no more than before; how much less, is worked out when it could be the best."""
        if place not in self._stale:
            self._stale.add(place)
            self._totals[place] += self._slack

    def _score_again(self, place: int) -> None:
        total, line = 0.0, LineNow(self._books, self._lines[place])
        for scorer in self._scorers:
            if scorer.scale is not None:
                raw = self._raw_again(scorer.entry, line)
                scorer.parts[place] = normalize_one(raw, scorer.scale) * scorer.weight
            total += scorer.parts[place]
        self._totals[place] = rounded(total)
        self._stale.discard(place)

    def _raw_again(self, entry: Entry, line: LineNow) -> float:
        self._ctx.entry = entry
        try:
            raw = entry.plugin.score_again(self._ctx, line)
        except Exception as error:  # who fails is asked in the ordinary way, where it is named
            raise Closed from error
        if raw is None or raw - raw != 0.0:
            raise Closed
        return raw

    def _place(self, place: int) -> Place:
        line = self._lines[place]
        found = self._places.get((place, line))
        if found is None:
            ctx, idcs, lines, row = self._ctx, self._ctx.snapshot.idcs, self._ctx.snapshot.lines, place + self._start
            alone, used = ctx.narrowed(np.array([place], dtype=np.intp)), () if line == NO_LINE else (line,)
            found = self._places[place, line] = Place(
                IdcBrief(code=idcs.codes[row], name=idcs.names[row], region=idcs.regions[row]),
                tuple([LineUse(line=lines.codes[n], isp=lines.isps[n], bandwidth_mbps=ctx.need) for n in used]),
                claims_of(alone if alone.lines.of(0) == used else alone.on_lines(used)),
            )
        return found

    def _rejections(self) -> _Rejections:
        sentences: dict[str, tuple[str, Mapping[str, Any]]] = {}

        def say(template: Template, params: Mapping[str, Any]) -> str:
            text = say_english(template, params)
            sentences[text] = (template, params)
            return text

        lefts, feasible = self._size - np.cumsum(self._rejected[:-1]), self._rejected[-1]
        counts = counted(self._judgements, lefts.tolist(), self._size)
        summary = summary_of(feasible, self._size, 0, counts, say)
        return _Rejections(self._size, feasible, counts, summary, sentences)

    def _numbered_needs(self) -> dict[str, tuple[int, float]]:
        """Resource → by which judgement an IDC goes that has less left of it than this."""
        found: dict[str, tuple[int, float]] = {}
        for entry in self._ctx.profile.entries:
            if "needs" not in entry.joined:
                continue
            needs = self._asked_needs(entry)
            numbers = [number for number, judgement in enumerate(self._judgements) if judgement.plugin == entry.name]
            if len(numbers) < len(needs) or not found.keys().isdisjoint(resource for resource, _ in needs):
                raise Closed
            for number, (resource, need) in zip(numbers[len(numbers) - len(needs) :], needs, strict=True):
                found[resource] = number, need
        return found

    def _asked_needs(self, entry: Entry) -> Sequence[tuple[str, float]]:
        self._ctx.entry = entry
        needs = entry.plugin.needs(self._ctx)
        if needs is None:
            raise Closed
        return tuple(needs)

    def _scorer(self, decision: Decision, column: ScoreColumn) -> _Scorer:
        entry, survivors = column.entry, decision.survivors
        survivors.entry = entry
        scale = entry.scale(entry.plugin.scale_for(survivors))
        if column.left_out or not column.raw.known.all() or scale.kind not in BY_ROW:
            raise Closed
        parts = np.zeros(self._size)
        parts[survivors.positions] = column.scores * column.weight
        moved = "score" not in entry.plugin.unmoved
        return _Scorer(entry, column.weight, scale if moved else None, parts.tolist())

    def _roomiest(self, place: int) -> int:
        """The line that is chosen now: of those of which it is known how much is used the one with the most room."""
        lines = self._lines_of(place)
        if len(lines) == 1:
            return lines[0]
        room, best, most = self._books.room, self._lines[place], _DEAD
        for line in lines:
            if (left := room(line)) > most:
                best, most = line, left
        return best

    def _lines_of(self, place: int) -> list[int]:
        """The IDC's lines that the question could use and of which it is known how much is used, by code."""
        found = self._eligible.get(place)
        if found is None:
            first, isps, row, wanted = self._ctx.snapshot.lines.first, self._isps, place + self._start, self._wanted
            found = self._eligible[place] = [
                line
                for line in range(first.item(row), first.item(row + 1))
                if (not wanted or isps[line] in wanted) and self._known.item(line)
            ]
        return found


def _known_lines(ctx: "Cycle") -> Mask:
    """Of which lines it is known how much is used."""
    column, seen = ctx.snapshot.metrics.get(BANDWIDTH), ~np.isnan(ctx.snapshot.lines.room)
    if column is None:
        return np.zeros_like(seen)
    known: Mask = seen & fresh(column, column.values, column.at, ctx.now)
    return known


def _check(decision: Decision) -> None:
    ctx, request = decision.cycle, decision.cycle.request
    lists = request.only is not None or request.exclude is not None
    if not ctx.remembers or lists or request.weights or request.fallback or request.spread:
        raise Closed
    if not decision.scheduled or decision.plugin_errors:
        raise Closed
    if not ctx.line_policy().settled or len(ctx.lines.groups) != 1:
        raise Closed


def _first_rejections(decision: Decision) -> list[int]:
    """The number of the judgement that rejects each row first; as many as there are: none does."""
    first = np.full(decision.cycle.size, len(decision.judgements), dtype=np.intp)
    for number in range(len(decision.judgements) - 1, -1, -1):
        first[~decision.judgements[number].keep] = number
    found: list[int] = first.tolist()
    return found


def _slack(scorer: _Scorer) -> float:
    """How much better a total may look by rounding where the raw value got no better."""
    scale = scorer.scale
    if scale is None:
        return 0.0
    steep = 100.0 / (scale.high - scale.low) if scale.kind == "fixed" else 1.0
    return scorer.weight * _ROUNDED * (1.0 + steep)
