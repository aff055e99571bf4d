"""The pages of `docs/plugins/`, made from what each built-in plugin declares, for people who write profiles."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import getdoc
from typing import Any, Final

from idcsched.framework.normalize import Scale
from idcsched.framework.plugin import Plugin, Reason
from idcsched.framework.profile import ALWAYS
from idcsched.framework.registry import BUILT_IN, Registry
from idcsched.scheduling.plugin_descriptions import opening_of, schema_of, shortest_entry
from idcsched.scheduling.shipped import SHIPPED, shipped_document

__all__ = ["INDEX", "POINT_NAMES", "plugin_pages"]

INDEX: Final = "README.md"
POINT_NAMES: Final = {
    "gather": "Gather",
    "pre_filter": "PreFilter",
    "filter": "Filter",
    "post_filter": "PostFilter",
    "pre_score": "PreScore",
    "score": "Score",
    "normalize": "Normalize",
    "reserve": "Reserve",
    "permit": "Permit",
}
CURES: Final = {
    "affinities": "an operator changes the affinity",
    "labels": "other labels of the IDC",
    "ledger": "placements there are released",
    "lines": "another line, or one with more bandwidth or another limit",
    "metrics": "newer or other measurements",
    "outside": "the service that was asked says otherwise",
    "profile": "another profile",
    "status": "the IDC comes back online",
    "stock": "more stock",
    "taints": "the taint is removed or ends",
}
FORMAT: Final = re.compile(r"{(\w+)[^}]*}")
KINDS: Final = {"number": "a number", "integer": "a whole number", "string": "text", "boolean": "true or false"}
BOUNDS: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} long",
    "maxLength": "at most {} long",
}
HEAD: Final = """\
# The built-in plugins

A profile lists plugins by these names ([profiles](../profiles.md)). A *filter* takes IDCs out and says why; a *scorer*
gives each of the rest a raw value, which becomes a score of 0 to 100 ([normalising](../normalising.md)). One of your
own takes a few lines of Python ([writing a plugin](../plugins.md)).
"""
FOOT: Final = """\
Those that are marked * hold whatever a request names, whether the profile lists them or not.

These pages are made from the plugins themselves by `make pages`, and a test holds them together.
"""


def plugin_pages(registry: Registry) -> dict[str, str]:
    """Return the text of each page by file name: one for every built-in plugin, and the index."""
    built_in = {name: plugin for name, plugin in sorted(registry.plugins.items()) if _is_built_in(plugin)}
    pages = {f"{name}.md": _page(plugin, registry) for name, plugin in built_in.items()}
    return {INDEX: _index(built_in.values()), **pages}


def _is_built_in(plugin: type[Plugin]) -> bool:
    return plugin.__module__.partition(".")[0] == BUILT_IN


def _index(plugins: Iterable[type[Plugin]]) -> str:
    rows = [[_link(plugin), _points(plugin), " ".join(opening_of(plugin).summary.split())] for plugin in plugins]
    return "\n".join((HEAD, *_table(["plugin", "takes part in", "what it does"], rows), "", FOOT))


def _page(plugin: type[Plugin], registry: Registry) -> str:
    opening = opening_of(plugin)
    sections = (
        [f"# `{plugin.name}`"],
        [opening.summary],
        [opening.rest] if opening.rest else [],
        [getdoc(plugin) or ""],
        _table(["in short", ""], _facts(plugin)),
        ["## Arguments"],
        _arguments(plugin),
        ["## Reasons why it rejects"],
        _reasons(plugin, registry),
        ["## In a profile"],
        ["```json", json.dumps(shortest_entry(plugin)), "```"],
        _use(plugin),
        [f"All plugins: [index]({INDEX}). What the fields of an entry mean: [profiles](../profiles.md)."],
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _link(plugin: type[Plugin]) -> str:
    return f"[`{plugin.name}`]({plugin.name}.md){'*' if plugin.name in ALWAYS else ''}"


def _points(plugin: type[Plugin]) -> str:
    return ", ".join(POINT_NAMES[point] for point in plugin.points())


def _facts(plugin: type[Plugin]) -> Iterator[list[str]]:
    """Yield what the class declares, each as a row of two cells."""
    yield ["takes part in", _points(plugin)]
    yield ["version", plugin.version]
    if plugin.metrics:
        yield ["reads the metrics", ", ".join(f"`{metric}`" for metric in plugin.metrics)]
    if plugin.scores():
        yield ["raw values become scores by", _scale(plugin)]
    if plugin.metrics or "metric" in plugin.Args.__struct_fields__:
        yield ["missing data, unless the profile says otherwise", _missing(plugin)]
    if plugin.name in ALWAYS:
        yield ["without being listed", "holds whatever the request names"]


def _scale(plugin: type[Plugin]) -> str:
    if plugin.joins("normalize"):
        return "a way of its own"
    if plugin.scale_for is not Plugin.scale_for:
        return "a range that depends on arguments or settings, see above"
    return _scale_phrase(plugin.scale)


def _scale_phrase(scale: Scale) -> str:
    on = f" on {scale.low:g}..{scale.high:g}" if scale.kind == "fixed" else ""
    return f"`{scale.kind}`{on}, {scale.better} is better"


def _missing(plugin: type[Plugin]) -> str:
    filters = {"pre_filter", "filter"} & set(plugin.points())
    parts = [f"filter `{plugin.missing.filter}`"] if filters else []
    return ", ".join([*parts, f"score `{plugin.missing.score}`"] if plugin.scores() else parts)


def _arguments(plugin: type[Plugin]) -> list[str]:
    """Return a table of what the JSON schema of `Args` allows."""
    schema = schema_of(plugin.Args)
    properties: Mapping[str, Any] = schema["properties"]
    if not properties:
        return ["It takes none."]
    rows = [
        [f"`{name}`", _allowed(part), "– (must be given)" if name in schema.get("required", ()) else _default(part)]
        for name, part in properties.items()
    ]
    intro = schema.get("description", "")
    return [intro, "", *_table(["argument", "what is allowed", "default"], rows), "", "Any other argument is refused."]


def _allowed(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return ", ".join(_code(value) for value in part["enum"] if value is not None)
    if "anyOf" in part:
        return " or ".join(_allowed(option) for option in part["anyOf"] if option.get("type") != "null")
    if part.get("type") == "array":
        return f"a list: {_allowed(part.get('items', {}))}"
    bounds = [phrase.format(f"{part[name]:g}") for name, phrase in BOUNDS.items() if name in part]
    return ", ".join([KINDS.get(part.get("type", ""), "an object"), *bounds])


def _default(part: Mapping[str, Any]) -> str:
    value = part.get("default")
    return "none" if value is None else _code(value)


def _code(value: Any) -> str:
    return f"`{json.dumps(value)}`"


def _reasons(plugin: type[Plugin], registry: Registry) -> list[str]:
    reasons = [reason for name, reason in registry.reasons() if name == plugin.name]
    if not reasons:
        return ["None: it takes no IDC out."] if not plugin.narrows else ["None: IDCs elsewhere are not even counted."]
    rows = [[f"`{reason.code}`", reason.label, _sentence(reason), _cures(reason)] for reason in reasons]
    return _table(["code", "counted as", "said of one IDC", "what may change it"], rows)


def _sentence(reason: Reason) -> str:
    """Return the sentence with the names of its fields in place of their values."""
    return FORMAT.sub(r"‹\1›", reason.sentence)


def _cures(reason: Reason) -> str:
    return "; ".join(CURES.get(kind, kind) for kind in reason.cures) or "another request"


def _use(plugin: type[Plugin]) -> list[str]:
    """Return a table of the shipped profiles that list the plugin, with its weights."""
    rows = [
        [f"[`{code}`](../profiles.md#{code})", _weight(plugin, part.get("weight", 0))]
        for code in SHIPPED
        for part in shipped_document(code)["plugins"]
        if part["plugin"] == plugin.name
    ]
    return _table(["shipped profile", "weight there"], rows) if rows else ["No shipped profile lists it."]


def _weight(plugin: type[Plugin], weight: float) -> str:
    if not plugin.scores():
        return "takes none: it only filters"
    return f"{weight:g}" if weight else "0: out of the sum"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(head), "|" + "---|" * len(head), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
