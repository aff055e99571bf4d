"""The registry of driver classes by kind of provider."""

from functools import cache

from idcsched.framework.kinds import Kinds, check_kind, load_kinds

from .driver import Driver

__all__ = ["BUILT_IN", "GROUP", "check_driver_class", "driver_kinds"]

BUILT_IN = "idcsched.provisioning.drivers"
GROUP = "idcsched.providers"


@cache
def driver_kinds() -> Kinds[Driver]:
    """Return the driver kinds of this process, loaded once, at first use."""
    return load_kinds(Driver, package=BUILT_IN, group=GROUP)  # type: ignore[type-abstract]


def check_driver_class(offered: object) -> type[Driver]:
    """Return the class if it keeps the contract of Driver; raises PluginBroken."""
    return check_kind(offered, Driver)  # type: ignore[type-abstract]
