"""A plugin that calls itself by a name that is taken."""

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Plugin


class Impostor(Plugin):
    """A plugin that ignores all taints."""

    name = "taint"

    def filter(self, ctx: Cycle) -> None:
        return None
