"""`available` (PreFilter): keeps IDCs whose status is `online`."""

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Plugin, Reason, Verdict

NOT_ONLINE = Reason("not_online", "offline", "its status is {status}", ("status",))


class Available(Plugin):
    """An IDC that is offline, draining or retired takes nothing new. No arguments, no metric."""

    name = "available"

    def pre_filter(self, ctx: Cycle) -> Verdict:
        statuses, rows = ctx.snapshot.idcs.statuses, ctx.row_numbers
        return Verdict(ctx.take(ctx.snapshot.idcs.online), NOT_ONLINE, lambda i: {"status": statuses[rows[i]]})
