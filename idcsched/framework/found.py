"""The best of a question that was not decided afresh, and what of a decision can be brought up to what was taken since.

What an order changes of one IDC, plugins say of one alone (`Plugin.needs`, `Plugin.score_again`). What comes of it is
what deciding afresh would give, to the last bit; `Closed` says that this can't be told.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .claiming import Claim, claims_of
from .decision import Answer, Decision, IdcBrief, Judgement, LineUse, RejectedCount, counted
from .errors import Template
from .explain import summary_of
from .lines import NO_LINE, LineChoice
from .normalize import BY_ROW, DECIMALS, Number, Scale
from .profile import Entry, Profile
from .scoring import normalizes_itself
from .snapshot import sealed
from .standing import LineNow
from .telling import Said, say_english
from .thresholds import Closed

if TYPE_CHECKING:
    from .context import Cycle

__all__ = [
    "Found",
    "Place",
    "Rejections",
    "check_decided",
    "place_of",
    "raw_again",
    "rejections_of",
    "scale_again",
    "slack",
    "stays_open",
]

_YES, _NO = sealed(np.ones(1, dtype=np.bool_)), sealed(np.zeros(1, dtype=np.bool_))
_ROUNDED = 4e-6
"""More than a raw value and its score gain by being rounded."""


class Place(msgspec.Struct, frozen=True):
    """What an answer says of an IDC, and what the IDC would have to give."""

    idc: IdcBrief
    lines: tuple[LineUse, ...]
    claims: tuple[Claim, ...]


class Rejections(msgspec.Struct, frozen=True):
    """How many were rejected for what, and how that is said in English."""

    evaluated: int
    feasible: int
    counts: list[tuple[RejectedCount, Judgement]]
    summary: str

    @property
    def sentences(self) -> Said:
        """What the summary is made of."""
        found: dict[str, tuple[str, Mapping[str, Any]]] = {}

        def say(template: Template, params: Mapping[str, Any]) -> str:
            text = say_english(template, params)
            found[text] = (template, params)
            return text

        summary_of(self.feasible, self.evaluated, 0, self.counts, say)
        return found


class Found(msgspec.Struct, frozen=True):
    """The best as it stands, and who was rejected. `weight`: of all scorers."""

    place: Place
    score: float
    weight: float
    rejections: Rejections

    @property
    def answer(self) -> Answer:
        """What `explain.answer` gives of it without explanation, in English."""
        place, rejections = self.place, self.rejections
        return Answer(
            result="scheduled",
            reason_code=None,
            idc=place.idc,
            lines=place.lines,
            score=self.score,
            score_mean=round(self.score / self.weight, DECIMALS) if self.weight else 0.0,
            candidates=None,
            tie=None,
            margin=None,
            rejected=None,
            rejected_counts=None,
            near_misses=None,
            summary=rejections.summary,
            evaluated=rejections.evaluated,
            feasible=rejections.feasible,
            not_visited=0,
            picked="best",
            fallback_group=None,
            stale=None,
            plugin_errors=(),
        )


def stays_open(profile: Profile) -> bool:
    """Whether all plugins of a profile say what an order changes of one IDC, and what else of a request they read."""
    if profile.one_by_one or profile.gatherers or profile.fallback or profile.pick.kind != "best":
        return False
    filters = [call for step in profile.steps for call in step.entries]
    needing = [entry.name for point, entry in filters if not _stays(entry, point)]
    return (
        profile.weighed is not None
        and "machines" not in profile.reads
        and len(set(needing)) == len(needing)
        and all("needs" in entry.joined for point, entry in filters if not _stays(entry, point))
        and all("pre_filter" in entry.plugin.unmoved for entry in profile.narrowing)
        and all(_scores_again(entry) for entry, _ in profile.weighed)
        and all("reserve" in entry.plugin.unmoved for entry in profile.reservers)
    )


def _stays(entry: Entry, point: str) -> bool:
    """Whether its word is the same whatever is taken, and for all questions that are alike."""
    return point in entry.plugin.unmoved and point in entry.plugin.reads


def _scores_again(entry: Entry) -> bool:
    told = _stays(entry, "score") if entry.lasting else "score_again" in entry.joined
    return told and "pre_score" not in entry.joined and not normalizes_itself(entry)


def check_decided(decision: Decision) -> None:
    """Raises Closed where it hangs on more than single IDCs."""
    ctx = decision.cycle
    if not ctx.remembers:
        raise Closed
    if not decision.scheduled or decision.plugin_errors:
        raise Closed
    if not ctx.line_policy().settled or len(ctx.lines.groups) != 1:
        raise Closed


def scale_again(ctx: "Cycle", entry: Entry) -> Scale:
    """By which a scorer's raw values are scored of which orders are told one by one."""
    ctx.entry = entry
    scale = entry.scale(entry.plugin.scale_for(ctx))
    if scale.kind not in BY_ROW:
        raise Closed
    return scale


def slack(weight: float, scale: Scale) -> float:
    """How much better a total may look by rounding where the raw value got no better."""
    return weight * _ROUNDED * (1.0 + (100.0 / (scale.high - scale.low) if scale.kind == "fixed" else 1.0))


def raw_again(ctx: "Cycle", entry: Entry, line: LineNow[Number]) -> Number:
    """The raw value of one IDC as its line stands now, or those of several, which need not be known."""
    ctx.entry = entry
    try:
        raw = entry.plugin.score_again(ctx, line)
    except Exception as error:  # who fails is asked in the ordinary way, where it is named
        raise Closed from error
    alone = type(line.number) is int
    known = isinstance(raw, float) and raw - raw == 0.0 if alone else isinstance(raw, np.ndarray)
    if not known:
        raise Closed
    return raw  # type: ignore[return-value]


def place_of(ctx: "Cycle", position: int, line: int) -> Place:
    """The IDC at that position of the universe, on that line."""
    idcs, lines, used = ctx.snapshot.idcs, ctx.snapshot.lines, () if line == NO_LINE else (line,)
    alone = ctx.narrowed(np.array([position], dtype=np.intp), _only(line))
    row: int = alone.row_numbers.item(0)
    return Place(
        IdcBrief(code=idcs.codes[row], name=idcs.names[row], region=idcs.regions[row]),
        tuple([LineUse(line=lines.codes[n], isp=lines.isps[n], bandwidth_mbps=ctx.need) for n in used]),
        claims_of(alone),
    )


def _only(line: int) -> LineChoice:
    there = _NO if line == NO_LINE else _YES
    return LineChoice(groups=(np.array([line], dtype=np.intp),), has_line=there, carrying=there, known=there)


def rejections_of(judgements: Sequence[Judgement], lefts: Sequence[int], size: int) -> Rejections:
    """Of so many IDCs, each judgement leaving so many of what the ones before it have left."""
    feasible, counts = lefts[-1] if lefts else size, counted(judgements, lefts, size)
    return Rejections(size, feasible, counts, summary_of(feasible, size, 0, counts, say_english))
