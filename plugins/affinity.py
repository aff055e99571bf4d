"""`affinity` (Filter, Score): operators' affinities and the request's preferences draw it to IDCs or keep it off.

An operator's affinity applies to all requests or to those with certain labels. `require`: these requests may only go
to IDCs that one of the `require` affinities names; `forbid`: they may not go to its IDCs; `prefer`: adds its weight to
its IDCs. The request's own `prefer` terms add their weights. Raw value: Σ weights, more is better, fixed on −100..100.
No arguments, no metric.
"""

from typing import Any

import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.facts import AffinityFact
from idcsched.framework.labels import Mask
from idcsched.framework.matching import terms_match
from idcsched.framework.messages import _
from idcsched.framework.normalize import Floats, Scale
from idcsched.framework.plugin import Plugin, Reason, Verdict

NOT_REQUIRED = Reason(
    "affinity_required",
    _("not where affinity requires"),
    _("an operator's affinity sends such requests elsewhere"),
    cures=("affinities",),
)
FORBIDDEN = Reason(
    "affinity_forbidden",
    _("forbidden by affinity"),
    _("an operator's affinity keeps such requests off"),
    cures=("affinities",),
)


class Affinity(Plugin):
    """`require` and `forbid` filter, `prefer` scores. The raw sum is also the first of the default tie-breakers."""

    name = "affinity"
    scale = Scale(kind="fixed", low=-100.0, high=100.0)

    def filter(self, ctx: Cycle) -> tuple[Verdict, ...]:
        verdicts, rows = [], ctx.row_numbers
        if required := self._with_idcs(ctx, "require"):
            keep = ctx.take(np.logical_or.reduce([named for _, named in required]))
            verdicts.append(Verdict(keep, NOT_REQUIRED, lambda _: _detail([fact for fact, _ in required])))
        if forbidden := self._with_idcs(ctx, "forbid"):
            keep = ctx.take(~np.logical_or.reduce([named for _, named in forbidden]))
            verdicts.append(
                Verdict(keep, FORBIDDEN, lambda i: _detail([fact for fact, named in forbidden if named[rows[i]]]))
            )
        return tuple(verdicts)

    def score(self, ctx: Cycle) -> Floats:
        total, row_of = np.zeros(ctx.snapshot.size), ctx.snapshot.idcs.row_of
        for fact in self._about(ctx, "prefer"):
            if fact.terms is not None:
                total += self._named(ctx, fact) * float(fact.weight)
            elif (row := row_of.get(fact.idc or "")) is not None:
                total[row] += float(fact.weight)
        for preference in ctx.request.prefer or ():
            total += ctx.snapshot.matching((preference,)) * float(preference.weight)
        return ctx.take(total)

    def _with_idcs(self, ctx: Cycle, kind: str) -> list[tuple[AffinityFact, Mask]]:
        """Return the affinities of one kind that apply to this request, each with the IDCs that it names."""
        return [(fact, self._named(ctx, fact)) for fact in self._about(ctx, kind)]

    @staticmethod
    def _about(ctx: Cycle, kind: str) -> list[AffinityFact]:
        """Return the affinities of one kind that are in force and apply to this request."""
        return [
            fact
            for fact in ctx.snapshot.affinities
            if fact.kind == kind
            and fact.in_force(ctx.now)
            and (fact.request_terms is None or terms_match(fact.request_terms, ctx.labels))
        ]

    @staticmethod
    def _named(ctx: Cycle, fact: AffinityFact) -> Mask:
        """Return the IDCs that an affinity names; an IDC that is not in the snapshot is left out."""
        if fact.terms is not None:
            return ctx.snapshot.matching(fact.terms)
        named = np.zeros(ctx.snapshot.size, dtype=np.bool_)
        if (row := ctx.snapshot.idcs.row_of.get(fact.idc or "")) is not None:
            named[row] = True
        return named


def _detail(facts: list[AffinityFact]) -> dict[str, list[Any]]:
    """Return the ids of the affinities that rejected, and the operators' reasons for them."""
    return {"affinities": [fact.id for fact in facts], "reasons": [fact.reason for fact in facts if fact.reason]}
