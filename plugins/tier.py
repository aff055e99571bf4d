"""`tier` (PreFilter): keeps IDCs of the tier that the request names, `edge` or `center`."""

from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.plugin import Plugin, Reason, Verdict

OTHER_TIER = Reason("other_tier", _("another tier"), _("its tier is {tier}, not {wanted}"))


class Tier(Plugin):
    """No arguments, no metric."""

    name = "tier"

    def pre_filter(self, ctx: Cycle) -> Verdict | None:
        wanted = ctx.request.tier
        if wanted is None:
            return None
        tiers, rows = ctx.snapshot.idcs.tiers, ctx.row_numbers
        return Verdict(
            ctx.labelled("idc/tier", wanted), OTHER_TIER, lambda i: {"tier": tiers[rows[i]], "wanted": wanted}
        )
