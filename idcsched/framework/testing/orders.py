"""Whether a plugin says rightly what orders do to its word: `unmoved`, `needs` and `score_again`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.facts import World
from idcsched.framework.normalize import Floats, Scale
from idcsched.framework.overlaying import laid_over
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import Profile
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.spreading import Solution, solution_answer, solve, tenancies_of
from idcsched.framework.succession import Repeated, Succession

from .builders import NOW, profile, request, snapshot

__all__ = ["told_otherwise"]

ROUNDS = 10
"""So often everybody orders: the first time nothing is known of the question, the second it is opened."""
_SMALL = {"isp": "ct", "machines": [{"bandwidth_mbps": 100, "cpu": 8}]}
"""What the sample worlds have room for a few times."""


class _Apart(Plugin):
    """Tells IDCs apart, so that those that stand level with the plugin need not be decided afresh."""

    name = "apart"
    scale = Scale(kind="fixed", low=-1e4, high=0.0)
    reads = {"score": ()}
    unmoved = ("score",)

    def score(self, ctx: Cycle) -> Floats:
        return -ctx.row_numbers.astype(np.float64)


def told_otherwise(
    plugin: type[Plugin], args: Mapping[str, Any], known: World, questions: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """The questions to which another answer is given where orders came before than where it is decided afresh."""
    weight = {"weight": 10} if plugin.scores() else {}
    judging, apart = (plugin.name, plugin.name, {"args": dict(args), **weight}), ("apart", "apart", {"weight": 1})
    # As beside a filter by bandwidth: else the need might choose the line, of which single IDCs can tell nothing.
    policy = replace(profile(judging, apart, plugins=[plugin, _Apart]), unknown_lines="reject")
    picture = snapshot(known)
    succession, asked = Succession(picture, [policy]), [_SMALL, *questions]
    for number, fields in enumerate(asked * ROUNDS):
        question = request(picture, **{**fields, "explain": "none", "request_id": f"order-{number}"})
        after = _after_orders(succession, question, policy)
        afresh = solve(question, picture, policy, now=NOW, labels=_labels(question))
        if after != msgspec.json.encode(solution_answer(afresh, explain="none")):
            yield f"{dict(fields)}, number {number}"
        picture = _taken(afresh, succession, picture)


def _after_orders(succession: Succession, question: Request, policy: Profile) -> bytes:
    found = succession.solve(question, policy, now=NOW, labels=_labels(question))
    return msgspec.json.encode(
        found.found.answer if isinstance(found, Repeated) else solution_answer(found, explain="none")
    )


def _labels(question: Request) -> dict[str, str]:
    return {**(question.labels or {}), **({"tenant": question.tenant} if question.tenant else {})}


def _taken(solution: Solution, succession: Succession, picture: Snapshot) -> Snapshot:
    """The picture with what the solution takes in it; the succession knows of it, too."""
    taken = tenancies_of(solution, tenant="acme", business="live")
    succession.take(taken)
    return laid_over(picture, taken)
