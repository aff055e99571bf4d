"""One decision, read from top to bottom.

    decide = PreFilter → Filter → fallback group → PreScore → Score → Normalize → rank → Decision

A pure function: the same inputs give the same decision, bit for bit, today and in a replay next year.
Filters give dense masks over the rows in question, which are combined once; scorers see the survivors.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import msgspec
import numpy as np

from .contenders import best_of, scored
from .context import Clock, Cycle
from .decision import Decision, Judgement, PluginError
from .errors import PluginFailed
from .hypothetical import suppose
from .labels import Mask, Rows
from .naming import check_names
from .one_by_one import visit as visit_one_by_one
from .outside import Query, Reply
from .plugin import Note, Reason, Universe, Verdict
from .profile import Entry, Profile
from .ranking import seed_of
from .remembering import Step
from .request import Request
from .sieve import Sieve
from .snapshot import Snapshot
from .thresholds import learn, sifted

__all__ = ["EXCLUDED", "NO_GROUP", "decide", "queries"]

EXCLUDED = Reason("excluded", "excluded by the request", "excluded by the request's `{field}`")
_BYTES_A_ROW = 16  # about what a remembered verdict holds: a mask, and the figures behind it
_STEP, _SIEVE = "step", "sieve"
T = TypeVar("T")
NO_GROUP = Reason("no_group", "in no fallback group", "in none of the fallback groups", ("profile", "labels"))


def decide(
    request: Request,
    snapshot: Snapshot,
    profile: Profile,
    *,
    now: float,
    reference: str = "",
    labels: Mapping[str, str] | None = None,
    replies: Mapping[str, Reply] | None = None,
    clock: Clock | None = None,
) -> Decision:
    """The best IDC for `request`, why it is the best, and why the others are not.

    `reference` seeds what is left to chance where the request has no id of its own; `labels` are the
    request's labels as the server knows them; `replies` are the answers to `queries`, by profile entry. Raises
    Invalid for names that do not exist, PluginFailed where the profile says that a failing plugin fails the decision.
    A `clock` only measures how long plugins take; what is decided does not depend on it.
    """
    errors: list[PluginError] = []
    known = replies or {}
    if profile.gatherers and any(entry.name not in known for entry in profile.gatherers):
        known = {**_failures_to_ask(request, snapshot, profile, now=now, labels=labels), **known}
    ctx = _begun(request, snapshot, profile, errors, now=now, labels=labels, replies=known)
    ctx.clock = clock
    chance = request.request_id or reference
    sieve = _sieved(ctx, errors)
    search = _searched(ctx, sieve, chance, errors)
    everybody = partial(scored, ctx, search.alive, chance, errors)
    all_matter = request.explain == "full" or profile.one_by_one
    few = None if all_matter else best_of(ctx, search.alive, search.feasible, chance, sieve.lasting)
    return Decision(
        cycle=ctx,
        feasible=search.feasible,
        reasons=sieve.reasons,
        left=sieve.left,
        judge=sieve.judgements,
        visited=search.visited,
        groups=search.groups,
        group_index=search.group_index,
        best=few or everybody(),
        score_everybody=everybody,
        hints=() if search.feasible else tuple(_hints(ctx, errors)),
        plugin_errors=tuple(errors),
        timings=tuple(ctx.timings),
    )


def queries(
    request: Request, snapshot: Snapshot, profile: Profile, *, now: float, labels: Mapping[str, str] | None = None
) -> tuple[Query, ...]:
    """What plugins must ask of the outside before `decide`, about the survivors of the vectorised filters.

    Raises what `decide` raises. A plugin that fails to ask finds its failure in `decide`, as a reply.
    """
    gathered = _gathered(request, snapshot, profile, now=now, labels=labels)
    return tuple(found for found in gathered if isinstance(found, Query))


def _failures_to_ask(
    request: Request, snapshot: Snapshot, profile: Profile, *, now: float, labels: Mapping[str, str] | None
) -> dict[str, Reply]:
    """What plugins find instead of a reply that raised when they should have asked."""
    gathered = _gathered(request, snapshot, profile, now=now, labels=labels)
    return {found.plugin: found for found in gathered if isinstance(found, Reply)}


def _gathered(
    request: Request, snapshot: Snapshot, profile: Profile, *, now: float, labels: Mapping[str, str] | None
) -> Iterator[Query | Reply]:
    """Each plugin's query about the survivors of those that need not ask, or why it has none."""
    if not profile.gatherers:
        return
    errors: list[PluginError] = []
    ctx = _begun(request, snapshot, profile, errors, now=now, labels=labels, replies={})
    asking = {entry.name for entry in profile.gatherers}
    survivors = ctx.narrowed(np.flatnonzero(_judged(ctx, errors, without=asking).alive))
    for entry in profile.gatherers if survivors.size else ():
        if (found := _query(survivors, entry)) is not None:
            yield found


def _query(ctx: Cycle, entry: Entry) -> Query | Reply | None:
    ctx.entry = entry
    try:
        return _checked_query(entry.plugin.gather(ctx), entry)
    except Exception as error:  # noqa: BLE001  # the profile says what it means, where the reply is needed
        return Reply(plugin=entry.name, error=f"it failed to ask: {type(error).__name__}: {error}")


def _checked_query(query: object, entry: Entry) -> Query | None:
    if query is None or (isinstance(query, Query) and query.plugin == entry.name):
        return query
    raise TypeError(f"gave {type(query).__name__}, not a Query of {entry.name}")


def _begun(
    request: Request,
    snapshot: Snapshot,
    profile: Profile,
    errors: list[PluginError],
    *,
    now: float,
    labels: Mapping[str, str] | None,
    replies: Mapping[str, Reply],
) -> Cycle:
    """The cycle with the rows that the request is about; raises Invalid for names that do not exist."""
    if request.hypothetical is not None:
        snapshot = suppose(snapshot, request.hypothetical, now=now)
    check_names(request, snapshot, profile)
    known_labels = labels or request.labels or {}
    ctx = Cycle(request, snapshot, profile, now=now, rows=slice(0, snapshot.size), labels=known_labels)
    ctx.settle(_universe(ctx, errors))
    ctx.replies = replies
    return ctx


def _universe(ctx: Cycle, errors: list[PluginError]) -> slice | Rows:
    """The rows that the request is about: what a narrowing plugin says, else its `only` list."""
    for entry in ctx.profile.narrowing:
        found = _call_filter(ctx, entry, "pre_filter", errors)
        if isinstance(found, Universe):
            return found.rows()
    row_of = ctx.snapshot.idcs.row_of
    return np.array(sorted({row_of[code] for code in ctx.request.only or ()}), dtype=np.intp)


def _sieved(ctx: Cycle, errors: list[PluginError]) -> Sieve:
    """What the vectorised filters come to; from the third time on they are not asked where they go by need."""
    plain = ctx.profile.by_need and ctx.request.explain != "full" and not _names_somebody(ctx)
    if not (plain and ctx.asked_again("by need")):
        return _judged(ctx, errors)
    known = sifted(ctx, partial(_judged_after_all, ctx))
    if known is not None:
        return known
    noted, failed = len(ctx.notes), len(errors)
    sieve = _judged(ctx, errors)
    if len(errors) == failed:
        learn(ctx, sieve.reasons, ctx.notes[noted:])
    return sieve


def _judged_after_all(ctx: Cycle) -> Sequence[Judgement]:
    """What filters would have said; all else is told of the decision already."""
    noted, timed = len(ctx.notes), len(ctx.timings)
    try:
        return _judged(ctx, []).reasons
    finally:
        del ctx.notes[noted:], ctx.timings[timed:]


def _judged(ctx: Cycle, errors: list[PluginError], without: AbstractSet[str] = frozenset()) -> Sieve:
    """Every vectorised filter's word, in the order in which rejections are counted."""
    steps, named = ctx.profile.steps, list(_named(ctx))
    if not named and steps and steps[0].reads is not None and not without:
        sieve, steps = _recalled(ctx, steps[0], _SIEVE, _begun_sieve, errors).copy(), steps[1:]
    else:
        sieve = Sieve(ctx.size)
        sieve.add(named)
    for step in steps:
        if step.reads is None or without:
            sieve.add(_step(ctx, step, errors, without))
        else:
            sieve.add(_recalled(ctx, step, _STEP, _remembered_step, errors))
    return sieve


def _recalled(ctx: Cycle, step: Step, what: str, judge: Callable[..., T], errors: list[PluginError]) -> T:
    """What remembered filters have come to."""
    known = ctx.at_hand(step.token, what)
    if known is not None and not known[1]:
        found: T = known[0]
        return found
    size = _BYTES_A_ROW * ctx.size
    return ctx.recalled(step.token, what, step.reads, partial(judge, ctx, step, errors), size=size, errors=errors)


def _begun_sieve(ctx: Cycle, step: Step, errors: list[PluginError]) -> Sieve:
    """Who is left after the first filters need not be worked out again where it is remembered of all of them."""
    sieve = Sieve(ctx.size)
    sieve.add(_remembered_step(ctx, step, errors))
    return sieve


def _step(ctx: Cycle, step: Step, errors: list[PluginError], without: AbstractSet[str]) -> list[Judgement]:
    return [
        Judgement(entry.name, verdict.reason, verdict.keep, verdict.detail, verdict.figures)
        for point, entry in step.entries
        if entry.name not in without
        for verdict in _call_filter(ctx, entry, point, errors) or ()
    ]


def _remembered_step(ctx: Cycle, step: Step, errors: list[PluginError]) -> list[Judgement]:
    """What is to be remembered is worth a look at who rejects anybody at all."""
    found = _step(ctx, step, errors, frozenset())
    return [msgspec.structs.replace(judgement, idle=bool(judgement.keep.all()), lasting=True) for judgement in found]


def _named(ctx: Cycle) -> Iterable[Judgement]:
    """What the request itself keeps out, before all else."""
    return chain(_request_lists(ctx), _grouped(ctx)) if _names_somebody(ctx) else ()


def _names_somebody(ctx: Cycle) -> bool:
    return bool(ctx.request.only is not None or ctx.request.exclude is not None or _fallback(ctx))


def _request_lists(ctx: Cycle) -> Iterator[Judgement]:
    """`only` and `exclude`."""
    for field, codes in (("only", ctx.request.only), ("exclude", ctx.request.exclude)):
        if codes is None:
            continue
        named = np.zeros(ctx.snapshot.size, dtype=np.bool_)
        named[[ctx.snapshot.idcs.row_of[code] for code in codes]] = True
        keep = ctx.take(named if field == "only" else ~named)
        yield Judgement("request", EXCLUDED, keep, lambda _, field=field: {"field": field})  # type: ignore[misc]


def _grouped(ctx: Cycle) -> Iterator[Judgement]:
    """Where there are fallback groups, nobody is taken who is in none."""
    if _fallback(ctx):
        yield Judgement("request", NO_GROUP, _groups(ctx) >= 0, None)


def _call_filter(ctx: Cycle, entry: Entry, point: str, errors: list[PluginError]) -> Any:
    """The plugin's word on all rows, checked, its verdicts as a tuple; what is remembered need not be asked again."""
    reads = entry.plugin.reads.get(point)
    try:
        if reads is None:
            return _asked(ctx, entry, point)
        ask = partial(_asked, ctx, entry, point)
        return ctx.recalled(entry.token, point, reads, ask, size=_BYTES_A_ROW * ctx.size)
    except Exception as error:
        if entry.on_error_filter == "fail":
            raise PluginFailed(entry.name, point, f"{type(error).__name__}: {error}") from error
        errors.append(PluginError(entry.name, point, f"{type(error).__name__}: {error}"))
        return None


def _asked(ctx: Cycle, entry: Entry, point: str) -> Universe | tuple[Verdict, ...]:
    """Anything but what the point calls for, a bare mask say, must not pass for "keep all"."""
    found: object = ctx.at_work(entry, point, getattr(entry.plugin, point))
    if entry.plugin.narrows and point == "pre_filter":
        if found is None or isinstance(found, Universe):
            return found or ()
        raise TypeError(f"gave {type(found).__name__}, not Universe")
    verdicts = (found,) if isinstance(found, Verdict) else () if found is None else found
    if not isinstance(verdicts, tuple):
        raise TypeError(f"gave {type(found).__name__}, not Verdict")
    _check_masks(verdicts, ctx.size)
    return verdicts


def _check_masks(verdicts: tuple[Verdict, ...], size: int) -> None:
    for verdict in verdicts:
        keep = verdict.keep
        if keep.dtype.char != "?" or keep.shape != (size,):
            raise ValueError(f"gave a mask of {keep.dtype}{keep.shape} for {size} rows")


class _Search(msgspec.Struct):
    """Of those whom no vectorised filter rejects, who is left when no more are looked at than need be.

    `visited`: who was looked at; None: everybody was.
    """

    alive: Mask
    feasible: int
    visited: Mask | None = None
    groups: Rows | None = None
    group_index: int = 0


def _searched(ctx: Cycle, sieve: Sieve, chance: str, errors: list[PluginError]) -> _Search:
    """Group by group, as far as there are any, and one by one where a plugin thinks so."""
    if not ctx.profile.one_by_one and not _fallback(ctx):
        return _Search(sieve.alive, sieve.count)
    groups = _groups(ctx)
    if ctx.profile.one_by_one:
        visit = visit_one_by_one(ctx, sieve.alive, groups, seed_of(chance), errors)
        sieve.add(tuple(visit.judgements()))
        alive, visited = visit.passed & visit.visited, visit.visited
    else:
        visited = _visited(sieve.alive, groups)
        alive = sieve.alive & visited
    return _Search(alive, int(np.count_nonzero(alive)), visited, groups, _winning_group(ctx, alive, groups))


def _fallback(ctx: Cycle) -> tuple[Any, ...]:
    return ctx.request.fallback or ctx.profile.fallback


def _groups(ctx: Cycle) -> Rows:
    """The first fallback group of each row: 0 everywhere without groups, −1 where no group takes it."""
    terms = _fallback(ctx)
    if not terms:
        return np.zeros(ctx.size, dtype=np.int8)
    found = np.full(ctx.size, -1, dtype=np.intp)
    for index in range(len(terms) - 1, -1, -1):
        found[ctx.matching((terms[index],))] = index
    return found


def _hints(ctx: Cycle, errors: list[PluginError]) -> Iterator[tuple[str, Note]]:
    """What plugins say would have helped. One that fails to say is named; the answer stands without its hint."""
    for entry in ctx.profile.post_filters:
        try:
            note = ctx.at_work(entry, "post_filter", entry.plugin.post_filter)
            if note is not None:
                yield entry.name, _checked_note(note)
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; it is named in the answer
            errors.append(PluginError(entry.name, "post_filter", f"{type(error).__name__}: {error}"))


def _checked_note(note: object) -> Note:
    if not isinstance(note, Note):
        raise TypeError(f"gave {type(note).__name__}, not Note")
    return note


def _visited(alive: Mask, groups: Rows) -> Mask:
    """Group by group, the first with a survivor wins; later groups are not visited. No survivor: all were."""
    held = groups[alive]
    visited: Mask = groups <= (held.min() if held.size else groups.max(initial=0))
    return visited


def _winning_group(ctx: Cycle, alive: Mask, groups: Rows) -> int:
    """The group of the survivors; without any, the last that there is."""
    terms = _fallback(ctx)
    if not terms:
        return 0
    held = groups[alive]
    return int(held.min()) if held.size else len(terms) - 1
