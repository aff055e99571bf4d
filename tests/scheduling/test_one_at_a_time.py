"""The threads of a process work their decisions out one after the other."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from idcsched.framework.question import Question
from idcsched.framework.spreading import Solution
from idcsched.scheduling import deciding
from idcsched.scheduling.deciding import decide_request
from idcsched.scheduling.live import live
from tests.placement.conftest import asked, fleet  # noqa: F401 - a fixture, used by name

pytestmark = pytest.mark.usefixtures("db")


def test_it_works(fleet: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Four threads decide twelve requests: all are answered, and at no time are two threads in the engine."""
    solve: Callable[[Question], Solution] = deciding.solve  # type: ignore[attr-defined]
    inside, at_a_time = list[str](), list[int]()

    def solving(question: Question) -> Solution:
        inside.append("a thread")
        at_a_time.append(len(inside))
        sleep(0.01)
        try:
            return solve(question)
        finally:
            inside.pop()

    def decided(_number: int) -> str:
        made = decide_request(
            request=asked(action=None), tenant="live-cn", actor="portal", http_request_id="1", picture=picture
        )
        return made.scheduled.result

    monkeypatch.setattr(deciding, "solve", solving)
    picture = live.catch_up()
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(decided, range(12))) == {"scheduled"}
    assert at_a_time == [1] * 12
