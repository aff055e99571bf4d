"""`spread` (Score, optional Filter): keeps a tenant's or a business's machines apart, or together.

Reads the ledger. Arguments: `of`: `tenant` (default) or `business` (the request's label `business`); `strategy`:
`disperse` (default: fewer of these machines in an IDC are better) or `concentrate` (more are); `at_most`: IDCs that
would hold more than so many of them with this request are rejected. Raw value: the machines that an IDC holds already,
fixed on 0..10. A request without that tenant or label is not judged.
"""

from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from idcsched.framework.capacity import shortfall
from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.normalize import Floats, Scale
from idcsched.framework.plugin import Plugin, Reason, Verdict

TOO_MANY = Reason(
    "too_many_machines",
    _("too many machines of one owner"),
    _("would hold {total:g} of {owner}'s machines, at most {limit} may stand in one IDC"),
    cures=("ledger",),
)


class SpreadArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose machines are counted, whether fewer or more in one IDC are better, and how many it may hold."""

    of: Literal["tenant", "business"] = "tenant"
    strategy: Literal["disperse", "concentrate"] = "disperse"
    at_most: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Spread(Plugin):
    """Counts the machines that the ledger has, not those that are merely recommended."""

    name = "spread"
    Args = SpreadArgs
    scale = Scale(kind="fixed", better="less", low=0.0, high=10.0)

    def scale_for(self, ctx: Cycle) -> Scale:
        better: Literal["more", "less"] = "more" if self.args.strategy == "concentrate" else "less"
        return Scale(kind="fixed", better=better, low=0.0, high=10.0)

    def filter(self, ctx: Cycle) -> Verdict | None:
        limit, owner = self.args.at_most, self._owner(ctx)
        if limit is None or owner is None:
            return None
        ordered = sum(1 if machine.count is None else machine.count for machine in ctx.request.machines or ())
        total = self._machines(ctx, owner) + ordered

        def figures(i: int) -> dict[str, Any]:
            standing = float(total[i]) - ordered
            return {"owner": owner, "total": float(total[i]), "limit": limit, **shortfall(ordered, limit - standing)}

        return Verdict(total <= limit, TOO_MANY, detail=figures, figures=figures)

    def score(self, ctx: Cycle) -> Floats | None:
        owner = self._owner(ctx)
        return None if owner is None else self._machines(ctx, owner)

    def _owner(self, ctx: Cycle) -> str | None:
        return ctx.labels.get(self.args.of)

    def _machines(self, ctx: Cycle, owner: str) -> Floats:
        def count() -> Floats:
            counts = np.zeros(ctx.snapshot.size)
            for fact in ctx.snapshot.headcounts.facts:
                if getattr(fact, self.args.of) == owner:
                    counts[ctx.snapshot.idcs.row_of[fact.idc]] += fact.machines
            return counts

        return ctx.take(ctx.snapshot.headcounts.memory.once(("machines", self.args.of, owner), count))
