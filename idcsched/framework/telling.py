"""How reasons and notes are said: `say` renders a sentence's English template, or its translation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from .decision import Board, Judgement, PluginError, ScoreColumn
from .errors import Template

__all__ = ["PARTS", "Listing", "Said", "Say", "Teller", "say_english"]

Say = Callable[[Template, Mapping[str, Any]], str]

Said = Mapping[str, tuple[str, Mapping[str, Any]]]
"""Sentences as they were said in English, each with the template and what filled it."""

PARTS = frozenset({"head", "parts", "part", "label"})
"""The fields of the summary's templates that are filled with what was said before."""


class Listing(tuple[str, ...]):
    """Sentences in a row, as a part of another."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return ", ".join(self)


def say_english(template: Template, params: Mapping[str, Any]) -> str:
    return template.format_map(params) if params else template


class Teller:
    """Says what plugins give reasons and notes for. One that fails at it is put on record; the decision stands."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.errors: list[PluginError] = []

    def reason(self, judgement: Judgement, position: int) -> tuple[str, dict[str, Any]]:
        """Why an IDC was rejected, and the numbers behind it."""
        try:
            numbers = dict(judgement.numbers(position))
            return self.say(judgement.reason.sentence, numbers), numbers
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; its verdict was given before
            self._failed(judgement.plugin, "detail", error)
            return self.say(judgement.reason.label, {}), {}

    def figures(self, judgement: Judgement, position: int) -> Mapping[str, Any] | None:
        """The numbers by which an IDC was let pass."""
        try:
            return judgement.figures(position) if judgement.figures else None
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; its verdict was given before
            self._failed(judgement.plugin, "figures", error)
            return None

    def notes(self, board: Board, column: ScoreColumn, positions: Sequence[int]) -> list[str | msgspec.UnsetType]:
        """What the scorer has to say about those raw values."""
        if "note" not in column.entry.joined:
            return [msgspec.UNSET] * len(positions)
        told: list[str | msgspec.UnsetType] = []
        say, ask, survivors = self.say, column.entry.plugin.note, board.survivors
        for position in positions:
            try:
                note = ask(survivors, position)
                told.append(say(note.sentence, note.params) if note else msgspec.UNSET)
            except Exception as error:  # noqa: BLE001  # a plugin may raise anything; its score was given before
                self._failed(column.entry.name, "note", error)
                told.append(msgspec.UNSET)
        return told

    def _failed(self, plugin: str, point: str, error: Exception) -> None:
        self.errors.append(PluginError(plugin, point, f"{type(error).__name__}: {error}"))
