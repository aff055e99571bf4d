"""What moves really save of what the advice promised, learnt by the installation from its own moves."""

from collections.abc import Sequence
from typing import Final

import msgspec

__all__ = ["START", "START_COUNTS", "Expectation", "expectation"]

START: Final = 0.85
"""The factor before any move was made."""
START_COUNTS: Final = 10
"""As many moves of mean size the start counts as."""
MOST: Final = 1.2
"""The largest factor; the smallest is 0."""
DECIMALS: Final = 4


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of a promise is expected to be kept, and on how many moves that rests."""

    factor: float = START
    moves: int = 0

    def of(self, promised: float) -> float:
        """Return what is expected of a move that promises so much."""
        return promised * self.factor


def expectation(made: Sequence[tuple[float, float]]) -> Expectation:
    """Return what is to be expected after the moves that were made: what each promised, and what it saves by now.

    The part of the promised money that they keep together counts once for each of them, and the start as ten moves.
    """
    promised = sum([promise for promise, _saves in made])
    if promised <= 0:
        return Expectation()
    kept = sum([saves for _promise, saves in made]) / promised
    factor = (START_COUNTS * START + len(made) * kept) / (START_COUNTS + len(made))
    return Expectation(factor=round(min(max(factor, 0.0), MOST), DECIMALS), moves=len(made))
