"""Decisions made again: on their recorded inputs or on present data, with other weights or another profile.

On recorded inputs no outside service is called: its replies are among the inputs. Another profile uses these replies
where an entry of the same name asks the same question; to any other question there is no reply.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, overload
from uuid import UUID

import msgspec

from idcsched.framework.answer import Answer, Candidate, Rejected, Stale
from idcsched.framework.cycle import decide, queries
from idcsched.framework.decision import Decision as Outcome
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, Invalid
from idcsched.framework.explain import ListName, page_of_list
from idcsched.framework.external import Query, Reply
from idcsched.framework.hypothetical import suppose
from idcsched.framework.messages import _
from idcsched.framework.profile import Profile as Policy
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.question import Question
from idcsched.framework.recording import Inputs, unpack
from idcsched.framework.request import Hypothetical
from idcsched.framework.rules import VERSION, changes_since
from idcsched.framework.spreading import Solution, first_share, solution_answer, solve
from idcsched.language.wording import say
from idcsched.outbound.asking import ask

from .deciding import OVER_QUOTA, refused_by_quota
from .live import live
from .models import Decision, Picture, ProfileRevision
from .plugins import registry
from .sentences import Notebook, read, read_struct

__all__ = [
    "Explanation",
    "Replayed",
    "answer_again",
    "decided_then",
    "policy_of",
    "recorded_inputs",
    "replay",
    "replay_ranked",
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
    return replay_ranked(decision=decision, most=0, weights=weights, profile=profile, data=data)[0]


def replay_ranked(
    *,
    decision: Decision,
    most: int,
    weights: Mapping[str, float] | None = None,
    profile: str | None = None,
    data: Data = "then",
) -> tuple[Replayed, Sequence[Candidate]]:
    """Answer a recorded question again as `replay` does; return with that the first `most` candidates in full."""
    inputs = recorded_inputs(decision)
    if weights is not None:
        inputs = replace(inputs, request=msgspec.structs.replace(inputs.request, weights=dict(weights)))
    policy = policy_of(decision.profile, decision.profile_revision) if profile is None else _active_policy(profile)
    notebook = Notebook()
    solution = _solved_again(inputs, policy, data, same_policy=profile is None)
    again = _answer(solution, inputs, notebook)
    if data == "then" and decision.reason_code == OVER_QUOTA:
        again = refused_by_quota(again, _quotas_reason(decision, notebook), notebook.say)
    fields = msgspec.json.decode(msgspec.json.encode(again))  # as the record holds them
    replayed = Replayed(
        decision_id=str(decision.id),
        then=read(decision.answer, decision.sentences),
        again=read_struct(again, notebook),
        profile=policy.code,
        revision=policy.revision,
        same_idc=(again.idc.code if again.idc else "") == decision.idc,
        identical=_same({name: decision.answer[name] for name in fields if name in decision.answer}, fields),
        rules=_rules(inputs.rules),
    )
    _count, candidates = page_of_list(solution.decision, "candidates", start=0, stop=most, say=say)
    return replayed, [each for each in candidates if isinstance(each, Candidate)]


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
    policy = policy_of(decision.profile, decision.profile_revision)
    return decide(first_share(recorded_inputs(decision).question(policy)))


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
    solution = _solved_again(inputs, policy, data, same_policy=same_policy, what_if=what_if)
    return solution_answer(solution, explain="none") if notebook is None else _answer(solution, inputs, notebook)


def _answer(solution: Solution, inputs: Inputs, notebook: Notebook) -> Answer:
    """Return the answer as the recorded request wants it explained."""
    request = inputs.request
    return solution_answer(solution, explain=request.explain or "summary", top=request.top or 5, say=notebook.say)


def _solved_again(
    inputs: Inputs, policy: Policy, data: Data, *, same_policy: bool, what_if: Hypothetical | None = None
) -> Solution:
    if data == "then":
        question = inputs.question(policy)
    else:
        question = Question(
            inputs.request,
            live.current().snapshot,
            policy,
            now=time.time(),
            reference=inputs.reference,
            labels=inputs.labels,
        )
    if what_if is not None:
        question = msgspec.structs.replace(question, snapshot=suppose(question.snapshot, what_if, now=question.now))
    if data == "now" or not same_policy:
        asked = queries(first_share(question))
        replies = ask(asked) if data == "now" else _recorded_replies(inputs, asked)
        question = msgspec.structs.replace(question, replies=replies)
    return solve(question)


def _recorded_replies(inputs: Inputs, asked: Iterable[Query]) -> dict[str, Reply]:
    """Return the recorded replies to the same queries; raises Conflict if one of them was not asked then."""
    known = {(reply.plugin, reply.asked): reply for reply in inputs.replies}
    replies = {query.plugin: known.get((query.plugin, query.fingerprint)) for query in asked}
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
