"""What the builders and `check_plugin` do for plugins that ask an outside service."""

from itertools import count
from typing import Any

import numpy as np
import pytest

from idcsched.framework.context import Cycle
from idcsched.framework.external import Query
from idcsched.framework.plugin import Plugin, Reason, Verdict
from idcsched.framework.testing import check_plugin, decide_for, profile, world

VETOED = Reason("vetoed", "vetoed", "somebody said no")
COUNTER = count()


class Veto(Plugin):
    """A plugin that asks an outside service which IDCs are banned, and rejects those."""

    name = "veto"

    def body(self, ctx: Cycle) -> Any:
        return {"idcs": [ctx.snapshot.idcs.codes[row] for row in ctx.row_numbers.tolist()]}

    def gather(self, ctx: Cycle) -> Query | None:
        return Query(plugin=ctx.entry, url="https://veto.example/", body=self.body(ctx), timeout_seconds=1.0)

    def filter(self, ctx: Cycle) -> Verdict | None:
        if ctx.reply is None:
            return None
        if ctx.reply.error:
            raise ConnectionError(ctx.reply.error)
        banned = set(ctx.reply.document)
        codes = [ctx.snapshot.idcs.codes[row] for row in ctx.row_numbers.tolist()]
        return Verdict(np.array([code not in banned for code in codes], dtype=np.bool_), VETOED)


def veto(**methods: Any) -> type[Plugin]:
    return type("Veto", (Veto,), {"__doc__": "A variant.", "__module__": __name__, **methods})


def first(query: Query) -> Any:
    return query.body["idcs"][:1]


def test_it_works() -> None:
    check_plugin(Veto, outside=first)
    outcome = decide_for(world({"a": {}, "b": {}}), profile("veto", plugins=[Veto]), outside=first)
    assert (outcome.winner, outcome.rejections) == ("b", {"a": "vetoed"})


@pytest.mark.parametrize(
    ("methods", "law"),
    [
        pytest.param({"body": lambda _, ctx: {"codes": {object()}}}, "what it asks is JSON", id="no JSON"),
        pytest.param(
            {"body": lambda _, ctx: {"idcs": [], "n": next(COUNTER)}}, "it asks the same", id="another each time"
        ),
        pytest.param({"gather": lambda _, ctx: 1 / 0}, "failed to ask: ZeroDivisionError", id="one that fails to ask"),
        pytest.param({"gather": lambda _, ctx: {"url": "x"}}, "gave dict, not a Query of veto", id="no query"),
        pytest.param(
            {"gather": lambda _, ctx: Query(plugin="me", url="", body={}, timeout_seconds=1)},
            "gave Query, not a Query of veto",
            id="in somebody else's name",
        ),
    ],
)
def test_a_law_that_is_broken(methods: dict[str, Any], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_plugin(veto(**methods), outside=first)


def test_who_asks_must_be_answered() -> None:
    with pytest.raises(AssertionError, match="it asks, so say `outside` what is answered"):
        check_plugin(Veto)
