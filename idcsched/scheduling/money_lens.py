"""What it costs to place an order in each IDC: the points of a ranking, said in money a month.

Where `billing_cost` scores on its fixed range, what an order counts a month, `counted`, is turned into points by one
rate, so that every other scorer's points can be turned into money by the same:

    rate          = range · Mbps ÷ (100 · weight of the bill)                             money a month per point
    cost of an IDC = counted + Σ over the other scorers (best contribution of any IDC that fits − its own) · rate

Costs have the order and the distances of the totals: the cheapest IDC has the most points, and a difference of one
point is a difference of `rate`. What is billed is money; the rest is only worth as much, by the profile's weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from idcsched.framework.messages import Message, _
from idcsched.framework.profile import Profile

__all__ = ["BILL", "Cost", "Difference", "MoneyLens", "NoMoney", "best_contributions", "differences", "money_lens"]

BILL: Final = "billing_cost"
FULL_SCORE: Final = 100.0
NOTHING: Final = 1e-6
"""Contributions are rounded to this; what is smaller is no difference."""

REPLACED: Final = frozenset({"neutral", "worst"})
"""What may stand in for a value that is not known."""

Document = Mapping[str, Any]


class NoMoney(Enum):
    """Why the points of an answer cannot be said in money."""

    NO_CANDIDATES = _("no IDC fits")
    NO_BILL = _("the profile does not weigh the bill")
    NO_WEIGHT = _("the bill has weight 0")
    OTHER_SCALE = _("the profile scores the bill on a scale without prices")
    NO_BANDWIDTH = _("the order needs no bandwidth")
    NO_PRICE = _("no IDC that fits has a known price")

    @property
    def sentence(self) -> Message:
        sentence: Message = self.value
        return sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What it costs to place the order in one IDC, per month.

    `billed` is what the bill grows by (None: the answer does not say), `counted` what the bill counts as, with the
    commit and the room that the order uses up. `clipped`: it counts as the dearest price, although it is dearer.
    `worth` has what the IDC lacks to the best one, by scorer. `missing` says, by scorer, what replaced a value that is
    not known.
    """

    idc: str
    billed: float | None
    counted: float
    clipped: bool
    worth: Mapping[str, float]
    missing: Mapping[str, str]

    @property
    def total(self) -> float:
        return self.counted + sum(self.worth.values())

    @property
    def paid(self) -> float:
        """The part of `counted` that is billed."""
        return self.counted if self.billed is None else min(max(self.billed, 0.0), self.counted)

    @property
    def used_up(self) -> float:
        """The part of `counted` that is the worth of the commit and the room that the order uses up."""
        return self.counted - self.paid


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyLens:
    """The costs of all candidates in their order. `bill`: the name of the scorer that scores the bill."""

    bill: str
    per_point: float
    costs: tuple[Cost, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One scorer in which two candidates differ, and by how much the second is better (below 0: worse)."""

    scorer: str
    raw: float | None
    other_raw: float | None
    amount: float


def money_lens(
    candidates: Sequence[Document],
    *,
    profile: Profile | None = None,
    weights: Mapping[str, float] | None = None,
    best: Mapping[str, float] | None = None,
) -> MoneyLens | NoMoney:
    """Return the costs of an answer's candidates, as documents, or why there are none.

    `profile` decided, with the request's own `weights`; without it the scorer of the bill goes by its plugin's name.
    `best` has the best contribution of any IDC that fits by scorer; without it, that of any of the candidates.
    """
    if not candidates:
        return NoMoney.NO_CANDIDATES
    bill = _scorer_of_bill(profile)
    if bill is None:
        return NoMoney.NO_BILL
    first = candidates[0]["scores"].get(bill)
    if first is None or first["missing"] == "left_out":
        return _left_out(candidates, bill, profile, weights or {})
    if not first["weight"]:
        return NoMoney.NO_WEIGHT
    if not (scale := first.get("range")):
        return NoMoney.OTHER_SCALE
    low, high = scale
    mbps = candidates[0]["lines"][0]["bandwidth_mbps"]
    per_point = (high - low) * mbps / (FULL_SCORE * first["weight"])
    best = best_contributions(candidates) if best is None else best
    return MoneyLens(
        bill=bill,
        per_point=per_point,
        costs=tuple(_cost(candidate, bill, per_point, low * mbps, best) for candidate in candidates),
    )


def best_contributions(candidates: Sequence[Document]) -> dict[str, float]:
    """Return the best contribution of any candidate, by scorer."""
    names = candidates[0]["scores"] if candidates else ()
    return {name: max(candidate["scores"][name]["contribution"] for candidate in candidates) for name in names}


def differences(one: Document, other: Document, *, per_point: float = 1.0) -> list[Difference]:
    """Return in what two candidates differ, in points, or in money if a point is worth `per_point`."""
    scores, others = one["scores"], other["scores"]
    found = [
        Difference(
            scorer=name,
            raw=scores[name]["raw"],
            other_raw=others[name]["raw"],
            amount=(others[name]["contribution"] - scores[name]["contribution"]) * per_point,
        )
        for name in scores
        if name in others
    ]
    return [difference for difference in found if abs(difference.amount) > NOTHING * per_point]


def _scorer_of_bill(profile: Profile | None) -> str | None:
    if profile is None:
        return BILL
    return next((entry.name for entry in profile.scorers if entry.plugin.name == BILL), None)


def _left_out(
    candidates: Sequence[Document], bill: str, profile: Profile | None, weights: Mapping[str, float]
) -> NoMoney:
    """Return why the scorer of the bill is not in the sum."""
    entry = profile.entry(bill) if profile else None
    if bill not in candidates[0]["scores"] and entry is None:
        return NoMoney.NO_BILL
    if entry is not None and not weights.get(bill, entry.weight):
        return NoMoney.NO_WEIGHT
    needs_bandwidth = any(use["bandwidth_mbps"] for candidate in candidates for use in candidate["lines"])
    return NoMoney.NO_PRICE if needs_bandwidth else NoMoney.NO_BANDWIDTH


def _cost(candidate: Document, bill: str, per_point: float, least: float, best: Mapping[str, float]) -> Cost:
    scores = candidate["scores"]
    of_bill = scores[bill]
    full = FULL_SCORE * of_bill["weight"]
    lacks = {name: best[name] - score["contribution"] for name, score in scores.items() if name != bill}
    return Cost(
        idc=candidate["idc"],
        billed=(candidate.get("bill") or {}).get("per_month"),
        counted=least + (full - of_bill["contribution"]) * per_point,
        clipped=of_bill["raw"] is not None and of_bill["missing"] is None and of_bill["raw"] > of_bill["range"][1],
        worth={name: points * per_point for name, points in lacks.items() if points > NOTHING},
        missing={name: score["missing"] for name, score in scores.items() if score["missing"] in REPLACED},
    )
