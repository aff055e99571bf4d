"""What a plugin says of itself: in its docstrings, and by its arguments."""

import re
from dataclasses import dataclass
from inspect import cleandoc, getdoc, getmodule
from typing import Any, Final

import msgspec

from idcsched.framework.plugin import Plugin

__all__ = ["Opening", "explanation_of", "opening_of", "schema_of", "shortest_entry", "summary_of"]

OPENING: Final = re.compile(r"^`\w+` \([^)]*\): (?P<summary>.*?)(?:\n\n(?P<rest>.*))?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Opening:
    """The summary and the rest of a plugin's module docstring."""

    summary: str
    rest: str


def opening_of(plugin: type[Plugin]) -> Opening:
    """Return how the plugin's module begins; raises ValueError where it is not in the form of the built-in plugins."""
    match = OPENING.match(cleandoc(getattr(getmodule(plugin), "__doc__", None) or ""))
    if match is None:
        raise ValueError(f"the module of {plugin.name} does not begin with: `{plugin.name}` (its points): what it does")
    summary = match["summary"]
    return Opening(summary[0].upper() + summary[1:], match["rest"] or "")


def summary_of(plugin: type[Plugin]) -> str:
    """Return in a sentence what a plugin does; empty where its module does not say it in the built-in plugins' form."""
    try:
        return " ".join(opening_of(plugin).summary.replace("`", "").split())
    except ValueError:
        return ""


def explanation_of(plugin: type[Plugin]) -> str:
    """Return what a plugin does in full, and what its arguments mean; empty where its module does not say it so."""
    try:
        parts = [opening_of(plugin).rest, getdoc(plugin) or ""]
    except ValueError:
        return ""
    return "\n\n".join(part for part in parts if part).replace("`", "")


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON schema of the struct itself, such as a plugin's arguments, not wrapped in a reference."""
    (reference,), components = msgspec.json.schema_components([kind], ref_template="{name}")
    schema: dict[str, Any] = components[reference["$ref"]]
    return schema


def shortest_entry(plugin: type[Plugin]) -> dict[str, Any]:
    """Return the shortest entry for the plugin that a profile may hold."""
    entry: dict[str, Any] = {"name": plugin.name, "plugin": plugin.name}
    if plugin.scores():
        entry["weight"] = 10
    if required := schema_of(plugin.Args).get("required"):
        properties = schema_of(plugin.Args)["properties"]
        entry["args"] = {name: properties[name].get("examples", [f"<{name}>"])[0] for name in required}
    return entry
