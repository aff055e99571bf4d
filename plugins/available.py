"""`available` (PreFilter): keeps IDCs whose status is `online`."""

import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.labels import Mask
from idcsched.framework.messages import _
from idcsched.framework.plugin import Plugin, Reason, Verdict

NOT_ONLINE = Reason("not_online", _("offline"), _("its status is offline"), cures=("status",))
DRAINING = Reason("draining", _("draining"), _("its status is draining"), cures=("status",))
RETIRED = Reason("retired", _("retired"), _("its status is retired"), cures=("status",))
BY_STATUS = {"offline": NOT_ONLINE, "draining": DRAINING, "retired": RETIRED}


class Available(Plugin):
    """An IDC that is offline, draining or retired takes nothing new. No arguments, no metric."""

    name = "available"

    def pre_filter(self, ctx: Cycle) -> tuple[Verdict, ...]:
        idcs, rows = ctx.snapshot.idcs, ctx.row_numbers

        def without_status() -> dict[str, Mask]:
            present = [status for status in BY_STATUS if status in idcs.statuses]
            return {status: np.array([own != status for own in idcs.statuses], dtype=np.bool_) for status in present}

        return tuple(
            [
                Verdict(ctx.take(keep), BY_STATUS[status], lambda i: {"status": idcs.statuses[rows[i]]})
                for status, keep in idcs.memory.once("available", without_status).items()
            ]
        )
