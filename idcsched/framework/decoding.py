"""From a client's JSON to typed values: compiled by msgspec, refusals said in this project's own codes."""

import re
import threading
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from .errors import FieldError, Invalid
from .messages import Message, _

__all__ = ["convert", "decode_json", "learned", "pointer_token", "refusal"]

T = TypeVar("T")

_PATH = re.compile(r" - at (?:`key` in )?`\$(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_learning = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Kind:
    """One thing that msgspec finds wrong; the pattern's groups are the fields of `detail`, which says the same."""

    pattern: str
    code: str
    detail: Message

    def found(self, message: str) -> re.Match[str] | None:
        return re.fullmatch(self.pattern, message, re.DOTALL)


_KINDS = (
    _Kind(
        r"Object contains unknown field `(?P<field>.*)`", "unknown_field", _("Object contains unknown field `{field}`")
    ),
    _Kind(r"Object missing required field `(?P<field>.*)`", "required", _("Object missing required field `{field}`")),
    _Kind(
        r"Expected `(?P<kind>\w+)` of length (?P<bound>.+)", "out_of_range", _("Expected `{kind}` of length {bound}")
    ),
    _Kind(r"Expected `(?P<kind>[^`]*)` (?P<bound>[<>]=? .+)", "out_of_range", _("Expected `{kind}` {bound}")),
    _Kind(
        r"Expected `(?P<kind>[^`]*)` matching regex (?P<pattern>.+)",
        "out_of_range",
        _("Expected `{kind}` matching regex {pattern}"),
    ),
    _Kind(r"(?P<reason>Expected `(?:int|float|str|array|object)` of.+)", "out_of_range", _("{reason}")),
    _Kind(r"Invalid enum value (?P<value>.*)", "invalid_choice", _("Invalid enum value {value}")),
    _Kind(r"Expected `(?P<expected>.*)`, got `(?P<got>.*)`", "wrong_type", _("Expected `{expected}`, got `{got}`")),
    _Kind(r"(?P<reason>Expected `.*)", "wrong_type", _("{reason}")),
    _Kind(r"(?P<reason>.*)", "invalid", _("{reason}")),
)


def decode_json(text: bytes | str, kind: type[T]) -> T:
    """The document as a `kind`; raises Invalid with a pointer to the field that is wrong."""
    try:
        return learned(kind).decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refusal(error) from None


def convert(document: Any, kind: type[T], pointer: str = "") -> T:
    """Already parsed JSON as a `kind`; raises Invalid with pointers below `pointer`."""
    learned(kind)
    try:
        return msgspec.convert(document, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise refusal(error, pointer) from None


def learned(kind: type[T]) -> "msgspec.json.Decoder[T]":
    """The decoder of that type; from now on `msgspec.convert` knows the type, too.

    msgspec looks into a type when it first decodes one, and crashes the process where two threads have it do so at
    once: two first requests that meet. So it is done by one thread at a time, here.
    """
    found = _decoders.get(kind)
    if found is None:
        with _learning:
            found = _decoders.setdefault(kind, msgspec.json.Decoder(kind))
    return found


def refusal(error: Exception, pointer: str = "") -> Invalid:
    """What msgspec said, as this project's Invalid."""
    if isinstance(error, RecursionError):
        return Invalid("too_deep", _("the document is nested too deeply"), pointer)
    if not isinstance(error, msgspec.ValidationError):
        return Invalid("malformed_json", _("the body is not valid JSON: {reason}"), pointer, reason=str(error))
    message = str(error)
    place = _PATH.search(message)
    where = pointer + _pointer(place["path"] if place else "")
    if isinstance(error.__cause__, Invalid):
        return Invalid.of(
            FieldError(where + inner.pointer, inner.code, inner.detail, inner.params)
            for inner in error.__cause__.errors
        )
    return _described(message[: place.start()] if place else message, where)


def _described(message: str, where: str) -> Invalid:
    kind, found = next((kind, found) for kind in _KINDS if (found := kind.found(message)))
    params = found.groupdict()
    pointer = f"{where}/{pointer_token(params['field'])}" if "field" in params else where
    return Invalid(kind.code, kind.detail, pointer, **params)


def _pointer(path: str) -> str:
    """`.machines[0].count` as `/machines/0/count`; a dict's unnamed value is left at the dict."""
    steps = (name or index for name, index in _STEP.findall(path))
    return "".join(f"/{pointer_token(step)}" for step in steps if step != "...")


def pointer_token(step: str) -> str:
    """A name as one step of a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")
