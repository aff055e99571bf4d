"""Why an order went where it did, and why not elsewhere: the same sentences in console, command line and API."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from django.conf import settings

from idcsched.framework.decision import Decision as Outcome
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.would_rank import rank_if_it_fitted

from .decision_page import decision_shown
from .live import live
from .models import Decision
from .money_lens import MoneyLens, NoMoney, money_lens
from .verdict import (
    Code,
    Money,
    Paragraph,
    level_weights,
    verdict,
    why_not_about_it,
    why_not_chosen,
    why_rejected,
)

__all__ = ["Said", "Why", "WhyNot", "decision_why", "why", "why_not"]

Document = Mapping[str, Any]
ALL: Final = 1_000_000
"""More than there are IDCs."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence: its `text` in the reader's language, and what that is made of.

    An amount of money in `params` is an object: the `amount` a month, and its `currency`.
    """

    text: str
    template: str
    params: dict[str, Any]


class WhyNot(msgspec.Struct, frozen=True, kw_only=True):
    """Why an IDC was not chosen.

    `rank`: its rank if it `fits`; otherwise the rank that it would have, or null where that can't be told. `level_at`
    has the weight of each scorer at which it would draw level, all else unchanged, the smallest change first.
    """

    idc: str
    fits: bool
    rank: int | None
    sentences: list[Said]
    level_at: dict[str, float]


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """Why the order went to `idc`, or, where that is null, found no place. `why_not` is about the IDC asked about."""

    idc: str | None
    sentences: list[Said]
    why_not: WhyNot | None


def decision_why(*, decision: Decision, other: str = "") -> Why:
    """Return why the decision's IDC was chosen, or none, and why the `other` one was not.

    Raises Invalid for an IDC that the decision does not know, and that does not exist now.
    """
    found = decision_shown(decision, most=ALL)
    outcome = found.outcome
    answer = {**found.answer, "candidates": found.candidates, "rejected": found.rejected}
    if other and not _known(answer, other):
        raise Invalid("unknown_idc", _("there is no IDC {name}"), "?not", name=other)
    lens = money_lens(
        found.candidates,
        profile=outcome.profile if outcome else None,
        weights=decision.request.get("weights"),
        best=(answer.get("worth") or {}).get("best"),
    )
    return Why(
        idc=answer["idc"]["code"] if answer.get("idc") else None,
        sentences=list(_said(why(answer, lens))),
        why_not=_why_not(answer, other, lens, outcome) if other else None,
    )


def why(answer: Document, lens: MoneyLens | NoMoney) -> Sequence[Paragraph]:
    """Return why the answer's IDC was chosen, or none; nothing for an older record that lacks what it is made of."""
    try:
        return verdict(answer, lens, currency=settings.CURRENCY)
    except (LookupError, TypeError):
        return []


def why_not(
    answer: Document, idc: str, lens: MoneyLens | NoMoney, outcome: Outcome | None = None
) -> Sequence[Paragraph]:
    """Return why an IDC was not chosen: it has fewer points, it does not fit, or the order was not about it.

    With the `outcome` also where one that does not fit would have ranked.
    """
    rejection = _entry(answer, "rejected", idc) or _entry(answer, "near_misses", idc)
    if rejection is not None:
        rank = rank_if_it_fitted(outcome, idc) if outcome else None
        return why_rejected(rejection, feasible=answer.get("feasible", 0), rank=rank)
    winner, other = _winner(answer), _entry(answer, "candidates", idc)
    if winner is None or other is None:
        return why_not_about_it(idc, answer.get("evaluated", 0))
    found = why_not_chosen(winner, other, lens, currency=settings.CURRENCY, tie=answer.get("tie"))
    return [paragraph for paragraph in found if paragraph]


def _why_not(answer: Document, idc: str, lens: MoneyLens | NoMoney, outcome: Outcome | None) -> WhyNot:
    winner, other = _winner(answer), _entry(answer, "candidates", idc)
    rank = other["rank"] if other else rank_if_it_fitted(outcome, idc) if outcome else None
    return WhyNot(
        idc=idc,
        fits=other is not None,
        rank=rank,
        sentences=list(_said(why_not(answer, idc, lens, outcome))),
        level_at=level_weights(winner, other) if winner and other and other is not winner else {},
    )


def _said(paragraphs: Sequence[Paragraph]) -> Iterator[Said]:
    for paragraph in paragraphs:
        for sentence in paragraph:
            params = {name: _plain(value) for name, value in sentence.params.items()}
            yield Said(text=str(sentence), template=sentence.template, params=params)


def _plain(value: Any) -> Any:
    if isinstance(value, Money):
        return {"amount": round(value.amount, 2), "currency": value.currency}
    return str(value) if isinstance(value, Code) else value


def _known(answer: Document, idc: str) -> bool:
    listed = _entry(answer, "candidates", idc) or _entry(answer, "rejected", idc)
    return listed is not None or idc in live.current().snapshot.idcs.row_of


def _winner(answer: Document) -> Document | None:
    return _entry(answer, "candidates", answer["idc"]["code"]) if answer.get("idc") else None


def _entry(answer: Document, name: str, idc: str) -> Document | None:
    return next((entry for entry in answer.get(name) or () if entry["idc"] == idc), None)
