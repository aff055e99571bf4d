"""What was worked out once and holds for a while: the words of plugins that say what they read.

Time changes what is known all by itself: a sample grows stale, a taint's window opens. A `Moment` is a stretch of
time in which nothing of the kind happens, so that whatever is remembered in it stays true as long as it lasts.
Forgetting is always safe: what is worked out again is the same, byte for byte.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .facts import AffinityFact

if TYPE_CHECKING:
    from .snapshot import MetricColumn, Taints

__all__ = ["MOST_BYTES", "Moment", "moment_of"]

T = TypeVar("T")

MOST_BYTES = 16_000_000
MOST_BYTES_A_ROW = 2400
"""So much is remembered of one moment, whichever is more; beyond it the oldest goes first."""
MOST_SHELVES = 2000
_CAREFUL = 1e-3  # seconds: a moment ends a little before anything could change


class Moment:
    """From `since` to before `until` nothing that is known changes."""

    __slots__ = ("_asked", "_bytes", "_held", "_most", "_shelves", "since", "until")

    def __init__(self, since: float, until: float, *, rows: int = 0) -> None:
        self.since = since
        self.until = until
        self._most = max(MOST_BYTES, MOST_BYTES_A_ROW * rows)
        self._held: dict[Any, tuple[Any, int]] = {}
        self._shelves: dict[Any, dict[Any, Any]] = {}
        self._asked: set[Any] = set()
        self._bytes = 0

    def covers(self, now: float) -> bool:
        return self.since <= now < self.until

    def recall(self, key: Any) -> Any:
        """What was remembered under the key, or None."""
        found = self._held.get(key)
        return None if found is None else found[0]

    def remember(self, key: Any, value: T, *, size: int) -> T:
        """Keep `value`, of about so many bytes; the key must name all that it depends on but for the moment."""
        before = self._held.get(key)
        self._held[key] = (value, size)
        self._bytes += size - (before[1] if before else 0)
        while self._bytes > self._most and len(self._held) > 1:
            self._forget_oldest()
        return value

    def asked_again(self, key: Any) -> bool:
        """Whether something is remembered under the key, or somebody has asked so before."""
        if key in self._held or key in self._asked:
            return True
        if len(self._asked) >= MOST_SHELVES:
            self._asked = set()
        self._asked.add(key)
        return False

    def only(self, words: Container[tuple[Any, Any]]) -> "Moment":
        """The same stretch of time with no more than is remembered under keys that begin so."""
        kept = Moment(self.since, self.until)
        kept._most = self._most
        for key, (value, size) in list(self._held.items()):
            if key[:2] in words:
                kept.remember(key, value, size=size)
        kept._asked = self._asked  # what comes again comes again there, too
        return kept

    def shelf(self, key: Any) -> dict[Any, Any]:
        """Where questions that are alike find what is remembered for them without naming all that it depends on."""
        found = self._shelves.get(key)
        if found is None:
            if len(self._shelves) >= MOST_SHELVES:
                self._shelves = {}
            found = self._shelves[key] = {}
        return found

    def recalled(self, key: Any, compute: Callable[[], T], *, size: int) -> T:
        found: T | None = self.recall(key)
        return self.remember(key, compute(), size=size) if found is None else found

    def _forget_oldest(self) -> None:
        try:
            _, size = self._held.pop(next(iter(self._held)))
        except (KeyError, RuntimeError, StopIteration):  # another thread forgets too
            return
        self._bytes -= size
        self._shelves = {}  # what is forgotten is not to be found there either


def moment_of(
    now: float,
    metrics: Mapping[str, "MetricColumn"],
    taints: "Taints",
    affinities: Iterable[AffinityFact],
    *,
    rows: int,
) -> Moment:
    """The moment that begins now, of so many IDCs."""
    ends = [_after(taints.starts, now), _after(taints.ends, now)]
    bounds = [bound for fact in affinities for bound in (fact.starts_at, fact.ends_at) if bound is not None]
    ends.append(_after(np.array(bounds), now))
    ends += [column.stale_from(now) for column in metrics.values()]
    return Moment(now, max(min(ends) - _CAREFUL, now), rows=rows)


def _after(bounds: np.ndarray[Any, Any], now: float) -> float:
    """The first of the times that is still to come; mostly all of them are over, or none is."""
    if not bounds.size or bounds.max() <= now:
        return np.inf
    if (first := float(bounds.min())) > now:
        return first
    return float(bounds[bounds > now].min(initial=np.inf))
