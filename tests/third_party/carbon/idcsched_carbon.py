"""`carbon` (Score): grams of CO2 for one kWh that reaches the machines; less is better, fixed on 0..1000."""

from idcsched.framework.context import Cycle
from idcsched.framework.normalize import Scale
from idcsched.framework.plugin import Plugin
from idcsched.framework.snapshot import Reading


class Carbon(Plugin):
    """The grid's CO2 per kWh times the IDC's PUE."""

    name = "carbon"
    metrics = ("grid_co2", "pue")
    scale = Scale(kind="fixed", better="less", low=0.0, high=1000.0)

    def score(self, ctx: Cycle) -> Reading:
        grid, pue = ctx.metric("grid_co2"), ctx.metric("pue")
        return Reading.derived(grid.values * pue.values, grid, pue)
