"""Plugins that ask an outside service: the questions are known before a decision, the replies are among its inputs."""

from typing import Any

import numpy as np
import pytest

from idcsched.framework.context import Cycle
from idcsched.framework.cycle import queries
from idcsched.framework.errors import Invalid, PluginFailed
from idcsched.framework.external import Query, Reply
from idcsched.framework.plugin import Plugin, Reason, Verdict
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.testing import NOW, Outcome, decide_for, profile, request, snapshot, world

VETOED = Reason("vetoed", "vetoed", "somebody said no")
KNOWN = world({"a": {}, "b": {"status": "offline"}, "c": {}, "d": {"taints": ["k:NoSchedule"]}})


class Asker(Plugin):
    """A plugin that asks a service about all survivors, and rejects those that the reply bans."""

    name = "asker"

    def gather(self, ctx: Cycle) -> Query | None:
        codes = [ctx.snapshot.idcs.codes[row] for row in ctx.row_numbers.tolist()]
        return Query(plugin=ctx.entry, url="https://veto.example/", body={"idcs": codes}, timeout_seconds=1.0)

    def filter(self, ctx: Cycle) -> Verdict | None:
        if ctx.reply is None:
            return None
        if ctx.reply.error is not None:
            raise ConnectionError(ctx.reply.error)
        banned = ctx.reply.document["banned"]
        codes = [ctx.snapshot.idcs.codes[row] for row in ctx.row_numbers.tolist()]
        return Verdict(np.array([code not in banned for code in codes], dtype=np.bool_), VETOED)

    def score(self, ctx: Cycle) -> Any:
        return None if ctx.reply is None else np.full(ctx.size, 1.0)


class Silent(Asker):
    """A plugin that asks no question."""

    name = "silent"

    def gather(self, ctx: Cycle) -> Query | None:
        return None


class Stuttering(Asker):
    """A plugin that raises when it is to ask its question."""

    name = "stuttering"

    def gather(self, ctx: Cycle) -> Query | None:
        raise ZeroDivisionError


PLUGINS = (Asker, Silent, Stuttering)


def policy(*entries: Any) -> Profile:
    return profile("available", *entries, "taint", plugins=PLUGINS)


def asked(rules: Profile, **fields: Any) -> tuple[Query, ...]:
    return queries(Question(request(KNOWN, **fields), snapshot(KNOWN), rules, now=NOW))


def decided(reply: Reply | None, *, on_error: str | None = None) -> Outcome:
    rules = policy(("veto", "asker", {"weight": 1, "on_error": on_error}))
    return decide_for(KNOWN, rules, replies=None if reply is None else {"veto": reply})


def test_it_works() -> None:
    (query,) = asked(policy(("veto", "asker")))
    assert (query.plugin, query.url, query.body) == ("veto", "https://veto.example/", {"idcs": ["a", "c"]})
    outcome = decided(Reply(plugin="veto", document={"banned": ["a"]}))
    assert outcome.winner == "c"
    assert outcome.rejections == {"a": "vetoed", "b": "not_online", "d": "untolerated_taint"}


def test_nobody_is_asked_where_no_plugin_asks() -> None:
    assert asked(policy()) == ()


def test_a_plugin_may_have_nothing_to_ask() -> None:
    assert asked(policy(("silent", "silent"))) == ()


def test_one_that_fails_to_ask_leaves_the_others_asking() -> None:
    assert [query.plugin for query in asked(policy(("s", "stuttering"), ("veto", "asker")))] == ["veto"]


def test_nobody_is_asked_about_nobody() -> None:
    assert asked(policy(("veto", "asker")), exclude=["a", "c"]) == ()


def test_what_a_decision_refuses_is_refused_before_asking() -> None:
    with pytest.raises(Invalid):
        asked(policy(("veto", "asker")), region="mars")


def test_without_a_reply_the_plugin_knows_that_it_was_not_asked() -> None:
    outcome = decided(None)
    assert set(outcome.totals) == {"a", "c"}
    assert outcome.scores("veto") == {}


def test_scorers_read_the_same_reply() -> None:
    assert decided(Reply(plugin="veto", document={"banned": []})).scores("veto")["a"].raw == 1.0


def test_a_reply_that_did_not_come_is_the_profiles_affair() -> None:
    nothing = Reply(plugin="veto", error="timed out")
    with pytest.raises(PluginFailed, match="timed out"):
        decided(nothing)
    outcome = decided(nothing, on_error="skip_filter")
    assert set(outcome.totals) == {"a", "c"}
    assert outcome.answer.plugin_errors[0].error == "ConnectionError: timed out"


def test_a_reply_belongs_to_the_entry_that_asked() -> None:
    rules = policy(("one", "asker"), ("two", "asker"))
    outcome = decide_for(KNOWN, rules, replies={"two": Reply(plugin="two", document={"banned": ["c"]})})
    assert {told.idc: told.plugin for told in outcome.answer.rejected if told.code == "vetoed"} == {"c": "two"}
