"""`available` (PreFilter): keeps IDCs whose status is `online`."""

import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Plugin, Reason, Verdict

NOT_ONLINE = Reason("not_online", "offline", "its status is {status}", ("status",))
DRAINING = Reason("draining", "draining", "its status is {status}", ("status",))
RETIRED = Reason("retired", "retired", "its status is {status}", ("status",))
BY_STATUS = {"offline": NOT_ONLINE, "draining": DRAINING, "retired": RETIRED}


class Available(Plugin):
    """An IDC that is offline, draining or retired takes nothing new. No arguments, no metric."""

    name = "available"

    def pre_filter(self, ctx: Cycle) -> tuple[Verdict, ...]:
        statuses, rows = ctx.snapshot.idcs.statuses, ctx.row_numbers
        kept = {status: np.ones(rows.size, dtype=np.bool_) for status in BY_STATUS}
        for i in np.flatnonzero(~ctx.take(ctx.snapshot.idcs.online)).tolist():
            kept[statuses[rows[i]]][i] = False
        return tuple(Verdict(keep, BY_STATUS[s], lambda i: {"status": statuses[rows[i]]}) for s, keep in kept.items())
