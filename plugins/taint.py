"""`taint` (Filter, Score): rejects IDCs with a hard taint that the request does not tolerate; soft ones cost points.

Raw value: the number of untolerated `PreferNoSchedule` taints in force, fewer is better, fixed on 0..3. A taint
outside its window does not exist. No arguments, no metric.
"""

from datetime import UTC, datetime
from math import isinf

import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.labels import Mask
from idcsched.framework.matching import HARD_EFFECTS, tolerated
from idcsched.framework.messages import _
from idcsched.framework.normalize import Floats, Scale
from idcsched.framework.plugin import Plugin, Reason, Verdict

UNTOLERATED = Reason("untolerated_taint", _("untolerated taint"), _("untolerated taint {taint}"), cures=("taints",))


class Taint(Plugin):
    """An IDC is out as soon as one hard taint (`NoSchedule`, `NoExecute`) in force is untolerated."""

    name = "taint"
    scale = Scale(kind="fixed", better="less", low=0.0, high=3.0)

    def filter(self, ctx: Cycle) -> Verdict | None:
        taints = ctx.snapshot.taints
        hard, _ = self._untolerated(ctx)
        if not hard.any():
            return None
        keep = np.ones(ctx.snapshot.size, dtype=np.bool_)
        keep[taints.idc[hard]] = False
        rows_in_snapshot = ctx.row_numbers

        def detail(position: int) -> dict[str, str]:
            first = np.flatnonzero(hard & (taints.idc == rows_in_snapshot[position]))[0]
            index_of_kind = taints.kind[first]
            key, value, effect = taints.kinds[index_of_kind]
            shown = {"taint": f"{key}={value}:{effect}" if value else f"{key}:{effect}"}
            if taints.reasons and (reason := taints.reasons[first]):
                shown["reason"] = reason
            if not isinf(ends := taints.ends.item(first)):
                shown["ends_at"] = datetime.fromtimestamp(ends, UTC).isoformat().replace("+00:00", "Z")
            return shown

        return Verdict(ctx.take(keep), UNTOLERATED, detail)

    def score(self, ctx: Cycle) -> Floats:
        _, soft = self._untolerated(ctx)
        counts = np.bincount(ctx.snapshot.taints.idc[soft], minlength=ctx.snapshot.size)
        return ctx.take(counts).astype(np.float64)

    def _untolerated(self, ctx: Cycle) -> tuple[Mask, Mask]:
        """Return which untolerated taints in force are hard, and which soft; computed once a decision."""
        if self.name not in ctx.state:
            taints, tolerations = ctx.snapshot.taints, ctx.request.tolerations or ()
            # Both tests are made once for each distinct kind; `taints.kind` then spreads the results over the taints.
            untolerated_kinds = [not tolerated(tolerations, *kind) for kind in taints.kinds]
            hard_kinds = [effect in HARD_EFFECTS for _, _, effect in taints.kinds]
            untolerated = np.array(untolerated_kinds, dtype=np.bool_)[taints.kind] & taints.in_force(ctx.now)
            are_hard = np.array(hard_kinds, dtype=np.bool_)[taints.kind]
            ctx.state[self.name] = untolerated & are_hard, untolerated & ~are_hard
        masks: tuple[Mask, Mask] = ctx.state[self.name]
        return masks
