"""One decision, read from top to bottom.

A pure function: the same inputs give the same decision, bit for bit, today and in a replay next year. A row is one IDC
of the snapshot. A filter gives a mask with one bool for each row of the request; scorers see the survivors only.
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from .answer import PluginError
from .context import Cycle
from .decision import Decision, Judgement
from .errors import PluginFailed
from .external import Query, Reply
from .hypothetical import suppose
from .labels import Mask, Rows
from .lines import LinePolicy
from .matching import Term
from .messages import _
from .naming import check_names
from .one_by_one import visit
from .plugin import METRIC_UNKNOWN, Note, Reason, Rejection, Universe, Verdict
from .profile import Entry, Profile
from .question import Question
from .ranking import pick, rank
from .request import Request
from .scoring import run_scorers
from .shape import order_shape
from .snapshot import Snapshot

__all__ = ["EXCLUDED", "NO_GROUP", "decide", "queries"]

MASK = np.dtype(np.bool_)
EXCLUDED = Reason("excluded", _("excluded by the request"), _("excluded by the request's `{field}`"))
NO_GROUP = Reason(
    "no_group", _("in no fallback group"), _("in none of the fallback groups"), cures=("profile", "labels")
)


def decide(question: Question) -> Decision:
    """Find the best IDC for the request, why it is the best, and why the others are not.

    Raises Invalid for names that do not exist, PluginFailed where the profile says that a failing plugin fails the
    decision.
    """
    profile, seed = question.profile, question.request.request_id or question.reference
    ctx = resolve(question)
    ctx.replies = _replies_or_failures(question)
    judgements = run_filters(ctx, profile)
    group = choose_group(ctx, profile, judgements, seed)
    survivors = ctx.narrowed(group.survivors)
    columns = run_scorers(survivors, profile)
    ranking = rank(survivors, profile, columns, seed=seed)
    hints = () if ranking.size else tuple(run_hints(ctx, profile))
    return Decision(
        cycle=ctx,
        profile=profile,
        judgements=(*judgements, *group.judgements),
        visited=group.visited,
        groups=group.groups,
        group=group.index,
        survivors=survivors,
        columns=columns,
        ranking=ranking,
        picked=pick(survivors, profile, ranking),
        hints=hints,
        plugin_errors=tuple(ctx.errors),
        timings=tuple(ctx.timings),
    )


def queries(question: Question) -> tuple[Query, ...]:
    """Return the queries that external services must answer before `decide`.

    They are about the IDCs that the filters of all plugins without `gather` keep; filters that judge one IDC at a time
    are not run. Raises what `decide` raises. A plugin whose `gather` fails finds that failure in `decide`, as a reply.
    """
    return tuple(query for query in _gather(question) if isinstance(query, Query))


def resolve(question: Question) -> Cycle:
    """Return the cycle with the rows that the request is about; raises Invalid for names that do not exist."""
    request, snapshot, profile, now = question.request, question.snapshot, question.profile, question.now
    if request.hypothetical is not None:
        snapshot = suppose(snapshot, request.hypothetical, now=now)
    check_names(request, snapshot, profile)
    labels = question.labels or request.labels or {}
    ctx = Cycle(
        request=request,
        snapshot=snapshot,
        now=now,
        labels=labels,
        shape=order_shape(request, labels, snapshot.shapes),
        line_policy=_line_policy(request, snapshot, profile),
        rows=slice(0, snapshot.size),
        clock=question.clock,
    )
    return replace(ctx, rows=_universe(ctx, profile), choice=None)  # lines are chosen anew, for these rows


def run_filters(ctx: Cycle, profile: Profile, without_entries: AbstractSet[str] = frozenset()) -> list[Judgement]:
    """Run every filter that judges all rows at once. An IDC counts under the first filter that rejects it."""
    judgements = [*_request_lists(ctx), *_ungrouped(ctx, profile)]
    calls = [("pre_filter", entry) for entry in profile.pre_filters if not entry.plugin.narrows]
    calls += [("filter", entry) for entry in profile.filters]
    for point, entry in calls:
        if entry.name not in without_entries:
            for verdict in _call_filter(ctx, entry, point, _checked_verdicts) or ():
                judgements += _judgements(ctx, entry, verdict)
    return judgements


def _judgements(ctx: Cycle, entry: Entry, verdict: Verdict) -> Iterator[Judgement]:
    """Yield the verdict and, before it, the rejection of rows of which the profile demands a value that is missing."""
    keep, reading = verdict.keep, verdict.reading
    if reading is not None and not reading.complete:
        usable = ctx.usable(reading)
        if entry.missing.filter != "pass":
            unknown = verdict.unknown or Rejection(METRIC_UNKNOWN, {"metric": reading.metric})
            yield Judgement(entry.name, unknown.reason, usable, lambda _: unknown.detail)
        keep = keep | ~usable
    yield Judgement(entry.name, verdict.reason, keep, verdict.detail, verdict.figures)


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The first fallback group with a survivor or, where none has one, the last. `judgements` are those of plugins that
    judge one IDC at a time; `groups`, `index` and `visited` are those of the `Decision`."""

    survivors: Rows
    index: int = 0
    groups: Rows | None = None
    visited: Mask | None = None
    judgements: tuple[Judgement, ...] = ()


def choose_group(ctx: Cycle, profile: Profile, judgements: list[Judgement], seed: str) -> Group:
    """Find the first fallback group with a survivor; plugins that judge one IDC at a time visit no more than needed."""
    alive, terms = _kept_by_all(ctx, judgements), _fallback(ctx, profile)
    if not (profile.one_by_one or terms):
        return Group(survivors=np.flatnonzero(alive))
    groups, rejected = _groups(ctx, terms), tuple[Judgement, ...]()
    if profile.one_by_one:
        visits = visit(ctx, profile, alive, groups, seed)
        alive, visited, rejected = visits.passed & visits.visited, visits.visited, tuple(visits.judgements())
    else:  # groups after the winner count as not visited; without a winner all groups were visited
        with_survivors = groups[alive]
        visited = groups <= (with_survivors.min() if with_survivors.size else groups.max(initial=0))
        alive = alive & visited
    with_survivors = groups[alive]
    index = int(with_survivors.min()) if with_survivors.size else max(len(terms) - 1, 0)
    return Group(survivors=np.flatnonzero(alive), index=index, groups=groups, visited=visited, judgements=rejected)


def run_hints(ctx: Cycle, profile: Profile) -> Iterator[tuple[str, Note]]:
    """Yield the plugins' notes on what would have helped where no IDC is left; a plugin that fails is put on record."""
    for entry in profile.post_filters:
        try:
            note: object = entry.run(ctx, "post_filter")
            if not isinstance(note, Note | None):
                raise TypeError(f"gave {type(note).__name__}, not Note")  # noqa: TRY301  # as if the plugin had raised
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; it is named in the answer
            ctx.errors.append(PluginError(entry.name, "post_filter", f"{type(error).__name__}: {error}"))
        else:
            if note is not None:
                yield entry.name, note


def _line_policy(request: Request, snapshot: Snapshot, profile: Profile) -> LinePolicy:
    wanted = tuple(dict.fromkeys([snapshot.isps[isp] for isp in request.wanted_isps]))
    return LinePolicy(
        wanted=wanted,
        match=(request.isp_match or "any") if wanted else "any",
        need=request.bandwidth,
        choice=profile.line_choice,
        bgp_substitutes=profile.bgp_substitutes,
        unknown=profile.unknown_lines,
        planned=_planned_lines(request, snapshot),
    )


def _planned_lines(request: Request, snapshot: Snapshot) -> tuple[int, ...]:
    """Return the lines that the request plans to use; lines that the snapshot does not have are left out."""
    planned, lines = request.planned, snapshot.lines
    row = snapshot.idcs.row_of.get(planned.idc) if planned is not None else None
    if row is None or planned is None or planned.lines is None:
        return ()
    return tuple([line for line in lines.of_idc(row) if lines.codes[line] in planned.lines])


def _universe(ctx: Cycle, profile: Profile) -> slice | Rows:
    """Return the rows that the request is about: a narrowing plugin's, else those of the `only` list."""
    for entry in profile.pre_filters:
        if entry.plugin.narrows and (universe := _call_filter(ctx, entry, "pre_filter", _checked_universe)) is not None:
            return universe.rows()  # type: ignore[no-any-return]
    row_of = ctx.snapshot.idcs.row_of
    return np.array(sorted({row_of[code] for code in ctx.request.only or ()}), dtype=np.intp)


def _call_filter(ctx: Cycle, entry: Entry, point: str, check: Callable[[Cycle, object], Any]) -> Any:
    """Return a filter's checked result; None also where the filter failed and the profile lets it be skipped."""
    try:
        return check(ctx, entry.run(ctx, point))
    except Exception as error:
        if entry.on_error_filter == "fail":
            raise PluginFailed(entry.name, point, f"{type(error).__name__}: {error}") from error
        ctx.errors.append(PluginError(entry.name, point, f"{type(error).__name__}: {error}"))
        return None


def _checked_universe(_: Cycle, result: object) -> Universe | None:
    if isinstance(result, Universe | None):
        return result
    raise TypeError(f"gave {type(result).__name__}, not Universe")


def _checked_verdicts(ctx: Cycle, result: object) -> tuple[Verdict, ...]:
    """Return a filter's verdicts; raise for anything else (a bare mask, say), which must not count as "keep all"."""
    verdicts = result if isinstance(result, tuple) else () if result is None else (result,)
    for verdict in verdicts:
        if not isinstance(verdict, Verdict):
            raise TypeError(f"gave {type(verdict).__name__}, not Verdict")
        if verdict.keep.dtype != MASK or verdict.keep.shape != (ctx.size,):
            raise ValueError(f"gave a mask of {verdict.keep.dtype}{verdict.keep.shape} for {ctx.size} rows")
        if (reading := verdict.reading) and not reading.values.shape == reading.known.shape == (ctx.size,):
            raise ValueError(f"gave a reading of {reading.values.shape} values for {ctx.size} rows")
    return verdicts


def _request_lists(ctx: Cycle) -> Iterator[Judgement]:
    """Yield the judgements of the request's `only` and `exclude` lists."""
    for field, codes in (("only", ctx.request.only), ("exclude", ctx.request.exclude)):
        if codes is not None:
            named = np.zeros(ctx.snapshot.size, dtype=np.bool_)
            named[[ctx.snapshot.idcs.row_of[code] for code in codes]] = True
            keep = ctx.take(named if field == "only" else ~named)
            yield Judgement("request", EXCLUDED, keep, lambda _, field=field: {"field": field})  # type: ignore[misc]


def _fallback(ctx: Cycle, profile: Profile) -> tuple[Term, ...]:
    return ctx.request.fallback or profile.fallback


def _ungrouped(ctx: Cycle, profile: Profile) -> Iterator[Judgement]:
    """Yield, where there are fallback groups, the judgement that rejects IDCs in none of them."""
    if terms := _fallback(ctx, profile):
        yield Judgement("request", NO_GROUP, _groups(ctx, terms) >= 0)


def _groups(ctx: Cycle, terms: tuple[Term, ...]) -> Rows:
    """Return the first fallback group of each row: −1 for a row in no group, 0 for all rows without groups."""
    if not terms:
        return np.zeros(ctx.size, dtype=np.intp)
    groups = np.full(ctx.size, -1, dtype=np.intp)
    for index in reversed(range(len(terms))):
        groups[ctx.matching((terms[index],))] = index
    return groups


def _kept_by_all(ctx: Cycle, judgements: list[Judgement]) -> Mask:
    alive: Mask = np.ones(ctx.size, dtype=np.bool_)
    for judgement in judgements:
        alive &= judgement.keep
    return alive


def _replies_or_failures(question: Question) -> Mapping[str, Reply]:
    """Return the replies; for a plugin without one, run `gather` again and let its failure, if any, be the reply."""
    replies = question.replies
    if all(entry.name in replies for entry in question.profile.gatherers):
        return replies
    gathered = _gather(question)
    return {**{failure.plugin: failure for failure in gathered if isinstance(failure, Reply)}, **replies}


def _gather(question: Question) -> Iterator[Query | Reply]:
    """Yield each gathering plugin's query about the survivors of all other plugins, or its failure as a reply."""
    profile = question.profile
    if not profile.gatherers:
        return
    ctx = resolve(replace(question, clock=None))
    judgements = run_filters(ctx, profile, without_entries={entry.name for entry in profile.gatherers})
    survivors = ctx.narrowed(np.flatnonzero(_kept_by_all(ctx, judgements)))
    for entry in profile.gatherers if survivors.size else ():
        try:
            query: object = entry.run(survivors, "gather")
            if query is not None and not (isinstance(query, Query) and query.plugin == entry.name):
                raise TypeError(f"gave {type(query).__name__}, not a Query of {entry.name}")  # noqa: TRY301  # as if it had raised
        except Exception as error:  # noqa: BLE001  # the failure becomes the reply; `on_error` says what it means
            yield Reply(plugin=entry.name, error=f"it failed to ask: {type(error).__name__}: {error}")
        else:
            if query is not None:
                yield query
