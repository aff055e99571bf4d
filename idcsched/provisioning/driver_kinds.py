"""The registry of driver classes by kind of provider: the built-in ones, and third parties' by entry point.

Drivers are looked up here by kind and never imported elsewhere. A driver that can't be loaded is listed with its error
and affects no other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from idcsched.framework.errors import PluginBroken
from idcsched.framework.messages import _
from idcsched.framework.registry import load_subclasses

from .driver import Config, Driver

__all__ = ["BUILT_IN", "GROUP", "DriverKinds", "check_driver_class", "driver_kinds", "load_driver_kinds"]

BUILT_IN = "idcsched.provisioning.drivers"
GROUP = "idcsched.providers"


@dataclass(frozen=True, slots=True)
class DriverKinds:
    """Drivers by kind, and the sources of drivers that could not be loaded, with the error."""

    drivers: Mapping[str, type[Driver]]
    broken: Mapping[str, str] = field(default_factory=dict)


@cache
def driver_kinds() -> DriverKinds:
    """Return the driver kinds of this process, loaded once, at first use."""
    return load_driver_kinds()


def load_driver_kinds() -> DriverKinds:
    """Load the built-in drivers and those that installed distributions offer."""
    drivers, broken = load_subclasses(
        Driver,  # type: ignore[type-abstract]  # the classes offered are not abstract
        package=BUILT_IN,
        group=GROUP,
        name_of=lambda driver: driver.kind,
        check=check_driver_class,
    )
    return DriverKinds(drivers, broken)


def check_driver_class(driver: object) -> type[Driver]:
    """Return the class if it keeps the contract of Driver; raises PluginBroken."""
    if not (isinstance(driver, type) and issubclass(driver, Driver)):
        raise PluginBroken("not_a_driver", _("{object} is not a subclass of Driver"), object=repr(driver))
    kind = getattr(driver, "kind", None)
    if not isinstance(kind, str) or not kind.isidentifier() or kind != kind.lower():
        name = driver.__qualname__
        raise PluginBroken("bad_name", _("{object} needs a lower-case identifier as its kind"), object=name)
    if not issubclass(driver.Config, Config):
        raise PluginBroken("bad_config", _("{kind}: Config is not a subclass of Config"), kind=kind)
    if missing := sorted(getattr(driver, "__abstractmethods__", ())):
        raise PluginBroken("no_method", _("{kind} lacks {methods}"), kind=kind, methods=", ".join(missing))
    return driver
