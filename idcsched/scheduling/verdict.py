"""An answer in sentences that speak of money, each a template with its parameters.

What is billed is money: "adds 4,706 CNY a month". What is weighed is only worth money: "by the worth of 12,228 CNY a
month". Where an answer has no money lens, points are spoken of instead. Every number is one of the answer's, or a
difference of two of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from idcsched.framework.messages import Message, _
from idcsched.language.wording import say

from .in_words import amount, filter_name, scorer_name
from .money_lens import Cost, MoneyLens, NoMoney

__all__ = [
    "Code",
    "Money",
    "Sentence",
    "level_weights",
    "question",
    "verdict",
    "why_not_about_it",
    "why_not_chosen",
    "why_rejected",
]

MOST_WEIGHT: Final = 10_000.0
CENT: Final = 0.01
WHOLE_WEIGHTS: Final = 10
"""From here on decimals of a weight are noise."""
FIXED: Final = "fixed"
SHORT_OF_BANDWIDTH: Final = "not_enough_bandwidth"

Document = Mapping[str, Any]
Paragraph = Sequence["Sentence"]


class Code(str):
    """The code of an IDC."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Money:
    """An amount a month."""

    amount: float
    currency: str

    def __str__(self) -> str:
        return say(_("{amount:,.0f} {currency} a month"), {"amount": self.amount, "currency": self.currency})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as its template and parameters; `str` says it in the reader's language."""

    template: Message
    params: Mapping[str, Any]

    def __str__(self) -> str:
        return say(self.template, self.params)


SPREAD = _("The machines are spread over {count} IDCs: {shares}.")
SHARE = _("{count} in {idc}")
ALONE = _("{idc} is the only one of {evaluated} IDCs that fits.")
PLANNED = _("{idc} was planned, together with the other orders of the batch.")
BY_CHANCE = _("{idc} was picked by chance among the IDCs that come near to the best.")
MOST_POINTS = _("{idc} has the most points of all that fit: {points}.")
ADDS_NOTHING = _("{idc} adds nothing to the bill.")
LEAST_BILLED = _("{idc} adds least to the bill of all that fit: {money}.")
BILLED = _("{idc} adds {money} to the bill; {other} would add least, {least}.")
ADDS = _("It adds {money} to the bill.")
LAST_DAYS = _("With the order, the last 30 days on {lines} would have cost {after} {currency} instead of {before}.")
LAST_DAYS_AS_BEFORE = _("The last 30 days on {lines} would have cost {after} {currency} with the order as without it.")
LAST_DAYS_FREE = _("Without the order, the last 30 days on {lines} would have cost nothing.")
BY_WEEK = _(
    "By the week that is known of {lines}, a month costs {after} {currency} with the order instead of {before}."
)
BY_WEEK_AS_BEFORE = _(
    "By the week that is known of {lines}, a month costs {after} {currency} with the order as without it."
)
BY_WEEK_FREE = _("By the week that is known of {lines}, a month costs nothing without the order.")
SAME_PRICE = _("The price of {lines} is the same whatever flows.")
NO_PRICE_KNOWN = _("What the order adds to the bill there is not known: no price is known for {lines}.")
NO_TRAFFIC_KNOWN = _("What the order adds to the bill there is not known: no traffic is known of {lines}.")
TIED = _("It shares the most points with {others}; the tie was broken by {key}.")
AHEAD_IN_MONEY = _("With everything else weighed in, it is ahead of {other}, the next best, by the worth of {money}.")
AHEAD_IN_POINTS = _("It is ahead of {other}, the next best, by {points} points.")
FITTING = _("{feasible} of {evaluated} IDCs fit.")
NOTHING_FITS = _("Nothing fits: {summary}.")
MORE_ROOM = _("With {short_by} Mbps more on {idc} it would have fitted.")
NEAREST = _("Nearest was {idc}: {reason}.")
NOTE = _("{note}.")

WHY_NOT = _("Why not {idc}?")
WHY_NOT_ALTHOUGH = _("Why not {idc}, which has {advantage}?")
ADDS_MORE = _("It would add {money} to the bill, {more} more than {winner}.")
ADDS_LESS = _("It would add {money} to the bill, {less} less than {winner}.")
ADDS_BESIDE_NOTHING = _("It would add {money} to the bill, and {winner} adds nothing.")
ADDS_AS_MUCH = _("It would add {money} to the bill, as much as {winner}.")
BEHIND_IN_MONEY = _("With everything else weighed in, it is behind by the worth of {money}.")
BEHIND_IN_POINTS = _("It is {points} points behind {winner}; {scorer} costs it {most}.")
AS_GOOD = _("It has as many points; the tie was broken by {key}.")
AHEAD_NOT_PICKED = _("It has {points} points more, but was not picked.")
LEVEL = _("It would draw level only if {changes}.")
WEIGHED = _("{scorer} weighed {weight} instead of {now}")
OR = _("{changes} or {change}")
NEVER_LEVEL = _("No other weight of a single scorer would bring it level.")
DOES_NOT_FIT = _("It does not fit: {reason}.")
CURED_BY_ROOM = _("With {short_by} Mbps more it would fit.")
ALSO = _("Without that it would still be rejected for: {plugins}.")
CHOSEN = _("{idc} was chosen.")
NOT_ABOUT_IT = _("{idc} is none of the {evaluated} IDCs that the order was about.")
WOULD_BE_BEST = _("If it fitted, no IDC would have more points.")
WOULD_RANK = _("If it fitted, it would be number {rank} of {count}.")

BY_TRAFFIC: Final = {
    "exact": (LAST_DAYS, LAST_DAYS_AS_BEFORE, LAST_DAYS_FREE),
    "weekly": (BY_WEEK, BY_WEEK_AS_BEFORE, BY_WEEK_FREE),
}
"""What to say of a bill by what it was computed from: that it grows, stays as it is, or begins with the order."""
WITHOUT_BILL: Final = {"no_price": NO_PRICE_KNOWN, "no_traffic": NO_TRAFFIC_KNOWN}
"""What to say where there is no bill, by `bill_unknown`; an order without bandwidth has none to speak of."""


def verdict(answer: Document, lens: MoneyLens | NoMoney, *, currency: str) -> list[Paragraph]:
    """Return why the answer's IDC was chosen, or why none was; of the costs in `lens` the first ones are the best."""
    if not answer.get("idc"):
        return [list(_nothing_fits(answer))]
    return [part for part in (list(_chosen(answer, lens, currency)), list(_lead(answer, lens, currency))) if part]


def question(idc: str, *, advantage: str = "") -> Sentence:
    """Return the question why an IDC was not chosen; `advantage` is what would let a reader expect that it had been."""
    return Sentence(WHY_NOT_ALTHOUGH if advantage else WHY_NOT, {"idc": Code(idc), "advantage": advantage})


def why_not_chosen(
    winner: Document, other: Document, lens: MoneyLens | NoMoney, *, currency: str, tie: Document | None = None
) -> list[Paragraph]:
    """Return why a candidate was not chosen, and with which weights it would draw level."""
    if other["idc"] == winner["idc"]:
        return [[Sentence(CHOSEN, {"idc": Code(other["idc"])})]]
    costs = _costs(lens)
    behind = winner["score"] - other["score"]
    return [
        [*_bill_beside(winner, other, lens, costs, currency), *_behind(winner, other, lens, currency, tie)],
        [_level(winner, other)] if behind > 0 else [],
    ]


def why_rejected(rejected: Document, *, feasible: int = 0, rank: int | None = None) -> list[Paragraph]:
    """Return why an IDC does not fit, what would cure that, and its rank beside the `feasible` ones if it fitted."""
    sentences = [Sentence(DOES_NOT_FIT, {"reason": rejected["reason"]})]
    short_by = (rejected.get("detail") or {}).get("short_by")
    if short_by and rejected["code"] == SHORT_OF_BANDWIDTH:
        sentences.append(Sentence(CURED_BY_ROOM, {"short_by": f"{ceil(short_by):,}"}))
    if also := rejected.get("also"):
        sentences.append(Sentence(ALSO, {"plugins": ", ".join(filter_name(each) for each in also)}))
    if rank is not None:
        best = rank == 1
        sentences.append(Sentence(WOULD_BE_BEST if best else WOULD_RANK, {"rank": rank, "count": feasible + 1}))
    return [sentences]


def why_not_about_it(idc: str, evaluated: int) -> list[Paragraph]:
    """Return that the order's region, or something else that it named, left the IDC out."""
    return [[Sentence(NOT_ABOUT_IT, {"idc": Code(idc), "evaluated": evaluated})]]


def level_weights(winner: Document, other: Document) -> dict[str, float]:
    """Return the weight of each scorer at which the other draws level, all else unchanged, the smallest change first;
    nothing for scorers of which no weight does that."""
    gap = winner["score"] - other["score"]
    found = {}
    for name, score in winner["scores"].items():
        gain = (other["scores"][name]["normalized"] or 0.0) - (score["normalized"] or 0.0)
        if gain and 0.0 <= (weight := score["weight"] + gap / gain) <= MOST_WEIGHT:
            found[name] = weight
    now = {name: score["weight"] for name, score in winner["scores"].items()}
    return dict(sorted(found.items(), key=lambda pair: abs(pair[1] - now[pair[0]])))


def _chosen(answer: Document, lens: MoneyLens | NoMoney, currency: str) -> Iterator[Sentence]:
    """Yield what singles the chosen IDC out, what it adds to the bill, and what the bill is with it."""
    idc = Code(answer["idc"]["code"])
    if shares := answer.get("idcs"):
        told = ", ".join(say(SHARE, {"count": share["machine_count"], "idc": share["idc"]}) for share in shares)
        yield Sentence(SPREAD, {"count": len(shares), "shares": told})
        return
    costs = _costs(lens)
    billed = {code: cost.billed for code, cost in costs.items() if cost.billed is not None}
    own = Money(billed[idc], currency) if idc in billed else None
    if special := _special(answer, idc):
        yield special
        if own:
            yield Sentence(ADDS, {"money": own})
    elif own:
        yield _billed(idc, own, billed)
    else:
        yield Sentence(MOST_POINTS, {"idc": idc, "points": f"{answer['score']:,.0f}"})
    candidate = _candidate(answer, idc)
    if own and candidate:
        yield from _bill_explained(candidate["bill"])
    elif candidate:
        yield from list(_note(candidate, lens)) or _without_bill(candidate)


def _billed(idc: Code, own: Money, billed: Mapping[str, float]) -> Sentence:
    """Return what the order adds to the bill there, and where it would add least."""
    if abs(own.amount) < CENT:
        return Sentence(ADDS_NOTHING, {"idc": idc})
    cheapest = min(billed, key=billed.__getitem__)
    if billed[cheapest] >= own.amount - CENT:
        return Sentence(LEAST_BILLED, {"idc": idc, "money": own})
    least = Money(billed[cheapest], own.currency)
    return Sentence(BILLED, {"idc": idc, "money": own, "other": Code(cheapest), "least": least})


def _special(answer: Document, idc: Code) -> Sentence | None:
    """Return how the IDC was found, where that was not by the most points."""
    if answer["feasible"] == 1:
        return Sentence(ALONE, {"idc": idc, "evaluated": answer["evaluated"]})
    template = {"planned": PLANNED, "near_best": BY_CHANCE}.get(answer.get("picked", ""))
    return Sentence(template, {"idc": idc}) if template else None


def _lead(answer: Document, lens: MoneyLens | NoMoney, currency: str) -> Iterator[Sentence]:
    """Yield by how much the chosen IDC is ahead, and how many fit."""
    margin, tie, idc = answer.get("margin"), answer.get("tie"), answer["idc"]["code"]
    if answer.get("idcs") or answer["feasible"] == 1:
        return
    if tie and idc in tie["between"]:
        others = ", ".join(code for code in tie["between"] if code != idc)
        yield Sentence(TIED, {"others": others, "key": tie["broken_by"]})
    elif margin and margin["score"] > 0:
        facts = {"other": Code(margin["runner_up"]), "points": f"{margin['score']:,.0f}"}
        if isinstance(lens, MoneyLens):
            money = Money(margin["score"] * lens.per_point, currency)
            yield Sentence(AHEAD_IN_MONEY, {**facts, "money": money})
        else:
            yield Sentence(AHEAD_IN_POINTS, facts)
    yield Sentence(FITTING, {"feasible": answer["feasible"], "evaluated": answer["evaluated"]})


def _nothing_fits(answer: Document) -> Iterator[Sentence]:
    yield Sentence(NOTHING_FITS, {"summary": answer.get("summary", "")})
    for miss in (answer.get("near_misses") or ())[:1]:
        if miss["code"] == SHORT_OF_BANDWIDTH and miss["short_by"]:
            yield Sentence(MORE_ROOM, {"short_by": f"{ceil(miss['short_by']):,}", "idc": Code(miss["idc"])})
        else:
            yield Sentence(NEAREST, {"idc": Code(miss["idc"]), "reason": miss["reason"]})
    yield from (Sentence(NOTE, {"note": _capital(hint["hint"].rstrip("."))}) for hint in answer.get("hints") or ())


def _bill_explained(bill: Document) -> Iterator[Sentence]:
    """Yield the month's bill with the order and without it, none of which repeats what the order adds."""
    lines = ", ".join(line["line"] for line in bill["lines"])
    after, before = (f"{bill[name]:,.0f}" for name in ("after", "before"))
    if bill["method"] == FIXED:
        yield Sentence(SAME_PRICE, {"lines": lines})
    elif after != "0":
        grows, stays, begins = BY_TRAFFIC[bill["method"]]
        template = begins if before == "0" else grows if round(bill["per_month"]) else stays
        yield Sentence(template, {"lines": lines, "after": after, "before": before, "currency": bill["currency"]})


def _without_bill(candidate: Document) -> Iterator[Sentence]:
    """Yield why it is not known what the order adds to the bill."""
    if template := WITHOUT_BILL.get(candidate.get("bill_unknown", "")):
        yield Sentence(template, {"lines": ", ".join(use["line"] for use in candidate["lines"])})


def _note(candidate: Document, lens: MoneyLens | NoMoney) -> Iterator[Sentence]:
    """Yield what the scorer of the bill says, where the bill itself is not known."""
    if isinstance(lens, MoneyLens):
        note = candidate["scores"][lens.bill].get("note")
        if note:
            yield Sentence(NOTE, {"note": _capital(note)})


def _bill_beside(
    winner: Document, other: Document, lens: MoneyLens | NoMoney, costs: Mapping[str, Cost], currency: str
) -> Iterator[Sentence]:
    """Yield what the other would add to the bill, beside what the winner adds."""
    own = costs[winner["idc"]].billed if winner["idc"] in costs else None
    others = costs[other["idc"]].billed if other["idc"] in costs else None
    if others is None:
        yield from list(_note(other, lens)) or _without_bill(other)
    if own is None or others is None:
        return
    more = others - own
    facts = {"money": Money(others, currency), "winner": Code(winner["idc"])}
    difference = f"{abs(more):,.0f}"
    if abs(more) < CENT:
        yield Sentence(ADDS_AS_MUCH, facts)
    elif abs(own) < CENT:
        yield Sentence(ADDS_BESIDE_NOTHING, facts)
    elif more > 0:
        yield Sentence(ADDS_MORE, {**facts, "more": difference})
    else:
        yield Sentence(ADDS_LESS, {**facts, "less": difference})


def _behind(
    winner: Document, other: Document, lens: MoneyLens | NoMoney, currency: str, tie: Document | None
) -> Iterator[Sentence]:
    behind = winner["score"] - other["score"]
    if behind < 0:
        yield Sentence(AHEAD_NOT_PICKED, {"points": f"{-behind:,.0f}"})
    elif behind == 0:
        if tie:
            yield Sentence(AS_GOOD, {"key": tie["broken_by"]})
    elif isinstance(lens, MoneyLens):
        yield Sentence(BEHIND_IN_MONEY, {"money": Money(behind * lens.per_point, currency)})
    else:
        scores, others = winner["scores"], other["scores"]
        lost = {name: scores[name]["contribution"] - others[name]["contribution"] for name in scores}
        most = max(lost, key=lost.__getitem__)
        facts = {"points": f"{behind:,.0f}", "winner": Code(winner["idc"])}
        yield Sentence(BEHIND_IN_POINTS, {**facts, "scorer": scorer_name(most), "most": f"{lost[most]:,.0f}"})


def _level(winner: Document, other: Document) -> Sentence:
    changes = [
        say(
            WEIGHED,
            {"scorer": scorer_name(name), "weight": _weight(weight), "now": amount(winner["scores"][name]["weight"])},
        )
        for name, weight in level_weights(winner, other).items()
    ]
    if not changes:
        return Sentence(NEVER_LEVEL, {})
    text = changes[0]
    for change in changes[1:]:
        text = say(OR, {"changes": text, "change": change})
    return Sentence(LEVEL, {"changes": text})


def _weight(weight: float) -> str:
    return f"{weight:,.0f}" if weight >= WHOLE_WEIGHTS else amount(weight)


def _costs(lens: MoneyLens | NoMoney) -> dict[str, Cost]:
    return {cost.idc: cost for cost in lens.costs} if isinstance(lens, MoneyLens) else {}


def _candidate(answer: Document, idc: str) -> Document | None:
    return next((candidate for candidate in answer.get("candidates") or () if candidate["idc"] == idc), None)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
