"""Names → plugin classes: the built-in ones of the package `plugins`, and third parties' by entry point.

Nobody imports a plugin: whoever needs one asks here by name. A plugin that cannot be loaded is kept as a
broken entry, named with its error, and takes nothing else down.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .errors import PluginBroken
from .offering import offered
from .plugin import Plugin, Reason

__all__ = ["BUILT_IN", "GROUP", "Registry", "load_registry", "plugin_is_built_in"]

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
    plugins, broken = offered(
        Plugin, package=BUILT_IN, group=GROUP, name_of=lambda plugin: plugin.name, check=check_plugin
    )
    return Registry(plugins, broken)


def plugin_is_built_in(plugin: type[Plugin]) -> bool:
    """Whether it comes with this scheduler."""
    return plugin.__module__.partition(".")[0] == BUILT_IN


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
