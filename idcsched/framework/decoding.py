"""Decode a client's JSON into typed values by msgspec, and turn msgspec's errors into Invalid."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from .errors import FieldError, Invalid
from .messages import Message, _

__all__ = ["convert", "decode_json", "decoder_of", "pointer_token"]

T = TypeVar("T")

_PATH = re.compile(r" - at (?P<key>`key` in )?`\$(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_MOST_TRIED = 1000
"""In a larger dict no wrong key is looked for."""
_UNNAMED = "..."
"""The step of a path to an item of a dict, whose key msgspec does not name."""

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_learning = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of msgspec's error messages; the groups of `pattern` fill the fields of `detail`."""

    pattern: str
    code: str
    detail: Message

    def match(self, message: str) -> re.Match[str] | None:
        return re.fullmatch(self.pattern, message, re.DOTALL)


_KINDS = (
    _Kind(
        r"Object contains unknown field `(?P<field>.*)`",
        "unknown_field",
        _("there is no field {field}; there are {choices}"),
    ),
    _Kind(r"Object missing required field `(?P<field>.*)`", "required", _("this is required")),
    _Kind(
        r"Expected `\w+` of length >= (?P<bound>.+)", "out_of_range", _("the length of this must be at least {bound}")
    ),
    _Kind(
        r"Expected `\w+` of length <= (?P<bound>.+)", "out_of_range", _("the length of this must be at most {bound}")
    ),
    _Kind(r"Expected `\w+` of length (?P<bound>\d+)", "out_of_range", _("the length of this must be {bound}")),
    _Kind(r"Expected `[^`]*` >= (?P<bound>.+)", "out_of_range", _("this must be at least {bound}")),
    _Kind(r"Expected `[^`]*` <= (?P<bound>.+)", "out_of_range", _("this must be at most {bound}")),
    _Kind(r"Expected `[^`]*` > (?P<bound>.+)", "out_of_range", _("this must be more than {bound}")),
    _Kind(r"Expected `[^`]*` < (?P<bound>.+)", "out_of_range", _("this must be less than {bound}")),
    _Kind(r"Expected `[^`]*` matching regex (?P<pattern>.+)", "out_of_range", _("this must match {pattern}")),
    _Kind(r"Expected `datetime` with a timezone component", "zone_required", _("a time needs its time zone")),
    _Kind(r"(?P<reason>Expected `(?:int|float|str|array|object)` of.+)", "out_of_range", _("{reason}")),
    _Kind(r"Invalid enum value .*", "invalid_choice", _("this must be one of {choices}")),
    _Kind(
        r"Expected `(?P<expected>.*)`, got `(?P<got>.*)`", "wrong_type", _("this must be of type {expected}, not {got}")
    ),
    _Kind(r"(?P<reason>Expected `.*)", "wrong_type", _("{reason}")),
    _Kind(r"(?P<reason>.*)", "invalid", _("{reason}")),
)
_JSON_NAMES = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}


def decode_json(text: bytes | str, kind: type[T]) -> T:
    """Decode a document as a `kind`; raises Invalid with a pointer to the field that is wrong."""
    try:
        return decoder_of(kind).decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _refusal(error, kind, lambda: _parsed(text)) from None


def convert(document: Any, kind: type[T], pointer: str = "") -> T:
    """Convert parsed JSON to a `kind`; raises Invalid with pointers below `pointer`."""
    decoder_of(kind)
    try:
        return msgspec.convert(document, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _refusal(error, kind, lambda: document, pointer) from None


def decoder_of(kind: type[T]) -> "msgspec.json.Decoder[T]":
    """Return the type's decoder; after the first call `msgspec.convert` is safe with the type, too.

    msgspec inspects a type at its first use, and crashes the process if two threads make it do so at once, as two first
    requests may. The lock lets one thread at a time do it.
    """
    decoder = _decoders.get(kind)
    if decoder is None:
        with _learning:
            decoder = _decoders.setdefault(kind, msgspec.json.Decoder(kind))
    return decoder


def _refusal(error: Exception, kind: type, parsed: Callable[[], Any], pointer: str = "") -> Invalid:
    """Return the error that msgspec raised while it decoded a `kind` as an Invalid; `parsed` returns the document."""
    if isinstance(error, RecursionError):
        return Invalid("too_deep", _("the document is nested too deeply"), pointer)
    if not isinstance(error, msgspec.ValidationError):
        return Invalid("malformed_json", _("the body is not valid JSON: {reason}"), pointer, reason=str(error))
    message = str(error)
    place = _PATH.search(message)
    path = place["path"] if place else ""
    steps = [name or (index if index == _UNNAMED else int(index)) for name, index in _STEP.findall(path)]
    if place and place["key"]:
        steps.append(_UNNAMED)
    if _UNNAMED in steps:
        steps = _with_keys(steps, parsed(), lambda document: _fails(document, kind, message))
    where = pointer + "".join(f"/{pointer_token(str(step))}" for step in steps)
    if isinstance(error.__cause__, Invalid):
        return Invalid.of(
            FieldError(where + inner.pointer, inner.code, inner.detail, inner.params)
            for inner in error.__cause__.errors
        )
    return _described(message[: place.start()] if place else message, where, kind, path)


def _described(message: str, where: str, kind: type, path: str) -> Invalid:
    wrong, match = next((wrong, match) for wrong in _KINDS if (match := wrong.match(message)))
    params = match.groupdict()
    pointer = f"{where}/{pointer_token(params['field'])}" if "field" in params else where
    if wrong.code in ("invalid_choice", "unknown_field"):
        params["choices"] = ", ".join(str(value) for value in _choices(kind, path))
    elif "expected" in params:
        params = {name: _in_json_terms(types) for name, types in params.items()}
    return Invalid(wrong.code, wrong.detail, pointer, **params)


def _in_json_terms(types: str) -> str:
    """`int | null` as `integer or null`."""
    return " or ".join(_JSON_NAMES.get(name, name) for name in types.split(" | "))


def _choices(kind: type, path: str) -> list[Any]:
    """Return the values, or of an object the fields, that are allowed at a path of msgspec's: `.machines[0].kind`."""
    level = [inspect.type_info(kind)]
    for name, _index in _STEP.findall(path):
        level = [inner for info in level for inner in _below(info, name)]
    return [value for info in level for alternative in _alternatives(info) for value in _values(alternative)]


def _below(info: inspect.Type, name: str) -> Iterator[inspect.Type]:
    """Yield the types of the field `name` of an object, or of the values of a list or a dict."""
    for alternative in _alternatives(info):
        if isinstance(alternative, inspect.StructType):
            yield from (field.type for field in alternative.fields if field.encode_name == name)
        elif isinstance(alternative, inspect.DictType):
            yield alternative.value_type
        elif isinstance(alternative, inspect.ListType | inspect.VarTupleType):
            yield alternative.item_type


def _alternatives(info: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(info, inspect.Metadata):
        return _alternatives(info.type)
    return info.types if isinstance(info, inspect.UnionType) else (info,)


def _values(info: inspect.Type) -> Iterable[Any]:
    if isinstance(info, inspect.EnumType):
        return [member.value for member in info.cls]
    if isinstance(info, inspect.StructType):
        return [field.encode_name for field in info.fields]
    return info.values if isinstance(info, inspect.LiteralType) else ()


def _parsed(text: bytes | str) -> Any:
    """Return the document, None for a text that is no JSON as a whole."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _with_keys(steps: Sequence[Any], document: Any, fails: Callable[[Any], bool]) -> list[Any]:
    """Name the keys of dicts in a path; the path ends before a key that can't be found."""
    if not fails(document):
        return list(takewhile(lambda step: step != _UNNAMED, steps))
    named, inner = list[Any](), document
    for step in steps:
        key = step
        if step == _UNNAMED:
            if len(inner) > _MOST_TRIED:
                break
            alone = ((key, _replaced(document, named, {key: value})) for key, value in inner.items())
            key, document = next((key, narrowed) for key, narrowed in alone if fails(narrowed))
        named.append(key)
        inner = inner[key]
    return named


def _fails(document: Any, kind: type, message: str) -> bool:
    """Whether the document can't be converted, with the same message."""
    try:
        msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def _replaced(document: Any, steps: Sequence[Any], value: Any) -> Any:
    """Return the document with another value at the end of the steps."""
    if not steps:
        return value
    copy = document.copy()
    copy[steps[0]] = _replaced(document[steps[0]], steps[1:], value)
    return copy


def pointer_token(step: str) -> str:
    """Escape a name as one step of a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")
