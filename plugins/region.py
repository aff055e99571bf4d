"""`region` (PreFilter): the request is about the IDCs of its regions, sub-regions included, and no others."""

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Plugin, Universe


class Region(Plugin):
    """Narrows the universe: IDCs elsewhere are not even counted. No arguments, no metric."""

    name = "region"
    narrows = True

    def pre_filter(self, ctx: Cycle) -> Universe | None:
        regions = ctx.request.regions
        return Universe(tuple(ctx.snapshot.spans[region] for region in regions)) if regions else None
