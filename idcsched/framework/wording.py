"""Render reasons and notes as text: `say` renders a sentence's English template, or its translation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from .answer import PluginError
from .context import Cycle
from .decision import Judgement, ScoreColumn
from .messages import Message
from .normalize import rounded_value
from .plugin import Note

__all__ = ["PARTS", "Listing", "Say", "Teller", "say_english"]

Say = Callable[[Message, Mapping[str, Any]], str]

PARTS = frozenset({"head", "parts", "part", "label"})
"""The fields of the summary's templates that take text which is already rendered."""


class Listing(tuple[str, ...]):
    """Texts that fill one field of a template, joined by commas."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return ", ".join(self)


def _shown(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plugin's numbers rounded as they are shown, in data and in sentences alike."""
    return {name: rounded_value(value) if isinstance(value, float) else value for name, value in numbers.items()}


def say_english(template: Message, params: Mapping[str, Any]) -> str:
    return template.format_map(params) if params else template


class Teller:
    """Renders plugins' reasons, figures and notes. A plugin that fails here is put on record; the decision stands."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.errors: list[PluginError] = []

    def reason(self, judgement: Judgement, position: int) -> tuple[str, dict[str, Any]]:
        """Return the sentence why an IDC was rejected, and the numbers in it."""
        try:
            numbers = _shown(judgement.numbers(position))
            return self.say(judgement.reason.sentence, numbers), numbers
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; its verdict was given before
            self._failed(judgement.plugin, "detail", error)
            return self.say(judgement.reason.label, {}), {}

    def figures(self, judgement: Judgement, position: int) -> Mapping[str, Any] | None:
        """Return the numbers by which an IDC passed."""
        try:
            return _shown(judgement.figures(position) or {}) if judgement.figures else None
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; its verdict was given before
            self._failed(judgement.plugin, "figures", error)
            return None

    def notes(self, survivors: Cycle, column: ScoreColumn, positions: Sequence[int]) -> list[str | msgspec.UnsetType]:
        """Return the scorer's notes on the raw values at those positions."""
        if not column.entry.joins("note"):
            return [msgspec.UNSET] * len(positions)
        return [self._note(survivors, column, position) for position in positions]

    def _note(self, survivors: Cycle, column: ScoreColumn, position: int) -> str | msgspec.UnsetType:
        try:
            note = column.entry.plugin.note(survivors, position)
            return self._sentence(note) if note else msgspec.UNSET
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; its score was given before
            self._failed(column.entry.name, "note", error)
            return msgspec.UNSET

    def _sentence(self, note: Note) -> str:
        """Render a note, first the notes among its parameters."""
        inner = {name: self._sentence(value) for name, value in note.params.items() if isinstance(value, Note)}
        return self.say(note.sentence, {**note.params, **inner})

    def _failed(self, plugin: str, point: str, error: Exception) -> None:
        self.errors.append(PluginError(plugin, point, f"{type(error).__name__}: {error}"))
