"""Registry of plugin classes by name: the built-in ones of the package `plugins`, and third parties' by entry point.

No other code imports a plugin. A plugin that cannot be loaded is listed as broken, with its error, and does not affect
the others. Collectors and drivers are loaded the same way (`kinds.py`).
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TypeVar

from .errors import PluginBroken
from .messages import _
from .plugin import Plugin, Reason

__all__ = ["BUILT_IN", "GROUP", "Registry", "load_registry", "load_subclasses"]

BUILT_IN = "plugins"
GROUP = "idcsched.plugins"
Offered = TypeVar("Offered")
Load = Callable[[], Iterable[object]]


@dataclass(frozen=True, slots=True)
class Registry:
    """The registered plugins by name, and the sources that could not be loaded, with the error."""

    plugins: Mapping[str, type[Plugin]]
    broken: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> type[Plugin] | None:
        return self.plugins.get(name)

    def reasons(self) -> Iterator[tuple[str, Reason]]:
        """Yield every (plugin, reason) with which the registered plugins may reject."""
        for name, plugin in sorted(self.plugins.items()):
            module = inspect.getmodule(plugin)
            for value in vars(module).values() if module else ():
                if isinstance(value, Reason):
                    yield name, value


def load_registry() -> Registry:
    """Load the built-in plugins and those of installed distributions."""
    plugins, broken = load_subclasses(
        Plugin, package=BUILT_IN, group=GROUP, name_of=lambda plugin: plugin.name, check=check_plugin
    )
    return Registry(plugins, broken)


def check_plugin(plugin: object) -> type[Plugin]:
    """Return the class if it keeps the contract of Plugin, else raise PluginBroken."""
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        raise PluginBroken("wrong_class", _("{object} is not a subclass of {base}"), object=repr(plugin), base="Plugin")
    name = getattr(plugin, "name", None)
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        raise PluginBroken(
            "bad_name", _("{object} needs a lower-case identifier as its name"), object=plugin.__qualname__
        )
    if not plugin.points():
        raise PluginBroken("no_point", _("{name} overrides no method of the life cycle"), name=name)
    return plugin


def load_subclasses(
    base: type[Offered],
    *,
    package: str,
    group: str,
    name_of: Callable[[type[Offered]], str],
    check: Callable[[object], type[Offered]],
) -> tuple[dict[str, type[Offered]], dict[str, str]]:
    """Load the subclasses of `base` by name; return them, and the errors of the others by their source.

    The modules of `package` are loaded first, then the entry points of `group`; the first class to use a name has it.
    `check` returns the class if it keeps the contract of `base`, else it raises PluginBroken.
    """
    classes: dict[str, type[Offered]] = {}
    broken: dict[str, str] = {}
    for source, load in (*_built_in(base, package), *_installed(entry_points(group=group))):
        try:
            for value in load():
                _register(classes, check(value), name_of, base)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's import may do anything at all
            broken[source] = f"{type(error).__name__}: {error}"
    return classes, broken


def _register(
    classes: dict[str, type[Offered]],
    new: type[Offered],
    name_of: Callable[[type[Offered]], str],
    base: type[Offered],
) -> None:
    name = name_of(new)
    if name in classes:
        kind = base.__name__.lower()
        raise PluginBroken("duplicate_name", _("a {what} named {name} is registered already"), what=kind, name=name)
    classes[name] = new


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
