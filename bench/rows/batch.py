"""A thousand requests, each seeing what the ones before it took, beside a thousand single decisions on one picture."""

from collections.abc import Sequence
from functools import partial
from itertools import cycle, islice

import msgspec

from bench.fleet import NOW, default_profile, requests, snapshot_of
from bench.measuring import each
from bench.row import Row, Sides, Workshop
from bench.rows.engine import decided
from idcsched.framework.batch import Batch
from idcsched.framework.question import Question
from idcsched.framework.request import Request
from idcsched.framework.spreading import allocations_of, solution_answer, solve

IDCS, REQUESTS = 1000, 1000


def shapes(count: int) -> list[Request]:
    """So many different requests, again and again, each with an id of its own."""
    return [
        msgspec.structs.replace(request, request_id=f"order-{number}", explain="none")
        for number, request in enumerate(islice(cycle(requests(count)), REQUESTS))
    ]


def batch(asked: Sequence[Request]) -> None:
    """As `schedule/batch/` does it, but for the records and the encoding."""
    profile, together = default_profile(), Batch(snapshot_of(IDCS))
    for request in asked:
        solution = solve(Question(request, together.snapshot, profile, now=NOW))
        solution_answer(solution, explain="none")
        together.take(allocations_of(solution, tenant="t", business=""))


def beside_single_calls(_: Workshop) -> Sides:
    asked, snapshot = shapes(REQUESTS), snapshot_of(IDCS)
    together = each([partial(batch, asked)], scale=1e6 / REQUESTS)
    return Sides(together, each([partial(decided, snapshot, request, explain="none") for request in asked]))


ROWS = (
    Row(
        name="batch_distinct",
        title="a batch of 1,000 requests over 1,000 IDCs, beside 1,000 single decisions",
        unit="us",
        set_up=beside_single_calls,
    ),
)
