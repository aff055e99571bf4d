"""What orders hold, from when to when, in columns: so it is summed up quickly for any time."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Final, Generic, TypeVar

import numpy as np

from idcsched.framework.normalize import Floats

__all__ = ["Holdings", "Key"]

Key = TypeVar("Key", bound=Hashable)
COLUMNS: Final = np.dtype([("since", np.float64), ("until", np.float64), ("key", np.intp), ("amount", np.float64)])


class Holdings(Generic[Key]):
    """Amounts under keys, each held from one time to another, in seconds."""

    def __init__(self) -> None:
        self._number: dict[Key, int] = {}
        self._rows = np.empty(0, COLUMNS)

    def add(self, amounts: Iterable[tuple[Key, float]], *, since: float, until: float) -> None:
        number = self._number
        rows = [(since, until, number.setdefault(key, len(number)), amount) for key, amount in amounts]
        self._rows = np.append(self._rows, np.array(rows, COLUMNS))

    def at(self, time: float, *, with_newest: bool = True) -> Mapping[Key, float]:
        """Return what is held under each key; `with_newest`: that which is held just since `time`, too."""
        return self._sums(time, np.ones(self._rows.size), with_newest=with_newest)

    def fading(self, time: float, over: float) -> Mapping[Key, float]:
        """Return the same of amounts that count less and less, and `over` so many seconds no more."""
        ages = time - self._rows["since"]
        shares = np.maximum(0.0, 1.0 - ages / over) if over else np.zeros(ages.size)
        return self._sums(time, shares, with_newest=True)

    def _sums(self, time: float, shares: Floats, *, with_newest: bool) -> Mapping[Key, float]:
        rows = self._rows
        begun = rows["since"] <= time if with_newest else rows["since"] < time
        held = begun & (time < rows["until"])
        sums = np.bincount(rows["key"][held], (shares * rows["amount"])[held], minlength=len(self._number))
        return {key: amount for key, amount in zip(self._number, sums.tolist(), strict=True) if amount}
