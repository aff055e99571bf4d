"""A row of the table: what is measured, beside what, and how good is good enough."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar

__all__ = ["Measure", "Row", "Sides", "Workshop", "all_rows"]

T = TypeVar("T")

Measure = Callable[[], float]
"""One round: do the work often enough to tell, and say what it came to, in the row's unit."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What is measured in turns. `theirs` is a number where the other side is a limit and no program."""

    ours: Measure
    theirs: Measure | float


class Workshop:
    """What rows share (a server, a fleet): made when first asked for, taken down at the end."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._made: dict[Any, Any] = {}

    def entered(self, made: AbstractContextManager[T]) -> T:
        """What one row has for itself."""
        return self._stack.enter_context(made)

    def shared(self, make: Callable[[], AbstractContextManager[T]]) -> T:
        if make not in self._made:
            self._made[make] = self._stack.enter_context(make())
        found: T = self._made[make]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`better` says whether a small or a large figure is good.

    The ratio is theirs ÷ ours where less is better and ours ÷ theirs where more is, so that larger is always better.
    `set_up` makes both sides ready, and checks that they do the same.
    """

    name: str
    title: str
    unit: str
    set_up: Callable[[Workshop], Sides] = field(repr=False)
    better: Literal["less", "more"] = "less"

    def ratio(self, ours: float, theirs: float) -> float:
        return theirs / ours if self.better == "less" else ours / theirs


def all_rows() -> list[Row]:
    """Every row of every file in `bench/rows`, in the order of the files' names."""
    folder = import_module("bench.rows")
    names = sorted(module.name for module in iter_modules(folder.__path__))
    return [row for name in names for row in import_module(f"bench.rows.{name}").ROWS]
