"""A thousand requests, each seeing what the ones before it took, beside a thousand single decisions on one picture."""

from collections.abc import Sequence
from functools import partial
from itertools import cycle, islice

import msgspec

from bench.fleet import NOW, default_profile, requests, snapshot_of
from bench.measuring import each
from bench.row import Measure, Row, Sides, Workshop
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.overlaying import laid_over, unmoved_words
from idcsched.framework.request import Request
from idcsched.framework.spreading import solution_answer, solve, tenancies_of

IDCS, REQUESTS = 1000, 1000


def shapes(count: int) -> list[Request]:
    """So many different requests, again and again, each with an id of its own."""
    return [
        msgspec.structs.replace(request, request_id=f"order-{number}")
        for number, request in enumerate(islice(cycle(requests(count)), REQUESTS))
    ]


def batch(asked: Sequence[Request]) -> None:
    """As `schedule/batch/` does it, but for the records and the encoding."""
    picture, profile = snapshot_of(IDCS), default_profile()
    keeping = unmoved_words([profile])
    for request in asked:
        solution = solve(request, picture, profile, now=NOW)
        solution_answer(solution, explain="none")
        picture = laid_over(picture, tenancies_of(solution, tenant="t", business=""), keeping=keeping)


def one(request: Request) -> None:
    answer(decide(request, snapshot_of(IDCS), default_profile(), now=NOW), explain="none")


def beside_single_calls(count: int, _: Workshop) -> Sides:
    asked = shapes(count)
    together = each([partial(batch, asked)], scale=1e6 / REQUESTS)
    return Sides(together, _singly(asked))


def _singly(asked: Sequence[Request]) -> Measure:
    return each([partial(one, request) for request in asked])


ROWS = (
    Row(
        name="batch_10_shapes",
        title="a batch of 1,000 requests of ten shapes over 1,000 IDCs, beside 1,000 single decisions",
        unit="us",
        required=5,
        set_up=partial(beside_single_calls, 10),
    ),
    Row(
        name="batch_distinct",
        title="… no two alike",
        unit="us",
        required=1,
        set_up=partial(beside_single_calls, REQUESTS),
    ),
)
