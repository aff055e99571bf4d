"""What became of each IDC in a decision: chosen, passed over with its rank, or rejected, with the first reason.

It is noted beside the record, one narrow row an IDC, so that "why did no order come here?" needs no reading of whole
answers. Of a decision with very many IDCs the first `MOST` of the ranking and of the rejections are noted; a decision
on a supposition is not, because nobody's order it was.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
from django.db import connection

from idcsched.accounts.roles import Principal
from idcsched.framework.bills import bills_add
from idcsched.framework.decision import Decision as Outcome
from idcsched.framework.explain import first_rejections
from idcsched.framework.ranking import HEAD

from .models import Decision, IdcOutcome
from .selectors import decisions_visible

__all__ = ["MOST", "IdcOutcomes", "NotedIdc", "noted_idcs", "outcomes_insert", "outcomes_of_idc"]

ON_POSTGRESQL = """
    INSERT INTO scheduling_idcoutcome (decision_id, idc, chosen, rank, plugin, code, billed)
    SELECT * FROM unnest(%s::uuid[], %s::text[], %s::bool[], %s::int[], %s::text[], %s::text[], %s::float8[])
    ON CONFLICT DO NOTHING
"""
ON_SQLITE = """
    INSERT INTO scheduling_idcoutcome (decision_id, idc, chosen, rank, plugin, code, billed)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""

MOST = 100
"""The most ranked and the most rejected IDCs that are noted of one decision."""
SHOWN = 20


class NotedIdc(msgspec.Struct, frozen=True, kw_only=True):
    """One IDC of a decision. `rank` null: rejected, first by `plugin` for the reason `code`. `billed`: what the order
    would have added to the bill there, per month; null where that is not known."""

    idc: str
    chosen: bool = False
    rank: int | None = None
    plugin: str = ""
    code: str = ""
    billed: float | None = None


class RankCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often the IDC had this rank and was not chosen."""

    rank: int
    count: int


class FirstReason(msgspec.Struct, frozen=True, kw_only=True):
    """How often the IDC was rejected, this being the first reason."""

    plugin: str
    code: str
    count: int


class LatestOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the IDC in one decision. `winner`: the IDC that was chosen; null: nothing fitted."""

    decision_id: str
    created_at: datetime
    request_id: str | None
    chosen: bool
    rank: int | None
    plugin: str | None
    code: str | None
    billed: float | None
    winner: str | None
    winner_billed: float | None


class IdcOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an IDC in the last `decisions` that considered it, and the latest of them one by one.

    `cheaper`: in how many of those in which it was passed over the order adds less to the bill here.
    """

    idc: str
    decisions: int
    chosen: int
    passed_over: tuple[RankCount, ...]
    cheaper: int
    rejected: tuple[FirstReason, ...]
    latest: tuple[LatestOutcome, ...]


def noted_idcs(decision: Outcome, chosen: Collection[str]) -> Iterator[NotedIdc]:
    """Yield what became of the decision's IDCs: the best ones in the order of the ranking, then the rejected ones."""
    codes = decision.cycle.snapshot.idcs.codes
    # what is sorted already: sorting more could run a tie-breaker that fails
    ranked = decision.survivors.narrowed(decision.ranking.head(HEAD)[:MOST])
    for rank, (row, billed) in enumerate(zip(ranked.row_numbers.tolist(), bills_add(ranked), strict=True), start=1):
        yield NotedIdc(idc=codes[row], chosen=codes[row] in chosen, rank=rank, billed=billed)
    first = first_rejections(decision)
    rejected = np.flatnonzero(first >= 0)[:MOST]
    causes = [(judgement.plugin, judgement.reason.code) for judgement in decision.judgements]
    for row, cause in zip(decision.cycle.row_numbers[rejected].tolist(), first[rejected].tolist(), strict=True):
        plugin, code = causes[cause]
        yield NotedIdc(idc=codes[row], plugin=plugin, code=code)


def outcomes_insert(decisions: Sequence[Decision]) -> None:
    """Insert what is `noted` of the decisions; what stands there already stays. Making a model of each takes longer."""
    noted = [(row.pk.hex, *msgspec.structs.astuple(each)) for row in decisions for each in row.noted]
    if not noted:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(ON_POSTGRESQL, [list(column) for column in zip(*noted, strict=True)])
        else:
            cursor.executemany(ON_SQLITE, noted)


def outcomes_of_idc(
    code: str, principal: Principal, *, last: int, since: datetime | None = None, shown: int = SHOWN
) -> IdcOutcomes:
    """Return what became of an IDC in the last decisions that the principal may see, in two queries."""
    visible = decisions_visible(principal)
    if since is not None:
        visible = visible.filter(created_at__gte=since)
    about = IdcOutcome.objects.filter(idc=code, decision__in=visible).order_by("-decision_id")
    rows = list(about.select_related("decision").only(*_COLUMNS)[:last])
    winners = dict(
        IdcOutcome.objects.filter(decision__in=[row.decision_id for row in rows], chosen=True).values_list(
            "decision_id", "billed"
        )
    )
    passed_over = [row for row in rows if row.rank is not None and not row.chosen]
    return IdcOutcomes(
        idc=code,
        decisions=len(rows),
        chosen=sum(row.chosen for row in rows),
        passed_over=tuple(
            RankCount(rank=rank, count=count) for rank, count in sorted(Counter(_ranks(passed_over)).items())
        ),
        cheaper=sum(_cheaper(row.billed, winners.get(row.decision_id)) for row in passed_over),
        rejected=tuple(
            FirstReason(plugin=plugin, code=reason, count=count)
            for (plugin, reason), count in Counter((row.plugin, row.code) for row in rows if row.code).most_common()
        ),
        latest=tuple(_latest(row, row.decision, winners) for row in rows[:shown]),
    )


_COLUMNS = (
    *("idc", "chosen", "rank", "plugin", "code", "billed"),
    *("decision__created_at", "decision__request_id", "decision__idc"),
)


def _ranks(rows: list[IdcOutcome]) -> Iterator[int]:
    return (row.rank for row in rows if row.rank is not None)


def _cheaper(here: float | None, there: float | None) -> bool:
    return here is not None and there is not None and here < there


def _latest(row: IdcOutcome, decision: Decision, winners: dict[Any, float | None]) -> LatestOutcome:
    return LatestOutcome(
        decision_id=str(decision.pk),
        created_at=decision.created_at,
        request_id=decision.request_id or None,
        chosen=row.chosen,
        rank=row.rank,
        plugin=row.plugin or None,
        code=row.code or None,
        billed=row.billed,
        winner=decision.idc or None,
        winner_billed=winners.get(decision.pk),
    )
