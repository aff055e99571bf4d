"""`partition` (PreFilter): keeps IDCs of the partition (the operator's own grouping) that the request names."""

from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.plugin import Plugin, Reason, Verdict

OTHER_PARTITION = Reason("other_partition", _("another partition"), _("its partition is {partition}, not {wanted}"))


class Partition(Plugin):
    """No arguments, no metric."""

    name = "partition"

    def pre_filter(self, ctx: Cycle) -> Verdict | None:
        wanted = ctx.request.partition
        if not wanted:
            return None
        partitions, rows = ctx.snapshot.idcs.partitions, ctx.row_numbers
        return Verdict(
            ctx.labelled("idc/partition", wanted),
            OTHER_PARTITION,
            lambda i: {"partition": partitions[rows[i]] or "–", "wanted": wanted},
        )
