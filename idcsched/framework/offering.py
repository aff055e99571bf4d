"""Classes that a package defines and that installed distributions offer: one loader for every kind of extension.

Nobody imports an extension: whoever needs one asks for it by name. What can't be loaded is named with its error, and
takes nothing else down.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TypeVar

from .errors import PluginBroken

__all__ = ["offered"]

Offered = TypeVar("Offered")
Load = Callable[[], Iterable[object]]


def offered(
    base: type[Offered],
    *,
    package: str,
    group: str,
    name_of: Callable[[type[Offered]], str],
    check: Callable[[object], type[Offered]],
) -> tuple[dict[str, type[Offered]], dict[str, str]]:
    """The subclasses of `base` by name, and why others are not among them, by where they come from.

    Those that the modules of `package` define come first, then what the entry points of `group` name; a name is had by
    who comes first. `check` gives the class back if it keeps the contract of `base`, else it raises PluginBroken.
    """
    found: dict[str, type[Offered]] = {}
    broken: dict[str, str] = {}
    for source, load in (*_built_in(base, package), *_installed(entry_points(group=group))):
        try:
            for value in load():
                _register(found, check(value), name_of, base)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's import may do anything at all
            broken[source] = f"{type(error).__name__}: {error}"
    return found, broken


def _register(
    found: dict[str, type[Offered]],
    checked: type[Offered],
    name_of: Callable[[type[Offered]], str],
    base: type[Offered],
) -> None:
    name = name_of(checked)
    if name in found:
        what = base.__name__.lower()
        raise PluginBroken("duplicate_name", "a {what} named {name} is registered already", what=what, name=name)
    found[name] = checked


def _built_in(base: type, package: str) -> Iterator[tuple[str, Load]]:
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        yield module.name, lambda name=module.name: _defined(base, importlib.import_module(name))  # type: ignore[misc]


def _installed(points: Iterable[EntryPoint]) -> Iterator[tuple[str, Load]]:
    for point in sorted(points, key=lambda point: point.name):
        source = f"{point.name} ({point.dist.name if point.dist else point.value})"
        yield source, lambda point=point: [point.load()]  # type: ignore[misc]


def _defined(base: type, module: ModuleType) -> list[object]:
    own = (value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__)
    return [value for value in own if issubclass(value, base)]
