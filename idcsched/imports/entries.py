"""What a file says, row by row, before anybody has asked the database about it."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from idcsched.framework.errors import FieldError, Invalid

from .cells import KEEP
from .sheets import Column

__all__ = ["Contents", "Entry", "Fault", "faults_of", "values_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a file. `row` is the row's number in a table, its pointer in a document; both may be ""."""

    file: str = ""
    row: str = ""
    column: str = ""
    error: FieldError

    @property
    def where(self) -> str:
        """File, row and column, as far as they are known."""
        return ", ".join(filter(None, (self.file, self.row, self.column)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a file: the columns that it has, with values as the services take them."""

    file: str
    row: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All that files say."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    """By the names of their sheets."""
    faults: list[Fault] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)
    """The sheets that were told in full, in a table or a list of their own."""
    nested: set[str] = field(default_factory=set)
    """The IDCs whose lines were told below them."""
    notes: list[str] = field(default_factory=list)
    """How the files were read."""


def values_of(given: Iterable[tuple[Column, Any]], faults: list[FieldError], *, cells: bool) -> dict[str, Any]:
    """The values of what is given, from cells or from JSON; what is wrong is added to the faults, by column."""
    values: dict[str, Any] = {}
    for column, raw in given:
        try:
            value = _value(column, raw, cells=cells)
        except Invalid as error:
            faults += [FieldError(f"/{column.name}", one.code, one.detail, one.params) for one in error.errors]
            continue
        if value is not KEEP:
            values[column.name] = value
    return values


def _value(column: Column, raw: Any, *, cells: bool) -> Any:
    if raw is None or (cells and not raw.strip()):
        return copy(column.empty)
    return column.cell.read(raw) if cells else column.cell.take(raw)


def faults_of(file: str, row: str, errors: Sequence[FieldError]) -> list[Fault]:
    """Field errors as faults: the first step of a pointer is the column."""
    return [
        Fault(file=file, row=row, column=error.pointer.lstrip("/").split("/", 1)[0], error=error) for error in errors
    ]
