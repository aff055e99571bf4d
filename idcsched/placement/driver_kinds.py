"""Kinds of providers → driver classes: the built-in ones, and third parties' by entry point.

Nobody imports a driver: whoever needs one asks here by its kind. One that can't be loaded is named with its error and
takes nothing else down.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from idcsched.framework.errors import PluginBroken

from .driver import Config, Driver

__all__ = ["BUILT_IN", "GROUP", "DriverKinds", "check_driver_class", "driver_kinds", "load_driver_kinds"]

BUILT_IN = "idcsched.placement.drivers"
GROUP = "idcsched.providers"


@dataclass(frozen=True, slots=True)
class DriverKinds:
    """Drivers by kind, and what could not be loaded with the reason."""

    drivers: Mapping[str, type[Driver]]
    broken: Mapping[str, str] = field(default_factory=dict)


@cache
def driver_kinds() -> DriverKinds:
    """Those of this process: loaded once, at first use."""
    return load_driver_kinds()


def load_driver_kinds() -> DriverKinds:
    """The built-in drivers and those that installed distributions offer."""
    drivers: dict[str, type[Driver]] = {}
    broken: dict[str, str] = {}
    for name in _modules():
        for driver in _defined(importlib.import_module(name)):
            _register(drivers, driver)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            _register(drivers, point.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's import may do anything at all
            broken[f"{point.name} ({point.dist.name if point.dist else point.value})"] = (
                f"{type(error).__name__}: {error}"
            )
    return DriverKinds(drivers, broken)


def check_driver_class(driver: object) -> type[Driver]:
    """The class, if it keeps the base class's contract; raises PluginBroken."""
    if not (isinstance(driver, type) and issubclass(driver, Driver)):
        raise PluginBroken("not_a_driver", "{object} is not a subclass of Driver", object=repr(driver))
    kind = getattr(driver, "kind", None)
    if not isinstance(kind, str) or not kind.isidentifier() or kind != kind.lower():
        name = driver.__qualname__
        raise PluginBroken("bad_name", "{object} needs a lower-case identifier as its kind", object=name)
    if not issubclass(driver.Config, Config):
        raise PluginBroken("bad_config", "{kind}: Config is not a subclass of Config", kind=kind)
    if missing := sorted(getattr(driver, "__abstractmethods__", ())):
        raise PluginBroken("no_method", "{kind} lacks {methods}", kind=kind, methods=", ".join(missing))
    return driver


def _register(drivers: dict[str, type[Driver]], offered: object) -> None:
    driver = check_driver_class(offered)
    if driver.kind in drivers:
        raise PluginBroken("duplicate_name", "a driver of kind {name} is registered already", name=driver.kind)
    drivers[driver.kind] = driver


def _modules() -> Iterator[str]:
    package = importlib.import_module(BUILT_IN)
    return (module.name for module in pkgutil.iter_modules(package.__path__, f"{BUILT_IN}."))


def _defined(module: ModuleType) -> list[object]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Driver) and value.__module__ == module.__name__
    ]
