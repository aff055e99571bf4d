"""How much Python runs around one recommendation: counted, not timed, so that a regression fails and noise does not."""

import sys
from collections.abc import Callable
from http import HTTPStatus
from types import CodeType, FrameType
from typing import Any

import pytest
from django.test import RequestFactory

from idcsched.accounts.token_use import TokenUse
from idcsched.handler import Handler
from idcsched.scheduling.callers import caller
from idcsched.scheduling.recorder import Recorder
from idcsched.scheduling.schedule import make
from tests.api.conftest import Api

ASKED = '{"request_id": "order-8812", "region": "A", "profile": "seed-example"}'
MOST_CALLS = 310
ELSEWHERE = frozenset(each.__code__ for each in (make, caller, TokenUse.note, Recorder.hand_in))
"""What is counted elsewhere, or asks the database only where no thread does it beforehand."""


class Calls:
    """Counts calls, but for what happens within `ELSEWHERE`."""

    def __init__(self) -> None:
        self.count = 0
        self._inside: list[CodeType] = []

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code in ELSEWHERE:
            self._inside.append(frame.f_code)
        elif event == "return" and self._inside and frame.f_code is self._inside[-1]:
            self._inside.pop()
        elif not self._inside and event in ("call", "c_call"):
            self.count += 1


def answered(handler: Handler, headers: dict[str, Any]) -> int:
    """How many calls lie between Django's request and its response."""
    factory = RequestFactory(**headers)
    request = factory.post("/api/v1/schedule/", ASKED, content_type="application/json")
    calls, before = Calls(), sys.getprofile()
    sys.setprofile(calls)
    try:
        response = handler.get_response(request)
    finally:
        sys.setprofile(before)
    assert response.status_code == HTTPStatus.OK
    return calls.count


@pytest.fixture
def count(seed: Api, portal: Api) -> Callable[..., int]:
    handler = Handler()

    def counted(**headers: str) -> int:
        sent = {**portal.client.defaults, **headers}
        answered(handler, sent)  # what is found out once
        return answered(handler, sent)

    return counted


def test_it_works(count: Callable[..., int]) -> None:
    assert 100 < count() < MOST_CALLS, count()


def test_what_must_be_negotiated_takes_more(count: Callable[..., int]) -> None:
    assert count(HTTP_ACCEPT="application/json, text/plain") > count() + 50
