"""The ranking of an answer as a page shows it: in money where that can be, and in points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idcsched.framework.profile import Profile
from idcsched.framework.snapshot import Snapshot
from idcsched.language.wording import say
from idcsched.scheduling.money_lens import MoneyLens, NoMoney, money_lens
from metrics_ingest.models import Metric

from .bars import Bars, money_bars, points_bars
from .order_words import name_shown
from .scorers import MEASURED, Scorers

__all__ = ["Ranked", "name_of", "ranked"]

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """An answer's candidates in both lenses; `money` is None where they can be compared in points alone."""

    candidates: Sequence[Document]
    lens: MoneyLens | NoMoney
    scorers: Scorers
    money: Bars | None
    points: Bars | None

    @property
    def no_money(self) -> str:
        """Why there is no money lens."""
        return say(self.lens.sentence, None) if isinstance(self.lens, NoMoney) else ""

    @property
    def per_point(self) -> float | None:
        return self.lens.per_point if isinstance(self.lens, MoneyLens) else None


def ranked(
    answer: Document,
    candidates: Sequence[Document],
    snapshot: Snapshot,
    *,
    profile: Profile | None,
    weights: Mapping[str, float] | None,
    before: Mapping[str, int] | None = None,
) -> Ranked:
    """Return the candidates of an answer; `profile` decided, with the request's own `weights`.

    `before` has the ranks of another answer to the same order, to compare with.
    """
    scorers = Scorers(profile=profile, units=_units(profile))
    best = (answer.get("worth") or {}).get("best")
    lens = money_lens(candidates, profile=profile, weights=weights, best=best)
    names = {candidate["idc"]: name_of(candidate["idc"], snapshot) for candidate in candidates}
    chosen = answer["idc"]["code"] if answer.get("idc") else None
    return Ranked(
        candidates=candidates,
        lens=lens,
        scorers=scorers,
        money=money_bars(lens, candidates, scorers, names, chosen, before) if isinstance(lens, MoneyLens) else None,
        points=points_bars(candidates, scorers, names, chosen, before) if candidates else None,
    )


def name_of(idc: str, snapshot: Snapshot) -> str:
    """Return the name of an IDC for the reader; "" where it has none, or its code only."""
    row = snapshot.idcs.row_of.get(idc)
    name = "" if row is None else name_shown(snapshot.idcs.names[row])
    return "" if name == idc else name


def _units(profile: Profile | None) -> dict[str, str]:
    """Return the units of metrics by their codes, where the profile scores any."""
    if profile is None or all(entry.plugin.name not in MEASURED for entry in profile.scorers):
        return {}
    return dict(Metric.objects.values_list("code", "unit"))
