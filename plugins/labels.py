"""`labels` (PreFilter): keeps IDCs that the request's `selector` matches; its terms are ORed."""

from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.plugin import Plugin, Reason, Verdict

NO_MATCH = Reason(
    "selector_mismatch",
    _("not matching the selector"),
    _("the request's selector does not match its labels"),
    cures=("labels",),
)


class Labels(Plugin):
    """No arguments, no metric."""

    name = "labels"

    def pre_filter(self, ctx: Cycle) -> Verdict | None:
        terms = ctx.request.terms
        return Verdict(ctx.matching(terms), NO_MATCH) if terms else None
