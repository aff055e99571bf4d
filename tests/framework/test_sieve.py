"""Who is left while one filter judges after the other."""

import numpy as np

from idcsched.framework.decision import Judgement
from idcsched.framework.plugin import Reason
from idcsched.framework.sieve import Sieve

DEAR, FAR = Reason("dear", "too dear", "too dear"), Reason("far", "too far", "too far")


def judgement(keep: str, plugin: str = "p", reason: Reason = DEAR, *, idle: bool = False) -> Judgement:
    return Judgement(plugin, reason, np.array([letter == "y" for letter in keep]), None, idle=idle)


def sieved(*judgements: Judgement) -> Sieve:
    sieve = Sieve(judgements[0].keep.size)
    sieve.add(judgements)
    return sieve


def test_it_works() -> None:
    sieve = sieved(judgement("yyyn"), judgement("nyyn", reason=FAR))
    assert (sieve.alive.tolist(), sieve.count, sieve.left) == ([False, True, True, False], 2, [3, 2])


def test_the_last_of_neighbours_with_one_reason_speaks_for_all() -> None:
    assert sieved(judgement("yyyn"), judgement("nyyy"), judgement("yyny", reason=FAR)).left[1:] == [2, 1]


def test_who_rejects_nobody_may_be_the_last_of_them() -> None:
    assert sieved(judgement("yyyn"), judgement("yyyy", idle=True), judgement("nyyy", reason=FAR)).left[1:] == [3, 2]


def test_the_same_reason_of_another_plugin_is_another() -> None:
    assert sieved(judgement("yyyn", "p"), judgement("nyyy", "q")).left == [3, 2]


def test_neighbours_that_come_in_two_parts_are_counted_at_the_end_of_each() -> None:
    sieve = sieved(judgement("yyyn"))
    sieve.add([judgement("nyyy")])
    assert sieve.left == [3, 2]


def test_what_is_remembered_of_one_is_not_bent_by_who_goes_on_from_there() -> None:
    begun = sieved(judgement("yyyn"))
    gone_on = begun.copy()
    gone_on.add([judgement("nyyy", reason=FAR)])
    assert (begun.alive.tolist(), begun.count, begun.left, len(begun.judgements())) == ([True] * 3 + [False], 3, [3], 1)
    assert (gone_on.count, gone_on.left) == (2, [3, 2])
