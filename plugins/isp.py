"""`isp` (PreFilter): keeps IDCs that have an eligible line of the wanted ISPs, `any` of them or `all`."""

from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.plugin import Plugin, Reason, Verdict

NO_ISP_LINE = Reason(
    "no_isp_line", _("no line of the ISP"), _("has no line of {wanted}; it has {has}"), cures=("lines",)
)
NOT_ALL_ISPS = Reason(
    "no_isp_line", _("no line of the ISP"), _("has no line of each of {wanted}; it has {has}"), cures=("lines",)
)
NOTHING = "–"


class Isp(Plugin):
    """No arguments, no metric. `network_flow` checks whether the line can carry the bandwidth."""

    name = "isp"

    def pre_filter(self, ctx: Cycle) -> Verdict | None:
        policy = ctx.line_policy
        if not policy.wanted:
            return None
        reason = NOT_ALL_ISPS if policy.match == "all" and len(policy.wanted) > 1 else NO_ISP_LINE
        lines, rows = ctx.snapshot.lines, ctx.row_numbers

        def detail(i: int) -> dict[str, str]:
            own = lines.isps[lines.first[rows[i]] : lines.first[rows[i] + 1]]
            return {"wanted": ", ".join(policy.wanted), "has": ", ".join(sorted(set(own))) or NOTHING}

        return Verdict(ctx.lines.has_line, reason, detail)
