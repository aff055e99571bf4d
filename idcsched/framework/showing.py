"""The way from raw values to contributions, of the few candidates that are shown."""

from math import isnan
from typing import Any

from .decision import Board, Score, ScoreColumn
from .labels import Rows
from .normalize import rounded
from .snapshot import Reading
from .telling import Teller

__all__ = ["LEFT_OUT", "Showing"]

LEFT_OUT = "left_out"
_A_SECOND = 1000  # an age is told in milliseconds


class Showing:
    """What is told of the scores at some positions of a board."""

    __slots__ = ("_ages", "_board", "_positions", "_tell", "where")

    def __init__(self, board: Board, positions: Rows, tell: Teller) -> None:
        self.where: list[int] = positions.tolist()
        self._board, self._positions, self._tell = board, positions, tell
        self._ages: dict[Any, list[float | None]] = {}

    def scores(self, column: ScoreColumn) -> list[Score]:
        """One scorer's at each position; what was shown before of a row is not worked out again."""
        places, where = self._positions, self.where
        if column.places is not None:
            places = column.places[places]
        shown = column.shown
        if shown is None:
            return self._worked_out(column, places)
        if column.places is not None:
            where = places.tolist()
        try:
            found = [shown[place] for place in where]
        except KeyError:
            found = self._worked_out(column, places)
            shown.update(zip(where, found, strict=True))
            return found
        ages = self._ages_of(column.reading, places)
        return [_aged(score, age) for score, age in zip(found, ages, strict=True)] if ages else found

    def _worked_out(self, column: ScoreColumn, places: Rows) -> list[Score]:
        values, scores = column.reading.values[places].tolist(), column.scores[self._positions].tolist()
        missing = _missing(column, places) or [None] * len(values)
        ages = self._ages_of(column.reading, places) or [None] * len(values)
        weight, nominal, left_out = column.weight, column.nominal_weight, column.left_out
        return [
            Score(
                raw=raw if why is None or not isnan(raw) else None,
                normalized=None if left_out else score,
                weight=weight,
                nominal_weight=nominal,
                contribution=0.0 if left_out else rounded(weight * score),
                age_seconds=age,
                missing=why,
                note=note,
            )
            for raw, age, score, why, note in zip(
                values, ages, scores, missing, self._tell.notes(self._board, column, self.where), strict=True
            )
        ]

    def _ages_of(self, reading: Reading, places: Rows) -> list[float | None]:
        """How old the values at these places are, None where that is not known; empty: that means nothing."""
        if reading.at is None and reading.lines is None:
            return []
        key = id(reading.at), id(reading.lines), reading.metric, places is self._positions
        found = self._ages.get(key)
        if found is None:
            ctx = self._board.survivors
            now = ctx.now
            found = self._ages[key] = [
                None if isnan(at) else round((now - at) * _A_SECOND) / _A_SECOND for at in ctx.times(reading, places)
            ]
        return found


def _aged(score: Score, age: float | None) -> Score:
    """The same of a value that is so old now."""
    return Score(
        raw=score.raw,
        normalized=score.normalized,
        weight=score.weight,
        nominal_weight=score.nominal_weight,
        contribution=score.contribution,
        age_seconds=age,
        missing=score.missing,
        note=score.note,
    )


def _missing(column: ScoreColumn, places: Rows) -> list[str | None]:
    """What stood in for the values at these places of the column; empty: nothing had to for any."""
    if column.complete:
        return []
    if column.left_out:
        return [LEFT_OUT] * places.size
    fresh = column.reading.known[places].tolist()
    if False not in fresh:
        return []
    policy = column.entry.missing.score
    stand_in = "worst" if policy == "last" else policy
    used = column.known[places].tolist()
    return [None if own else "last" if known else stand_in for own, known in zip(fresh, used, strict=True)]
