"""Runs of the advice: somebody asks for one, a worker computes it once, and the run keeps what became of it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from idcsched.planning import services
from idcsched.planning.models import AdviceRun, StoredAdvice
from idcsched.planning.selectors import advice_run_open
from idcsched.planning.services import advice_ask, advice_run
from idcsched.planning.tasks import advise, backtests_sweep

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]


def runs() -> list[tuple[str, str]]:
    return list(AdviceRun.objects.order_by("id").values_list("actor", "state"))


def test_it_works() -> None:
    """A run that was asked for is queued, then computed by a worker, and is done afterwards."""
    run = advice_ask(actor="ann")
    assert advice_run_open(timezone.now()) == run
    assert runs() == [("ann", "queued")]
    assert advise(run.pk) == {"moves": 0}
    assert runs() == [("ann", "done")]
    assert advice_run_open(timezone.now()) is None
    assert StoredAdvice.objects.count() == 1


def test_who_asks_while_one_waits_is_given_that_one() -> None:
    assert advice_ask(actor="ann") == advice_ask(actor="bob")
    assert runs() == [("ann", "queued")]
    advice_run()
    assert advice_run_open(timezone.now()) is None, "the night was quicker, and answers both"
    advice_ask(actor="bob")
    assert runs() == [("ann", "queued"), ("", "done"), ("bob", "queued")]


def test_a_second_message_computes_nothing() -> None:
    run = advice_ask(actor="ann")
    for _ in range(2):
        advise(run.pk)
    assert StoredAdvice.objects.count() == 1


def test_why_it_failed_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: Any, **_named: Any) -> None:
        raise ValueError("no such matrix")

    monkeypatch.setattr(services, "advice", broken)
    run = advice_ask(actor="ann")
    with pytest.raises(ValueError, match="matrix"):
        advise(run.pk)
    run.refresh_from_db()
    assert (run.state, run.failure) == ("failed", "ValueError: no such matrix")
    assert advice_run_open(timezone.now()) is None


def test_what_no_message_announced_is_announced_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[Any, ...]] = []
    run = advice_ask(actor="ann")
    monkeypatch.setattr(services, "announce", lambda *message: sent.append(message))
    assert backtests_sweep()["announced"] == 0, "the message may be on its way"
    AdviceRun.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    assert backtests_sweep()["announced"] == 1
    assert sent == [("idcsched.planning.tasks.advise", run.pk)]


def test_a_worker_that_is_gone_holds_nobody_up() -> None:
    run = advice_ask(actor="ann")
    AdviceRun.objects.update(state="running", started_at=timezone.now() - timedelta(minutes=6))
    assert advice_run_open(timezone.now()) is None
    assert backtests_sweep()["ended"] == 1
    run.refresh_from_db()
    assert (run.state, run.failure) == ("failed", "the worker stopped before it was done")
