"""A profile's document as a form: a field for each argument of each plugin, made from the JSON schemas.

A field is named after its JSON pointer in the document, which is also where errors point to.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Final

from idcsched.framework.decoding import pointer_token
from idcsched.framework.errors import FieldError
from idcsched.framework.messages import _
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import PluginEntry, ProfileBody
from idcsched.language.figures import figure_text
from idcsched.language.wording import explained, say
from idcsched.scheduling.plugin_descriptions import explanation_of, schema_of, shortest_entry, summary_of
from idcsched.scheduling.plugins import registry

from .scorers import SUMMARIES, plugin_words

__all__ = ["EntryShown", "Field", "FormShown", "added", "form_of", "posted_body", "weights_of"]

ALL_ENTRIES: Final = ("on_missing", "on_error")
SCORERS_ALONE: Final = ("normalizer", "dynamic_weight")
SLIDER: Final = 100
"""The least end of the weights' sliders."""
MOST_WEIGHT: Final = 10_000
NUMBERS: Final = frozenset({"number", "integer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value of the document; `text` is what the form shows, empty for a value that is not given.

    `kind`: number, integer, choice, flag, text or json.
    """

    pointer: str
    label: str
    kind: str
    text: str
    default: str = ""
    choices: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""
    slider: str = ""
    errors: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"id{self.pointer.replace('/', '-')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryShown:
    """One plugin of the profile: what it judges and does, its weight, its arguments, and what is seldom set."""

    index: int
    name: str
    plugin: str
    words: str
    summary: str
    explanation: str
    weight: Field | None
    arguments: tuple[Field, ...]
    seldom: tuple[Field, ...]
    errors: list[str] = field(default_factory=list)

    @property
    def open(self) -> bool:
        """Whether what is seldom set is to be seen: it is set, or wrong."""
        return any(one.text or one.errors for one in self.seldom)

    @property
    def fields(self) -> Iterator[Field]:
        yield from (self.weight, *self.arguments, *self.seldom) if self.weight else (*self.arguments, *self.seldom)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormShown:
    """The whole form. `errors`: those that no field and no plugin has."""

    entries: tuple[EntryShown, ...]
    general: tuple[Field, ...]
    errors: list[str]
    plugins: tuple[str, ...]
    count: int


def form_of(
    body: Mapping[str, Any], errors: Iterable[FieldError] = (), texts: Mapping[str, str] | None = None
) -> FormShown:
    """Return the form for a document, each error at its place; `texts` are what was typed and could not be read."""
    parts = body.get("plugins")
    parts = parts if isinstance(parts, list) else []
    end = _slider_end(parts)
    entries = tuple(_entry(index, part, texts or {}, end) for index, part in enumerate(parts) if isinstance(part, dict))
    properties = {name: part for name, part in schema_of(ProfileBody)["properties"].items() if name != "plugins"}
    general = tuple(_fields("", properties, body, texts or {}))
    errors = list(errors)
    shown = FormShown(
        entries=entries, general=general, errors=[], plugins=tuple(sorted(registry().plugins)), count=len(errors)
    )
    places = {one.pointer: one.errors for one in (*general, *(one for entry in entries for one in entry.fields))}
    places |= {f"/plugins/{entry.index}": entry.errors for entry in entries}
    for error in errors:
        above = [pointer for pointer in places if f"{error.pointer}/".startswith(f"{pointer}/")]
        place = places[max(above, key=len)] if above else shown.errors
        own_field = bool(above) and max(above, key=len) == error.pointer
        place.append(explained(error) if own_field or not error.pointer else f"{error.pointer}: {explained(error)}")
    return shown


def posted_body(
    base: Mapping[str, Any], posted: Mapping[str, str]
) -> tuple[dict[str, Any], list[FieldError], dict[str, str]]:
    """Return the document with the values that were typed, what could not be read, and the texts of that."""
    body: dict[str, Any] = deepcopy(dict(base))
    errors, texts = list[FieldError](), dict[str, str]()
    shown = form_of(body)
    for one in (*shown.general, *(one for entry in shown.entries for one in entry.fields)):
        text = posted.get(one.pointer, "").strip()
        if one.pointer not in posted or text == one.text:
            continue  # what was not typed stays as the document has it
        try:
            _put(body, one.pointer, None if not text else _value(one, text))
        except ValueError:
            problem = _("this must be a number") if one.kind in NUMBERS else _("this is no JSON")
            errors.append(FieldError(one.pointer, "wrong_type", problem))
            texts[one.pointer] = text
    removed = {name.removeprefix("remove-") for name in posted if name.startswith("remove-")}
    if removed:
        body["plugins"] = [part for index, part in enumerate(body["plugins"]) if str(index) not in removed]
    return body, errors, texts


def added(body: Mapping[str, Any], plugin: str) -> dict[str, Any]:
    """Return the document with the plugin as its last entry, under a name that is free."""
    kind = registry().get(plugin)
    if kind is None:
        return dict(body)
    parts = body.get("plugins")
    parts = parts if isinstance(parts, list) else []
    names = {part.get("name") for part in parts if isinstance(part, dict)}
    name = next(each for each in (plugin, *(f"{plugin}-{number}" for number in range(2, 300))) if each not in names)
    return {**body, "plugins": [*parts, {**shortest_entry(kind), "name": name}]}


def _entry(index: int, part: Mapping[str, Any], texts: Mapping[str, str], end: float) -> EntryShown:
    pointer = f"/plugins/{index}"
    kind = registry().get(str(part.get("plugin")))
    scores = kind is None or kind.scores()
    properties = schema_of(PluginEntry)["properties"]
    seldom = ALL_ENTRIES + (SCORERS_ALONE if scores else ())
    weight = next(iter(_fields(pointer, {"weight": properties["weight"]}, part, texts)))
    return EntryShown(
        index=index,
        name=str(part.get("name", "")),
        plugin=str(part.get("plugin", "")),
        words=plugin_words(str(part.get("plugin", "")), _arguments_in(part)),
        summary=_summary(kind) if kind else "",
        explanation=explanation_of(kind) if kind else "",
        weight=replace(weight, default="0", slider=figure_text(end)) if scores else None,
        arguments=tuple(_arguments(pointer, kind, part, texts)),
        seldom=tuple(_fields(pointer, {name: properties[name] for name in seldom}, part, texts)),
    )


def _summary(kind: type[Plugin]) -> str:
    """Return what a plugin does, that of a built-in one in the reader's language."""
    return say(SUMMARIES[kind.name], {}) if kind.name in SUMMARIES else summary_of(kind)


def _arguments(
    pointer: str, kind: type[Plugin] | None, part: Mapping[str, Any], texts: Mapping[str, str]
) -> Iterator[Field]:
    args = _arguments_in(part)
    properties = schema_of(kind.Args)["properties"] if kind else {}
    unknown: dict[str, Any] = {name: {} for name in args if name not in properties}
    return _fields(f"{pointer}/args", {**properties, **unknown}, args, texts)


def _arguments_in(part: Mapping[str, Any]) -> Mapping[str, Any]:
    args = part.get("args")
    return args if isinstance(args, dict) else {}


def _fields(
    pointer: str, properties: Mapping[str, Any], values: Mapping[str, Any], texts: Mapping[str, str]
) -> Iterator[Field]:
    for name, schema in properties.items():
        part = _without_null(schema)
        place = f"{pointer}/{pointer_token(name)}"
        kind = _kind(part)
        if name in values and not _fits(values[name], kind, part):
            kind, part = "json", {}  # as it stands, with its error beside it
        yield Field(
            pointer=place,
            label=name,
            kind=kind,
            text=texts.get(place, _text(values.get(name), kind)),
            default=_text(schema.get("default"), kind),
            choices=tuple(str(value) for value in part.get("enum", ())),
            minimum=_bound(part, "minimum", "exclusiveMinimum"),
            maximum=_bound(part, "maximum", "exclusiveMaximum"),
        )


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    options = [option for option in schema.get("anyOf", (schema,)) if option.get("type") != "null"]
    return options[0] if len(options) == 1 else {}


def _kind(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return "choice"
    kinds = {"number": "number", "integer": "integer", "boolean": "flag", "string": "text"}
    return kinds.get(part.get("type", ""), "json")


def _fits(value: Any, kind: str, part: Mapping[str, Any]) -> bool:
    """Whether a field of the kind can show the value."""
    match kind:
        case "choice":
            return value is None or value in part["enum"]
        case "number" | "integer":
            return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        case "flag":
            return value is None or isinstance(value, bool)
        case "text":
            return value is None or isinstance(value, str)
    return True


def _text(value: Any, kind: str) -> str:
    if value is None:
        return ""
    if kind in ("choice", "text"):
        return str(value)
    if kind in NUMBERS:
        return figure_text(value)
    return json.dumps(value, ensure_ascii=False)


def _value(one: Field, text: str) -> Any:
    """Return what was typed as a JSON value; raises ValueError."""
    match one.kind:
        case "number" | "integer":
            number = float(text)
            return int(number) if number.is_integer() else number
        case "flag":
            return text == "true"
        case "choice" | "text":
            return text
    try:
        return json.loads(text)
    except ValueError:
        if text.replace("_", "").isalnum():
            return text  # a single word, such as `pass`, needs no quotes
        raise


def _put(body: dict[str, Any], pointer: str, value: Any) -> None:
    """Set the value at a field's pointer; None takes it out of the document."""
    inner: Any = body
    *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps:
        inner = inner[int(step)] if isinstance(inner, list) else _object(inner, step)
    if value is not None:
        inner[last] = value
        return
    inner.pop(last, None)
    if steps[-1:] == ["args"] and not inner:
        body["plugins"][int(steps[1])].pop("args")


def _object(outer: dict[str, Any], name: str) -> Any:
    if not isinstance(outer.get(name), dict | list):
        outer[name] = {}
    return outer[name]


def _bound(part: Mapping[str, Any], *names: str) -> str:
    return next((figure_text(part[name]) for name in names if name in part), "")


def _slider_end(parts: Iterable[Any]) -> float:
    """Return where the sliders of all weights end, so that equal places are equal weights."""
    weights = [part.get("weight") for part in parts if isinstance(part, dict)]
    numbers = [weight for weight in weights if isinstance(weight, int | float)]
    return min(max(SLIDER, 2 * max(numbers, default=0)), MOST_WEIGHT)


def weights_of(body: Mapping[str, Any]) -> Sequence[tuple[str, float]]:
    """Return what the scorers of a document judge, or their names, with their weights, the heaviest first."""
    parts = sorted((part for part in body.get("plugins", ()) if part.get("weight")), key=lambda part: -part["weight"])
    return [(_judged(part), part["weight"]) for part in parts]


def _judged(part: Mapping[str, Any]) -> str:
    """Return what a scorer judges, in words, or its name where that is not the plugin's."""
    own_name = part["name"] if part["name"] != part["plugin"] else ""
    return own_name or plugin_words(part["plugin"], _arguments_in(part)) or str(part["name"])
