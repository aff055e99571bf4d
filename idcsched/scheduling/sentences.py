"""The sentences of an answer: kept in English with their templates and parameters, shown in the reader's language."""

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

SENTENCE_FIELDS = frozenset({"summary", "reason", "note", "shape_note", "hint"})
"""The fields of an answer that hold sentences."""
PARAMETER_FIELD = "detail"
"""The field that holds a sentence's parameters, which are no sentences, whatever their names."""


class Sentence(msgspec.Struct, frozen=True, array_like=True):
    """The template and the parameters of a sentence."""

    template: Message
    params: dict[str, Any]


class Notebook:
    """Says sentences in English, and remembers the template and the parameters of each."""

    def __init__(self) -> None:
        self._sentences: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def say(self, template: Message, params: Mapping[str, Any]) -> str:
        text = say_english(template, params)
        self._sentences[text] = (template, params)
        return text

    def note(self, text: str, template: str, params: Mapping[str, Any]) -> None:
        """Remember the template and the parameters of a sentence from an earlier answer."""
        self._sentences[text] = (template, params)

    @property
    def encoded(self) -> bytes:
        """The remembered sentences as JSON: the template and the parameters by English text."""
        return msgspec.json.encode(self._sentences, enc_hook=_plain)

    @property
    def sentences(self) -> Sentences:
        """The remembered sentences, decoded from JSON."""
        decoded: Sentences = msgspec.json.decode(self.encoded)
        return decoded


def read(document: Any, sentences: Sentences) -> Any:
    """Translate a JSON answer into the reader's language; a sentence that is not in `sentences` stays English."""
    if get_language() in (None, settings.LANGUAGE_CODE):
        return document
    return _translated(document, sentences)


def read_struct(answer: Struct, notebook: Notebook) -> Struct:
    """Translate an answer that was just made into the reader's language."""
    if get_language() in (None, settings.LANGUAGE_CODE):
        return answer
    return convert(_translated(msgspec.to_builtins(answer), notebook.sentences), type(answer))


def _translated(document: Any, sentences: Sentences) -> Any:
    match document:
        case dict():
            return {name: _translated_field(name, value, sentences) for name, value in document.items()}
        case list() | tuple():
            return [_translated(item, sentences) for item in document]
    return document


def _translated_field(name: str, value: Any, sentences: Sentences) -> Any:
    if name == PARAMETER_FIELD:
        return value
    if name in SENTENCE_FIELDS and isinstance(value, str):
        return _translated_sentence(value, sentences)
    return _translated(value, sentences)


def _translated_sentence(text: str, sentences: Sentences) -> str:
    if text not in sentences:
        return text
    sentence = convert(sentences[text], Sentence)
    params = {name: _part(value, sentences) if name in PARTS else value for name, value in sentence.params.items()}
    try:
        return say(sentence.template, params)
    except (LookupError, TypeError, ValueError):  # JSON could not hold one of the numbers as it was
        return text


def _part(value: Any, sentences: Sentences) -> str:
    """Translate a parameter that is itself a sentence, or a list of sentences."""
    if isinstance(value, str):
        return _translated_sentence(value, sentences)
    between = say(_("{parts}, {part}"), {"parts": "", "part": ""})
    return between.join(_translated_sentence(text, sentences) for text in value)


def _plain(value: Any) -> Any:
    """Convert a NumPy number to Python's, and anything else to text."""
    return value.item() if hasattr(value, "item") else str(value)
