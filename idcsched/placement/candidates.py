"""The candidates of a decision in the order in which they are tried, each with what it would have to give."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from idcsched.framework.capacity import Claim
from idcsched.framework.claiming import claims_of, picked
from idcsched.framework.context import Cycle
from idcsched.framework.decision import Decision
from idcsched.framework.errors import PluginFailed
from idcsched.framework.plugin import Hold, Rejection
from idcsched.framework.profile import Profile

__all__ = ["Candidate", "candidate_of", "candidates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`refusal`: the code of the reason why a plugin does not permit it; `held_back`: why nothing is started yet.

    `provider`: the code of the IDC's, which may be of none that there is.
    """

    idc: str
    provider: str
    rank: int
    lines: tuple[tuple[str, str], ...]
    claims: tuple[Claim, ...]
    refusal: str = ""
    held_back: str = ""


def candidates(decision: Decision, *, at_most: int) -> Iterator[Candidate]:
    """The one that was picked, then the others by rank."""
    order: list[int] = decision.ranking.head(at_most + 1)[: at_most + 1].tolist()
    if decision.picked not in order:  # near the best, and further down
        order = decision.ranking.order.tolist()
    first = order.index(decision.picked)
    others = (place for place in range(min(at_most + 1, len(order))) if place != first)
    for place in islice((first, *others), at_most):
        yield candidate_of(picked(decision, order[place]), decision.profile, rank=place + 1)


def candidate_of(ctx: Cycle, profile: Profile, *, rank: int) -> Candidate:
    """The one IDC of `ctx`."""
    refusal, held_back = _permitted(ctx, profile)
    lines, row = ctx.snapshot.lines, int(ctx.row_numbers[0])
    return Candidate(
        idc=ctx.snapshot.idcs.codes[row],
        provider=ctx.snapshot.idcs.providers[row],
        rank=rank,
        lines=tuple((lines.codes[line], lines.isps[line]) for line in ctx.lines.of(0)),
        claims=() if refusal else claims_of(ctx, profile),
        refusal=refusal,
        held_back=held_back,
    )


def _permitted(ctx: Cycle, profile: Profile) -> tuple[str, str]:
    """What the profile's plugins say: why not at all, and why not yet."""
    held_back = ""
    for entry in profile.permitters:
        try:
            word = entry.run(ctx, "permit")
        except Exception as error:
            raise PluginFailed(entry.name, "permit", f"{type(error).__name__}: {error}") from error
        if isinstance(word, Rejection):
            return word.reason.code, ""
        if isinstance(word, Hold):
            held_back = held_back or word.why
    return "", held_back
