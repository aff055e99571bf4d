"""The sentences of an answer: kept in English with what each was made of, read in the language of the reader."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from django.conf import settings
from django.utils.translation import get_language

from idcsched.framework.decoding import convert
from idcsched.framework.messages import Message, _
from idcsched.framework.wording import PARTS, say_english
from idcsched.language.wording import say

__all__ = ["Notebook", "read", "read_struct"]

Sentences = Mapping[str, Any]
Struct = TypeVar("Struct", bound=msgspec.Struct)

SAID = frozenset({"summary", "reason", "note", "hint"})
"""The fields of an answer that hold sentences."""
NUMBERS = "detail"
"""The field that holds what a sentence was made of, whatever it is called there."""


class Sentence(msgspec.Struct, frozen=True, array_like=True):
    """What a sentence is made of."""

    template: Message
    params: dict[str, Any]


class Notebook:
    """Says sentences in English, and notes down for each its template and its numbers."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def say(self, template: Message, params: Mapping[str, Any]) -> str:
        text = say_english(template, params)
        self._said[text] = (template, params)
        return text

    def note(self, text: str, template: str, params: Mapping[str, Any]) -> None:
        """Note down what a sentence that was said before is made of."""
        self._said[text] = (template, params)

    @property
    def encoded(self) -> bytes:
        """What was said, as JSON: the English text, and what it was made of."""
        return msgspec.json.encode(self._said, enc_hook=_plain)

    @property
    def sentences(self) -> Sentences:
        """The same as JSON can hold it."""
        kept: Sentences = msgspec.json.decode(self.encoded)
        return kept


def read(document: Any, sentences: Sentences) -> Any:
    """An answer as JSON, its sentences in the language of the reader; one that was not kept stays English."""
    if get_language() in (None, settings.LANGUAGE_CODE):
        return document
    return _read(document, sentences)


def read_struct(answer: Struct, notebook: Notebook) -> Struct:
    """The same of an answer that was just given."""
    if get_language() in (None, settings.LANGUAGE_CODE):
        return answer
    return convert(_read(msgspec.to_builtins(answer), notebook.sentences), type(answer))


def _read(document: Any, sentences: Sentences) -> Any:
    match document:
        case dict():
            return {name: _read_field(name, value, sentences) for name, value in document.items()}
        case list() | tuple():
            return [_read(item, sentences) for item in document]
    return document


def _read_field(name: str, value: Any, sentences: Sentences) -> Any:
    if name == NUMBERS:
        return value
    return _said(value, sentences) if name in SAID and isinstance(value, str) else _read(value, sentences)


def _said(text: str, sentences: Sentences) -> str:
    if text not in sentences:
        return text
    made_of = convert(sentences[text], Sentence)
    params = {name: _part(value, sentences) if name in PARTS else value for name, value in made_of.params.items()}
    try:
        return say(made_of.template, params)
    except (LookupError, TypeError, ValueError):  # JSON could not hold one of the numbers as it was
        return text


def _part(value: Any, sentences: Sentences) -> str:
    """What is said in it: one sentence, or several in a row."""
    if isinstance(value, str):
        return _said(value, sentences)
    between = say(_("{parts}, {part}"), {"parts": "", "part": ""})
    return between.join(_said(text, sentences) for text in value)


def _plain(value: Any) -> Any:
    """An array library's number as Python's; anything else as its text."""
    return value.item() if hasattr(value, "item") else str(value)
