"""`cost` (Score): the IDC's cost index as it is.

Reads the metric `cost_index`; less is better, fixed on the metric's range where it has one, else max_ratio.
Missing data: neutral. No arguments.
"""

from idcsched.framework.context import Cycle
from idcsched.framework.normalize import Scale
from idcsched.framework.plugin import Plugin
from idcsched.framework.snapshot import Reading

COST_INDEX = "cost_index"


class Cost(Plugin):
    """For installations without line prices; where these are known, `billing_cost` scores what a request adds."""

    name = "cost"
    scale = Scale(kind="max_ratio", better="less")
    metrics = (COST_INDEX,)

    def scale_for(self, ctx: Cycle) -> Scale:
        column = ctx.snapshot.metrics.get(COST_INDEX)
        if column is None or column.fact.low is None or column.fact.high is None:
            return self.scale
        return Scale(kind="fixed", better="less", low=column.fact.low, high=column.fact.high)

    def score(self, ctx: Cycle) -> Reading:
        return ctx.metric(COST_INDEX)
