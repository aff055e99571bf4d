"""What was worked out once and holds for a while: the words of plugins that say what they read.

Time changes what is known all by itself: a sample grows stale, a taint's window opens. A `Moment` is a stretch of
time in which nothing of the kind happens, so that whatever is remembered in it stays true as long as it lasts.
Forgetting is always safe: what is worked out again is the same, byte for byte.
"""

from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .facts import AffinityFact

if TYPE_CHECKING:
    from .snapshot import MetricColumn, Taints

__all__ = ["MOST_BYTES", "Moment", "moment_of"]

T = TypeVar("T")

MOST_BYTES = 16_000_000
MOST_BYTES_A_ROW = 3200
"""So much is remembered of one moment, whichever is more."""
MOST_SHELVES = 2000
_CAREFUL = 1e-3  # seconds: a moment ends a little before anything could change
Shelf = dict[Any, Any]
"""What questions that are alike find without naming all that it depends on."""


class Moment:
    """From `since` to before `until` nothing that is known changes.

    What is worked out of all rows is remembered by all that it depends on, and goes when nobody has wanted it for the
    longest time. The gist of it, which is all that one more question of the same kind needs, stands on a shelf, and
    goes only when there are too many.
    """

    __slots__ = ("_asked", "_bytes", "_gists", "_gists_bytes", "_held", "_most", "_shelves", "since", "until")

    def __init__(self, since: float, until: float, *, rows: int = 0) -> None:
        self.since = since
        self.until = until
        self._most = max(MOST_BYTES, MOST_BYTES_A_ROW * rows)
        self._held: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._asked: set[Any] = set()
        self._begin_shelves()

    def covers(self, now: float) -> bool:
        return self.since <= now < self.until

    def recall(self, key: Any) -> Any:
        """What was remembered under the key, or None."""
        found = self._held.get(key)
        if found is None:
            return None
        with suppress(KeyError):  # another thread forgets it
            self._held.move_to_end(key)
        return found[0]

    def remember(self, key: Any, value: T, *, size: int) -> T:
        """Keep `value`, of about so many bytes; the key must name all that it depends on but for the moment."""
        before = self._held.get(key)
        self._held[key] = (value, size)
        self._bytes += size - (before[1] if before else 0)
        self._make_room()
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

    def shelf(self, key: Any) -> Shelf:
        """Of questions that are alike."""
        found = self._shelves.get(key)
        if found is None:
            if len(self._shelves) >= MOST_SHELVES:
                self._begin_shelves()
            found = self._shelves[key] = {}
        return found

    def shelve(self, shelf: Shelf, word: Any, value: Any, *, size: int) -> None:
        """Keep a gist of about so many bytes on the shelf; all of them take half of the memory at the most."""
        place = id(shelf), word
        before = self._gists.get(place)
        shelf[word] = value
        self._gists[place] = shelf, size
        self._gists_bytes += size - (before[1] if before else 0)
        while self._gists_bytes > self._most // 2 and len(self._gists) > 1:
            self._forget_gist()
        self._make_room()

    def recalled(self, key: Any, compute: Callable[[], T], *, size: int) -> T:
        found: T | None = self.recall(key)
        return self.remember(key, compute(), size=size) if found is None else found

    def _begin_shelves(self) -> None:
        self._shelves: dict[Any, Shelf] = {}
        self._gists: dict[tuple[int, Any], tuple[Shelf, int]] = {}
        self._gists_bytes = 0

    def _make_room(self) -> None:
        while self._bytes + self._gists_bytes > self._most and len(self._held) > 1:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        try:
            shelves = list(self._shelves.values())
            key, (value, size) = self._held.popitem(last=False)
        except (KeyError, RuntimeError):  # another thread forgets too
            return
        self._bytes -= size
        for shelf in shelves:  # what is forgotten is not to be found there either
            if shelf.get(key[:2]) is value:
                shelf.pop(key[:2], None)

    def _forget_gist(self) -> None:
        try:
            place = next(iter(self._gists))
            shelf, size = self._gists.pop(place)
        except (KeyError, RuntimeError, StopIteration):  # another thread forgets too
            return
        self._gists_bytes -= size
        shelf.pop(place[1], None)


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
