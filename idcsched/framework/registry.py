"""Names → plugin classes: the built-in ones of the package `plugins`, and third parties' by entry point.

Nobody imports a plugin: whoever needs one asks here by name. A plugin that cannot be loaded is kept as a
broken entry, named with its error, and takes nothing else down.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from .errors import PluginBroken
from .plugin import Plugin, Reason

__all__ = ["BUILT_IN", "GROUP", "Registry", "load_registry"]

BUILT_IN = "plugins"
GROUP = "idcsched.plugins"


@dataclass(frozen=True, slots=True)
class Registry:
    """What is registered: plugins by name, and what could not be loaded with the reason."""

    plugins: Mapping[str, type[Plugin]]
    broken: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> type[Plugin] | None:
        return self.plugins.get(name)

    def reasons(self) -> Iterator[tuple[str, Reason]]:
        """Every (plugin, reason) that the registered plugins may reject with."""
        for name, plugin in sorted(self.plugins.items()):
            module = inspect.getmodule(plugin)
            for value in vars(module).values() if module else ():
                if isinstance(value, Reason):
                    yield name, value


def load_registry() -> Registry:
    """The built-in plugins and those that installed distributions offer."""
    plugins: dict[str, type[Plugin]] = {}
    broken: dict[str, str] = {}
    for source, load in (*_built_in(), *_offered(entry_points(group=GROUP))):
        try:
            for plugin in load():
                _register(plugins, plugin)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's import may do anything at all
            broken[source] = f"{type(error).__name__}: {error}"
    return Registry(plugins, broken)


def check_plugin(plugin: object) -> type[Plugin]:
    """The class, if it keeps the base class's contract; raises PluginBroken."""
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        raise PluginBroken("not_a_plugin", "{object} is not a subclass of Plugin", object=repr(plugin))
    name = getattr(plugin, "name", None)
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        raise PluginBroken("bad_name", "{object} needs a lower-case identifier as its name", object=plugin.__qualname__)
    if not plugin.points():
        raise PluginBroken("no_point", "{name} overrides no method of the life cycle", name=name)
    return plugin


def _register(plugins: dict[str, type[Plugin]], plugin: object) -> None:
    checked = check_plugin(plugin)
    if checked.name in plugins:
        raise PluginBroken("duplicate_name", "a plugin named {name} is registered already", name=checked.name)
    plugins[checked.name] = checked


def _built_in() -> Iterator[tuple[str, "_Loader"]]:
    package = importlib.import_module(BUILT_IN)
    for module in pkgutil.iter_modules(package.__path__, f"{BUILT_IN}."):
        yield module.name, _Loader(module.name)


def _offered(points: Iterable[EntryPoint]) -> Iterator[tuple[str, "_Loader | _EntryLoader"]]:
    for point in sorted(points, key=lambda point: point.name):
        yield f"{point.name} ({point.dist.name if point.dist else point.value})", _EntryLoader(point)


@dataclass(frozen=True, slots=True)
class _Loader:
    """Loads the plugins that a module defines."""

    module: str

    def __call__(self) -> list[type[Plugin]]:
        module = importlib.import_module(self.module)
        return [value for value in vars(module).values() if _defined_in(value, module)]


@dataclass(frozen=True, slots=True)
class _EntryLoader:
    """Loads the class that an entry point names."""

    point: EntryPoint

    def __call__(self) -> list[object]:
        return [self.point.load()]


def _defined_in(value: object, module: ModuleType) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, Plugin)
        and value is not Plugin
        and value.__module__ == module.__name__
    )
