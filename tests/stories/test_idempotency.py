"""A portal that asks again with the same `Idempotency-Key` gets the first answer again, and one placement."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Answer, Caller, Product, until

REPLAYED = "idempotent-replayed"
"""As the server writes the header `Idempotent-Replayed`: all in lower case, like the others."""
AT_ONCE = 8
"""Requests at the same time through each web process."""


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def test_the_other_web_process_answers_again(fleet: Fleet) -> None:
    key = str(uuid4())
    first = ask(fleet.first, fleet.order(300), key)
    assert first.status == 201
    assert REPLAYED not in first.headers
    for caller in reversed(fleet.callers):
        again = ask(caller, fleet.order(300), key)
        assert (again.status, again.headers[REPLAYED], again.body) == (201, "true", first.body)
        assert again.headers["location"] == first.headers["location"]
    assert [each["id"] for each in fleet.placements(fleet.other)] == [first.body["id"]]
    fleet.sees_everywhere(300, 0)


def test_many_at_the_same_time_get_one_placement(fleet: Fleet, crowd: list[Caller]) -> None:
    """Requests that come while the first is in progress are told to wait, and are sent again as `Retry-After` says."""
    key, start = str(uuid4()), Barrier(len(crowd))

    def work(caller: Caller) -> Answer:
        start.wait()
        return ask_until_answered(caller, fleet.order(300), key)

    with ThreadPoolExecutor(len(crowd)) as threads:
        answers = list(threads.map(work, crowd))
    assert {answer.status for answer in answers} == {201}
    assert [answer.body for answer in answers] == [answers[0].body] * len(answers)
    assert sorted(answer.headers.get(REPLAYED, "") for answer in answers) == ["", *["true"] * (len(answers) - 1)]
    for caller in fleet.callers:
        assert [each["id"] for each in fleet.placements(caller)] == [answers[0].body["id"]]
    fleet.sees_everywhere(300, 0)


def test_a_batch_is_answered_again(fleet: Fleet) -> None:
    key, body = str(uuid4()), {"requests": [fleet.order(300), fleet.order(800)], "mode": "gang"}
    first = ask(fleet.first, body, key, path="/schedule/batch/")
    again = ask(fleet.other, body, key, path="/schedule/batch/")
    assert (first.status, again.status, again.headers[REPLAYED]) == (200, 200, "true")
    assert again.body == first.body
    fleet.sees_everywhere(300, 800)


def test_the_key_of_another_order_is_refused(fleet: Fleet) -> None:
    key = str(uuid4())
    assert ask(fleet.first, fleet.order(300), key).status == 201
    refused = ask(fleet.other, fleet.order(301), key)
    assert (refused.status, refused.body["code"]) == (422, "idempotency_key_reused")
    fleet.sees_everywhere(300, 0)


def test_another_key_is_another_order(fleet: Fleet) -> None:
    answers = [ask(caller, fleet.order(300), str(uuid4())) for caller in (fleet.first, fleet.other)]
    assert [answer.status for answer in answers] == [201, 201]
    assert len({answer.body["id"] for answer in answers}) == 2
    fleet.sees_everywhere(600, 0)


@pytest.fixture
def crowd(product: Product, fleet: Fleet) -> Iterator[list[Caller]]:
    """Callers with a connection each, equally many in each web process."""
    token = str(fleet.first.token)
    yield [caller.as_(token) for _ in range(AT_ONCE) for caller in product.caller_in_each_process()]
    product.close()


def ask(caller: Caller, body: Any, key: str, *, path: str = "/schedule/") -> Answer:
    return caller.ask("POST", path, body, Idempotency_Key=key)


def ask_until_answered(caller: Caller, body: Any, key: str) -> Answer:
    answers: list[Answer] = []

    def answered() -> bool:
        answers.append(ask(caller, body, key))
        if answers[-1].status != 409:
            return True
        assert answers[-1].body["code"] == "idempotency_key_busy"
        assert int(answers[-1].headers["retry-after"]) > 0
        return False

    until(answered, "the answer", seconds=60)
    return answers[-1]
