"""`isp` (PreFilter): keeps IDCs that have an eligible line of the wanted ISPs, `any` of them or `all`."""

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Plugin, Reason, Verdict

NO_ISP_LINE = Reason("no_isp_line", "no line of the ISP", "has no line of {wanted}; it has {has}", ("lines",))


class Isp(Plugin):
    """No arguments, no metric. Whether the line can carry the bandwidth is `network_flow`'s business."""

    name = "isp"

    def pre_filter(self, ctx: Cycle) -> Verdict | None:
        policy = ctx.line_policy()
        if not policy.wanted:
            return None
        wanted = (" and " if policy.match == "all" else " or ").join(policy.wanted)
        lines, rows = ctx.snapshot.lines, ctx.row_numbers

        def detail(i: int) -> dict[str, str]:
            own = lines.isps[lines.first[rows[i]] : lines.first[rows[i] + 1]]
            return {"wanted": wanted, "has": ", ".join(sorted(set(own))) or "none"}

        return Verdict(ctx.lines.has_line, NO_ISP_LINE, detail)
