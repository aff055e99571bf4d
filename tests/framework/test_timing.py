"""A clock that is passed in measures the plugins' time, and changes nothing in the answer."""

from itertools import count

import msgspec

from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.question import Question
from idcsched.framework.testing import NOW, profile, request, sample_world, snapshot

POLICY = profile("available", "taint", ("load", "resource", {"weight": 1}))


def test_it_works() -> None:
    ticks = count()
    picture = snapshot(sample_world())  # nothing is remembered of it yet: each plugin is asked
    timed = decide(Question(request(picture), picture, POLICY, now=NOW, clock=lambda: float(next(ticks))))

    noted = {(timing.plugin, timing.point) for timing in timed.timings}
    assert {("available", "pre_filter"), ("taint", "filter"), ("load", "filter"), ("load", "score")} <= noted
    assert {timing.seconds for timing in timed.timings} == {1.0}


def test_without_a_clock_nothing_is_measured_and_the_answer_is_the_same() -> None:
    ticks = count()
    picture = snapshot(sample_world())
    plain = decide(Question(request(picture), picture, POLICY, now=NOW))
    timed = decide(Question(request(picture), picture, POLICY, now=NOW, clock=lambda: float(next(ticks))))

    assert plain.timings == ()
    told = [msgspec.json.encode(answer(decision, explain="full")) for decision in (plain, timed)]
    assert told[0] == told[1]
