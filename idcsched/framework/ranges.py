"""Find scorers that a profile normalises by `fixed` without a range, when the profile is saved."""

from collections.abc import Iterable

import numpy as np

from .building import build_snapshot
from .context import Cycle
from .cycle import resolve
from .facts import MetricFact, Samples, World
from .profile import Entry, Profile, RangeMissing
from .question import Question
from .request import Request

__all__ = ["without_range"]


def without_range(profile: Profile, metrics: Iterable[MetricFact]) -> tuple[str, ...]:
    """Return the names of the profile's scorers that lack a range, where these metrics are defined."""
    no_values = np.empty(0, dtype=np.float64)
    samples = [
        Samples(metric=fact, subjects=np.empty(0, dtype=np.int64), values=no_values, at=no_values) for fact in metrics
    ]
    snapshot = build_snapshot(World(samples=tuple(samples)), id="", built_at=0.0)
    ctx = resolve(Question(Request(only=()), snapshot, profile, now=0.0))
    return tuple(entry.name for entry in profile.scorers if _lacks_range(entry, ctx))


def _lacks_range(entry: Entry, ctx: Cycle) -> bool:
    try:
        entry.scale(entry.plugin.scale_for(ctx))
    except RangeMissing:
        return True
    except Exception:  # noqa: BLE001  # a plugin may raise anything on an empty world
        return False
    return False
