"""Inverted label columns, by which a selector matches rows without a loop over them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .matching import Expression, Term, integer_passes, label_integer
from .memory import sealed

__all__ = ["LabelColumn", "Mask", "Rows", "rows_matching"]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class LabelColumn:
    """One label over all rows: for every value the rows that carry it."""

    size: int
    postings: Mapping[str, Rows]

    @classmethod
    def of(cls, values: Sequence[str | Iterable[str] | None]) -> "LabelColumn":
        """Build the column from each row's value, its many values, or None where the label is missing."""
        rows_of: dict[str, list[int]] = {}
        for row, value in enumerate(values):
            for text in (value,) if isinstance(value, str) else (value or ()):
                rows_of.setdefault(text, []).append(row)
        return cls(len(values), {value: np.array(rows, dtype=np.intp) for value, rows in rows_of.items()})

    @cached_property
    def present(self) -> Mask:
        """The rows that carry any value."""
        return sealed(self.mask(self.postings))

    def mask(self, values: Iterable[str]) -> Mask:
        """Return the rows that carry one of the values."""
        mask = np.zeros(self.size, dtype=np.bool_)
        for value in values:
            if (rows := self.postings.get(value)) is not None:
                mask[rows] = True
        return mask

    def matches(self, expression: Expression) -> Mask:
        match expression.operator:
            case "In":
                return self.mask(expression.values or ())
            case "NotIn":
                return ~self.mask(expression.values or ())
            case "Exists":
                return self.present
            case "DoesNotExist":
                return ~self.present
            case order:
                bound = label_integer(expression.operand)
                return self.mask(v for v in self.postings if integer_passes(order, label_integer(v), bound))


def rows_matching(terms: Iterable[Term], column: Callable[[str], LabelColumn], size: int) -> Mask:
    """Return the rows that one of the terms matches."""
    mask = np.zeros(size, dtype=np.bool_)
    for term in terms:
        matched = np.ones(size, dtype=np.bool_)
        for expression in term.expressions():
            matched &= column(expression.key).matches(expression)
        mask |= matched
    return mask
