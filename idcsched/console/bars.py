"""A ranking as stacked bars, in money or in points, and two candidates side by side.

Everything is a share of the picture's width, so that bars need neither a script nor a style attribute.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.text import capfirst

from idcsched.framework.messages import Message, _
from idcsched.language.wording import say
from idcsched.scheduling.money_lens import BILL, Cost, MoneyLens, NoMoney, differences

from .scorers import USED_UP, Scorers

__all__ = ["BARS", "Bars", "Versus", "money_bars", "points_bars", "signed_amount", "versus"]

BARS: Final = 10
"""How many candidates are shown at first."""
FULL: Final = 98.0
"""Where the longest bar ends, in percent."""
BASE: Final = 5.4
"""The width of what all have in common, which is not drawn to scale, and where the rest begins."""
REST: Final = 6.0
LEAST: Final = 0.02
"""Narrower parts are not drawn."""
MOST_TICKS: Final = 7
THOUSAND: Final = 1000

NOT_KNOWN: Final[Mapping[str, Message]] = {
    "neutral": _("not known, counted as the median"),
    "worst": _("not known, counts as the worst"),
}
CLIPPED = _("counts as the dearest price, although it is dearer")
BILLED = _("billed: {amount:,.0f}")
COUNTS_AS = _("Counts as, per month")
WAS, DID_NOT_FIT = _("was no. {rank}"), _("did not fit")

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A scorer's part of a bar."""

    css: str
    x: str
    width: str
    words: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across a bar, and what it says."""

    x: str
    words: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A candidate's bar; `behind` is its distance from the one that was chosen, "" for that one; `moved`: its
    rank in the answer that this one is compared with, where that is another one."""

    rank: int
    idc: str
    name: str
    parts: tuple[Part, ...]
    marks: tuple[Mark, ...]
    remarks: tuple[str, ...]
    total: str
    behind: str
    chosen: bool
    moved: str

    @property
    def words(self) -> str:
        """The bar in words, for those who do not see it."""
        return ", ".join([*(part.words for part in self.parts), *self.remarks])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """All rows, the marks of the axis, and the colours with their words."""

    rows: tuple[Row, ...]
    axis: tuple[Mark, ...]
    legend: tuple[tuple[str, str], ...]

    @property
    def marked(self) -> bool:
        return any(row.marks for row in self.rows)

    @property
    def first(self) -> tuple[Row, ...]:
        return self.rows[:BARS]

    @property
    def others(self) -> tuple[Row, ...]:
        return self.rows[BARS:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """One scorer of two candidates: its values, and how much better or worse the second is.

    `billed`: what is billed of both, for the scorer of the bill, whose values are what the order counts as.
    """

    css: str
    words: str
    values: str
    billed: str
    x: str
    width: str
    amount: str
    better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """Two candidates side by side, and the sum; in money if `in_money`, else in points."""

    duels: tuple[Duel, ...]
    total: str
    better: bool
    in_money: bool


def money_bars(
    lens: MoneyLens,
    candidates: Sequence[Document],
    scorers: Scorers,
    names: Mapping[str, str],
    chosen: str | None,
    before: Mapping[str, int] | None = None,
) -> Bars:
    """Return the costs as bars: what is billed, what is used up, and what the IDC lacks by each other scorer."""
    longest = max(max(cost.total, cost.billed or 0.0) for cost in lens.costs) or 1.0
    scale = FULL / longest
    own = next((cost.total for cost in lens.costs if cost.idc == chosen), lens.costs[0].total)
    rows = []
    for candidate, cost in zip(candidates, lens.costs, strict=True):
        parts = [
            (css, f"{capfirst(words)} {amount:,.0f}", amount)
            for css, words, amount in _money_parts(cost, lens, scorers)
        ]
        rows.append(
            Row(
                **_of(candidate, names, chosen, before),
                parts=tuple(_stacked(parts, 0.0, scale)),
                marks=tuple(_money_marks(cost, scale)),
                remarks=tuple(_remarks(cost, scorers)),
                total=f"{cost.total:,.0f}",
                behind=signed_amount(cost.total - own),
            )
        )
    used = {css: words for cost in lens.costs for css, words, _amount in _money_parts(cost, lens, scorers)}
    return Bars(
        rows=tuple(rows),
        axis=tuple(_axis(0.0, longest, lambda value: value * scale)),
        legend=tuple((css, capfirst(words)) for css, words in used.items()),
    )


def points_bars(
    candidates: Sequence[Document],
    scorers: Scorers,
    names: Mapping[str, str],
    chosen: str | None,
    before: Mapping[str, int] | None = None,
) -> Bars:
    """Return the points as bars: first what all have in common, not to scale, then what each has beyond it."""
    own = next((each["score"] for each in candidates if each["idc"] == chosen), candidates[0]["score"])
    least = {name: min(each["scores"][name]["contribution"] for each in candidates) for name in candidates[0]["scores"]}
    common = sum(least.values())
    beyond = max(each["score"] - common for each in candidates) or 1.0
    scale = (FULL - REST) / beyond
    rows, used = [], {}
    for each in candidates:
        parts = []
        for name, score in each["scores"].items():
            more, words = score["contribution"] - least[name], capfirst(scorers.words(name))
            if more * scale > LEAST:
                used[scorers.css(name)] = words
            parts.append((scorers.css(name), f"{words} {score['contribution']:,.0f}", more))
        base = Part("s-base", "0%", f"{BASE}%", say(_("the same for all: {points:,.0f}"), {"points": common}))
        rows.append(
            Row(
                **_of(each, names, chosen, before),
                parts=(base, *_stacked(parts, REST, scale)),
                marks=(),
                remarks=(),
                total=f"{each['score']:,.0f}",
                behind=signed_amount(each["score"] - own),
            )
        )
    return Bars(
        rows=tuple(rows),
        axis=tuple(_axis(common, common + beyond, lambda value: REST + (value - common) * scale)),
        legend=tuple(used.items()),
    )


def versus(one: Document, other: Document, lens: MoneyLens | NoMoney, scorers: Scorers) -> Versus:
    """Return in what the second candidate is better or worse, scorer by scorer, and in all."""
    in_money = isinstance(lens, MoneyLens)
    per_point = lens.per_point if isinstance(lens, MoneyLens) else 1.0
    found = sorted(differences(one, other, per_point=per_point), key=lambda each: -abs(each.amount))
    largest = max((abs(difference.amount) for difference in found), default=1.0)
    mbps = _mbps(one)
    duels = []
    for difference in found:
        width = 48 * abs(difference.amount) / largest
        better = difference.amount > 0
        values = (scorers.value(difference.scorer, raw, mbps) for raw in (difference.raw, difference.other_raw))
        of_bill = scorers.plugin(difference.scorer) == BILL
        duels.append(
            Duel(
                css=scorers.css(difference.scorer),
                words=say(COUNTS_AS, None) if of_bill else capfirst(scorers.words(difference.scorer)),
                values=" → ".join(values),
                billed=" → ".join(map(_billed, (one, other))) if of_bill else "",
                x=_percent(50 if better else 50 - width),
                width=_percent(max(width, 0.6)),
                amount=signed_amount(difference.amount),
                better=better,
            )
        )
    total = (other["score"] - one["score"]) * per_point
    return Versus(duels=tuple(duels), total=signed_amount(total), better=total > 0, in_money=in_money)


def _billed(candidate: Document) -> str:
    """Return what the order adds to the bill of a month; a dash where that is not known."""
    amount = (candidate.get("bill") or {}).get("per_month")
    return "–" if amount is None else f"{amount:,.0f}"


def _mbps(candidate: Document) -> float:
    lines = candidate["lines"]
    return float(lines[0]["bandwidth_mbps"]) if lines else 0.0


def _of(
    candidate: Document, names: Mapping[str, str], chosen: str | None, before: Mapping[str, int] | None
) -> dict[str, Any]:
    idc, rank = candidate["idc"], candidate["rank"]
    was = rank if before is None else before.get(idc)
    moved = "" if was == rank else say(DID_NOT_FIT, None) if was is None else say(WAS, {"rank": was})
    return {"rank": rank, "idc": idc, "name": names.get(idc, ""), "chosen": idc == chosen, "moved": moved}


def _money_parts(cost: Cost, lens: MoneyLens, scorers: Scorers) -> Iterator[tuple[str, str, float]]:
    """Yield colour, words and amount of each part of a cost."""
    unknown = lens.bill in cost.missing
    yield ("s-none" if unknown else "s-bill"), scorers.worse(lens.bill), cost.paid
    if cost.used_up >= 1:
        yield "s-bill2", say(USED_UP, None), cost.used_up
    for name, amount in cost.worth.items():
        if amount >= 1:
            yield ("s-none" if name in cost.missing else scorers.css(name)), scorers.worse(name), amount


def _money_marks(cost: Cost, scale: float) -> Iterator[Mark]:
    """Yield where the bill lies beyond what counts, and where what counts was clipped."""
    if cost.billed is not None and cost.billed - cost.counted >= 1:
        yield Mark(_percent(cost.billed * scale), say(BILLED, {"amount": cost.billed}))
    if cost.clipped:
        yield Mark(_percent(cost.counted * scale), say(CLIPPED, None))


def _remarks(cost: Cost, scorers: Scorers) -> Iterator[str]:
    if cost.clipped:
        yield say(CLIPPED, None)
    for name, stand_in in cost.missing.items():
        yield f"{capfirst(scorers.words(name))}: {say(NOT_KNOWN[stand_in], None)}"


def _stacked(parts: Sequence[tuple[str, str, float]], start: float, scale: float) -> Iterator[Part]:
    for css, words, amount in parts:
        width = max(amount, 0.0) * scale
        if width > LEAST:
            yield Part(css, _percent(start), _percent(width), words)
            start += width


def _axis(low: float, high: float, place: Any) -> Iterator[Mark]:
    """Yield round numbers between low and high."""
    step = next(
        base * 10**power
        for power in range(-2, 12)
        for base in (1, 2, 5)
        if (high - low) / (base * 10**power) < MOST_TICKS
    )
    value = -(-low // step) * step
    while value <= high:
        words = f"{value / THOUSAND:,g}k" if value >= THOUSAND and value % THOUSAND == 0 and low == 0 else f"{value:,g}"
        yield Mark(_percent(place(value)), words, "middle" if place(value) > 1 else "start")
        value += step


def signed_amount(amount: float) -> str:
    """Return a difference with its sign, which says what its colour says."""
    rounded = round(amount)
    return "" if not rounded else f"{'+' if rounded > 0 else '−'}{abs(rounded):,}"


def _percent(value: float) -> str:
    return f"{value:.2f}%"
