"""`available` (PreFilter): keeps IDCs whose status is `online`."""

from functools import partial

import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.labels import Mask
from idcsched.framework.plugin import Plugin, Reason, Verdict

NOT_ONLINE = Reason("not_online", "offline", "its status is {status}", ("status",))
DRAINING = Reason("draining", "draining", "its status is {status}", ("status",))
RETIRED = Reason("retired", "retired", "its status is {status}", ("status",))
BY_STATUS = {"offline": NOT_ONLINE, "draining": DRAINING, "retired": RETIRED}


class Available(Plugin):
    """An IDC that is offline, draining or retired takes nothing new. No arguments, no metric."""

    name = "available"

    def pre_filter(self, ctx: Cycle) -> tuple[Verdict, ...]:
        idcs, rows = ctx.snapshot.idcs, ctx.row_numbers

        def others(status: str) -> Mask:
            return np.array([each != status for each in idcs.statuses], dtype=np.bool_)

        return tuple(
            Verdict(
                ctx.take(idcs.memory.once(("not", status), partial(others, status))),
                reason,
                lambda i: {"status": idcs.statuses[rows[i]]},
            )
            for status, reason in BY_STATUS.items()
        )
