"""Decisions made again: on their recorded inputs or on present data, with other weights or another profile.

On recorded inputs no outside service is called: its replies are among the inputs. Another profile uses these replies
where an entry of the same name asks the same question; to any other question there is no reply.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, overload
from uuid import UUID

import msgspec
import numpy as np
from django.conf import settings

from idcsched.accounts.roles import Principal
from idcsched.framework.answer import Answer, Bill, Candidate, IdcBrief, IdcShare, LineUse, Rejected, Stale
from idcsched.framework.bills import bill_on
from idcsched.framework.context import Cycle
from idcsched.framework.cycle import decide, queries
from idcsched.framework.decision import Decision as Outcome
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.framework.explain import ListName, page_of_list
from idcsched.framework.external import Query, Reply
from idcsched.framework.hypothetical import suppose
from idcsched.framework.lines import LinePolicy
from idcsched.framework.messages import _
from idcsched.framework.profile import Profile as Policy
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.recording import Inputs, unpack
from idcsched.framework.request import Hypothetical
from idcsched.framework.rules import VERSION, changes_since
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.spreading import first_share, solution_answer, solve
from idcsched.language.wording import say
from idcsched.outbound.asking import ask

from .live import live
from .models import Decision, Picture, Profile, ProfileRevision
from .plugins import registry
from .profile_checks import profile_check
from .schedule import OVER_QUOTA, refused_by_quota
from .selectors import decisions_visible
from .sentences import Notebook, read, read_struct

__all__ = [
    "Explanation",
    "Moved",
    "Preview",
    "Replayed",
    "answer_again",
    "decided_then",
    "policy_of",
    "preview",
    "recorded_inputs",
    "replay",
]

Data = Literal["then", "now"]
NEWER_FIELDS = frozenset({"bill", "bill_unknown", "worth"})
"""Fields of an answer that older records lack."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The version of the rules that a decision was made by, that of today, and what has changed between them."""

    then: int
    now: int
    changed: tuple[str, ...]


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded answer and the same question answered again by the rules of today, side by side.

    `identical`: every part of the answer that the engine gives is the same.
    """

    decision_id: str
    then: dict[str, Any]
    again: Answer
    profile: str
    revision: int
    same_idc: bool
    identical: bool
    rules: Rules


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """One decision that would have gone elsewhere; null: nothing fitted, or would fit.

    `billed`: what the order added to bills, per month.
    """

    decision_id: str
    request_id: str | None
    idc: str | None
    score: float | None
    billed: float | None
    would_be_idc: str | None
    would_be_score: float | None
    would_be_billed: float | None


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a draft would have changed in the last decisions of a profile that the caller may see.

    `without_inputs` of them could not be examined since their inputs were not kept, `failed` since the draft
    does not know a scorer that the request weighs, one of its plugins raised, or it would ask the outside something
    that was not asked then. `since`: when the oldest of those examined was made.

    `billed` and `would_be_billed` are what the examined orders added, and would have added, to the bills of a month in
    `currency`: each order alone, by what its lines carried in the 30 days before. A backtest computes what they make of
    it together.
    """

    examined: int
    since: datetime | None
    without_inputs: int
    failed: int
    billed: float
    would_be_billed: float
    currency: str
    changed: tuple[Moved, ...]


def replay(
    *,
    decision: Decision,
    weights: Mapping[str, float] | None = None,
    profile: str | None = None,
    data: Data = "then",
) -> Replayed:
    """Answer a recorded question again; raises Conflict `inputs_not_kept`, Invalid.

    `inputs_not_kept` is raised, too, where another profile would ask an outside service a new question.
    """
    inputs = recorded_inputs(decision)
    if weights is not None:
        inputs = replace(inputs, request=msgspec.structs.replace(inputs.request, weights=dict(weights)))
    policy = policy_of(decision.profile, decision.profile_revision) if profile is None else _active_policy(profile)
    notebook = Notebook()
    again = answer_again(inputs, policy, data, notebook, same_policy=profile is None)
    if data == "then" and decision.reason_code == OVER_QUOTA:
        again = refused_by_quota(again, _quotas_reason(decision, notebook), notebook.say)
    fields = msgspec.json.decode(msgspec.json.encode(again))  # as the record holds them
    return Replayed(
        decision_id=str(decision.id),
        then=read(decision.answer, decision.sentences),
        again=read_struct(again, notebook),
        profile=policy.code,
        revision=policy.revision,
        same_idc=(again.idc.code if again.idc else "") == decision.idc,
        identical=_same({name: decision.answer[name] for name in fields if name in decision.answer}, fields),
        rules=_rules(inputs.rules),
    )


def _same(then: Any, again: Any) -> bool:
    """Return whether two parts of an answer are the same, apart from fields that the older record did not have yet."""
    match then, again:
        case dict(), dict():
            names = then.keys() | (again.keys() - NEWER_FIELDS)
            return all(name in then and name in again and _same(then[name], again[name]) for name in names)
        case list(), list():
            return len(then) == len(again) and all(map(_same, then, again))
    return bool(then == again)


def _rules(then: int) -> Rules:
    return Rules(then=then, now=VERSION, changed=tuple(say(change.sentence, {}) for change in changes_since(then)))


class Explanation(Sequence[Candidate | Rejected | Stale]):
    """One list of a decision's full explanation, computed part by part from the recorded inputs.

    Raises Conflict `inputs_not_kept`.
    """

    def __init__(self, decision: Decision, name: ListName) -> None:
        self._decided, self._name = decided_then(decision), name

    def __len__(self) -> int:
        return page_of_list(self._decided, self._name, start=0, stop=0)[0]

    @overload
    def __getitem__(self, part: int) -> Candidate | Rejected | Stale: ...
    @overload
    def __getitem__(self, part: slice) -> Sequence[Candidate | Rejected | Stale]: ...
    def __getitem__(self, part: int | slice) -> Any:
        if isinstance(part, slice):
            start, stop, _ = part.indices(len(self))
            return page_of_list(self._decided, self._name, start=start, stop=stop, say=say)[1]
        return self[part : part + 1][0]


def _quotas_reason(decision: Decision, notebook: Notebook) -> str:
    """Return the recorded refusal by the tenant's quota, in English, and note its template in `notebook`."""
    sentences: dict[str, Any] = decision.sentences
    reason = str(sentences[decision.answer["summary"]][1]["part"])
    notebook.note(reason, *sentences[reason])
    return reason


def preview(*, profile: Profile, body: Mapping[str, Any], last: int, principal: Principal) -> Preview:
    """Decide the last decisions of a profile that the principal may see again under a draft.

    Raises Invalid as saving the draft would. Hypothetical decisions are left out, and those that a quota refused, which
    no profile would have changed.
    """
    draft = profile_check(profile.code, body)
    visible = decisions_visible(principal)
    not_hypothetical = visible.filter(profile=profile.code, request__hypothetical__isnull=True)
    decisions = not_hypothetical.exclude(reason_code=OVER_QUOTA).order_by("-id")[:last]
    changed, examined, without_inputs, failed = [], 0, 0, 0
    since: datetime | None = None
    billed = would_be_billed = 0.0
    for decision in decisions.iterator(chunk_size=100):
        if decision.inputs is None:
            without_inputs += 1
            continue
        inputs = recorded_inputs(decision)
        try:
            again = answer_again(inputs, draft, "then")
        except IdcschedError:
            failed += 1
            continue
        examined += 1
        since = decision.created_at
        moved = _moved(decision, again, inputs)
        billed, would_be_billed = billed + (moved.billed or 0.0), would_be_billed + (moved.would_be_billed or 0.0)
        if moved.idc != moved.would_be_idc:
            changed.append(moved)
    return Preview(
        examined=examined,
        since=since,
        without_inputs=without_inputs,
        failed=failed,
        billed=round(billed, 2),
        would_be_billed=round(would_be_billed, 2),
        currency=settings.CURRENCY,
        changed=tuple(changed),
    )


def recorded_inputs(decision: Decision) -> Inputs:
    """Return what the decision was made on; raises Conflict `inputs_not_kept`."""
    if decision.inputs is None:
        raise Conflict("inputs_not_kept", _("what this decision was made on was not kept"))
    return unpack(bytes(decision.inputs), _picture(decision.picture_id), _picture(decision.history_id))


@lru_cache(maxsize=8)
def _picture(key: UUID | None) -> bytes | None:
    """Return a packed picture, cached since successive decisions share one; a picture never changes."""
    return None if key is None else bytes(Picture.objects.values_list("data", flat=True).get(pk=key))


def decided_then(decision: Decision) -> Outcome:
    """Decide again on the recorded inputs, as it was decided then; raises Conflict `inputs_not_kept`."""
    inputs, policy = recorded_inputs(decision), policy_of(decision.profile, decision.profile_revision)
    return decide(
        first_share(inputs.request),
        inputs.snapshot(),
        policy,
        now=inputs.now,
        reference=inputs.reference,
        labels=inputs.labels,
        replies=inputs.replies_by_entry(),
    )


def _moved(decision: Decision, again: Answer, inputs: Inputs) -> Moved:
    snapshot = inputs.snapshot()
    then, would_be = convert(decision.answer, _Place), convert(msgspec.to_builtins(again), _Place)
    return Moved(
        decision_id=str(decision.id),
        request_id=decision.request_id or None,
        idc=decision.idc or None,
        score=decision.answer["score"],
        billed=_billed(inputs, snapshot, then.shares()),
        would_be_idc=again.idc.code if again.idc else None,
        would_be_score=again.score,
        would_be_billed=_billed(inputs, snapshot, would_be.shares()),
    )


class _Place(msgspec.Struct):
    """The part of an answer that says where the order would stand: in one IDC, or spread over several."""

    idc: IdcBrief | None = None
    lines: tuple[LineUse, ...] = ()
    idcs: tuple[IdcShare, ...] = ()

    def shares(self) -> Iterator[tuple[str, LineUse]]:
        """Yield each line that the order would use, with its IDC."""
        if self.idcs:
            yield from ((share.idc, line) for share in self.idcs for line in share.lines)
        elif self.idc:
            yield from ((self.idc.code, line) for line in self.lines)


def _billed(inputs: Inputs, snapshot: Snapshot, shares: Iterable[tuple[str, LineUse]]) -> float | None:
    """Return what an order adds to the bills of the lines per month, each by itself; None: none is known."""
    shape, lines = order_shape(inputs.request, inputs.labels, snapshot.shapes), snapshot.lines
    bills = []
    for idc, use in shares:
        if use.bandwidth_mbps:
            line = lines.codes.index(use.line, *lines.first[snapshot.idcs.row_of[idc] :][:2].tolist())
            share = Cycle(
                request=inputs.request,
                snapshot=snapshot,
                now=inputs.now,
                labels=inputs.labels,
                line_policy=LinePolicy(need=use.bandwidth_mbps),
                rows=slice(0, 0),
                shape=shape,
            )
            bills.append(bill_on(share, np.array([line])))
    known = [bill.per_month for bill in bills if isinstance(bill, Bill)]
    return round(sum(known), 2) if known else None


def answer_again(
    inputs: Inputs,
    policy: Policy,
    data: Data,
    notebook: Notebook | None = None,
    *,
    same_policy: bool = False,
    what_if: Hypothetical | None = None,
) -> Answer:
    """Answer the recorded question in English, and note the sentences in `notebook`; without one explain nothing.

    `what_if` is supposed on top of the data.
    """
    request, labels = inputs.request, inputs.labels
    now, snapshot = (inputs.now, inputs.snapshot()) if data == "then" else (time.time(), live.current().snapshot)
    if what_if is not None:
        snapshot = suppose(snapshot, what_if, now=now)
    if data == "then" and same_policy:
        replies = inputs.replies_by_entry()
    else:
        questions = queries(first_share(request), snapshot, policy, now=now, labels=labels)
        replies = ask(questions) if data == "now" else _recorded_replies(inputs, questions)
    solution = solve(request, snapshot, policy, now=now, reference=inputs.reference, labels=labels, replies=replies)
    if notebook is None:
        return solution_answer(solution, explain="none")
    return solution_answer(solution, explain=request.explain or "summary", top=request.top or 5, say=notebook.say)


def _recorded_replies(inputs: Inputs, questions: Iterable[Query]) -> dict[str, Reply]:
    """Return the recorded replies to the same questions; raises Conflict if one of them was not asked then."""
    known = {(reply.plugin, reply.asked): reply for reply in inputs.replies}
    replies = {query.plugin: known.get((query.plugin, query.fingerprint)) for query in questions}
    for entry, reply in replies.items():
        if reply is None:
            raise Conflict("inputs_not_kept", _("what {entry} would ask the outside was not asked then"), entry=entry)
    return {entry: reply for entry, reply in replies.items() if reply is not None}


def policy_of(code: str, number: int) -> Policy:
    """Return a revision of a profile, compiled; raises Conflict `inputs_not_kept` where the revision is gone."""
    revision = ProfileRevision.objects.filter(profile__code=code, number=number).first()
    if revision is None:
        raise Conflict("inputs_not_kept", _("revision {number} of profile {name} is gone"), number=number, name=code)
    return compile_profile(convert(revision.body, ProfileBody), registry(), code=code, revision=number)


def _active_policy(code: str) -> Policy:
    policy = live.catch_up().profiles.get(code)
    if policy is None:
        raise Invalid("unknown_profile", _("there is no profile {profile}"), "/profile", profile=code)
    return policy
