"""The candidates of a decision in the order in which they are tried, each with the claims of the order on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from idcsched.framework.answer import Bill
from idcsched.framework.bills import bills
from idcsched.framework.capacity import Claim
from idcsched.framework.claiming import claims_of, narrowed_to
from idcsched.framework.context import Cycle
from idcsched.framework.decision import Decision
from idcsched.framework.errors import PluginFailed
from idcsched.framework.plugin import Hold, Rejection
from idcsched.framework.profile import Profile

__all__ = ["Candidate", "candidate_of", "candidates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An IDC that an order may take, with the lines, the claims, and what it adds to the bill, or why that is unknown.

    `refusal`: the code of the reason why a plugin does not permit the order there; `held_back`: why its machines are
    not started yet. `provider`: the code of the IDC's provider, which need not exist.
    """

    idc: str
    provider: str
    rank: int
    lines: tuple[tuple[str, str], ...]
    claims: tuple[Claim, ...]
    bill: Bill | str
    refusal: str = ""
    held_back: str = ""


def candidates(decision: Decision, *, at_most: int) -> Iterator[Candidate]:
    """Yield the picked candidate, then the others by rank."""
    positions: list[int] = decision.ranking.head(at_most + 1)[: at_most + 1].tolist()
    if decision.picked not in positions:  # `pick: near_best` has picked one from further down
        positions = decision.ranking.order.tolist()
    first = positions.index(decision.picked)
    others = (index for index in range(min(at_most + 1, len(positions))) if index != first)
    for index in islice((first, *others), at_most):
        yield candidate_of(narrowed_to(decision, positions[index]), decision.profile, rank=index + 1)


def candidate_of(ctx: Cycle, profile: Profile, *, rank: int) -> Candidate:
    """Return the one IDC of `ctx` as a candidate."""
    refusal, held_back = _permit(ctx, profile)
    lines, row = ctx.snapshot.lines, int(ctx.row_numbers[0])
    return Candidate(
        idc=ctx.snapshot.idcs.codes[row],
        provider=ctx.snapshot.idcs.providers[row],
        rank=rank,
        lines=tuple((lines.codes[line], lines.isps[line]) for line in ctx.lines.of(0)),
        claims=() if refusal else claims_of(ctx, profile),
        bill=bills(ctx, profile)[0],
        refusal=refusal,
        held_back=held_back,
    )


def _permit(ctx: Cycle, profile: Profile) -> tuple[str, str]:
    """Run the profile's Permit plugins; return the code of a refusal, and why the machines are held back."""
    held_back = ""
    for entry in profile.permitters:
        try:
            verdict = entry.run(ctx, "permit")
        except Exception as error:
            raise PluginFailed(entry.name, "permit", f"{type(error).__name__}: {error}") from error
        if isinstance(verdict, Rejection):
            return verdict.reason.code, ""
        if isinstance(verdict, Hold):
            held_back = held_back or verdict.why
    return "", held_back
