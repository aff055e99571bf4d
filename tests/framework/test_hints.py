"""Where nothing fits, plugins may say what would have helped."""

from typing import Any

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Note, Plugin
from idcsched.framework.testing import decide_for, profile, world


class Helpful(Plugin):
    name = "helpful"

    def post_filter(self, ctx: Cycle) -> Note | None:
        return Note("{count} IDCs would come back online", {"count": ctx.size})


class Silent(Plugin):
    name = "silent"

    def post_filter(self, ctx: Cycle) -> Note | None:
        return None


class Confused(Plugin):
    name = "confused"

    def post_filter(self, ctx: Cycle) -> Any:
        return "try again"


ENTRIES = ("available", "helpful", "silent")
PLUGINS = (Helpful, Silent, Confused)


def test_it_works() -> None:
    answer = decide_for(world({"a": {"status": "offline"}}), profile(*ENTRIES, plugins=PLUGINS)).answer

    assert [(hint.plugin, hint.hint) for hint in answer.hints or ()] == [("helpful", "1 IDCs would come back online")]


def test_nobody_is_asked_where_something_fits() -> None:
    assert not decide_for(world({"a": {}}), profile(*ENTRIES, plugins=PLUGINS)).answer.hints


def test_a_broken_hint_is_named_and_the_answer_stands() -> None:
    policy = profile("available", "confused", "helpful", plugins=PLUGINS)

    answer = decide_for(world({"a": {"status": "offline"}}), policy).answer

    assert answer.result == "unschedulable"
    assert [(error.plugin, error.point, error.error) for error in answer.plugin_errors] == [
        ("confused", "post_filter", "TypeError: gave str, not Note")
    ]
    assert len(answer.hints or ()) == 1
