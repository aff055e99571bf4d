"""Old decision records go, a batch at a time; the others stay."""

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from idcsched.scheduling.models import Decision
from idcsched.scheduling.services import decisions_expire
from idcsched.scheduling.tasks import decisions_expire as task

pytestmark = pytest.mark.usefixtures("db")

NOW = timezone.now()


def decision(at: datetime, **fields: str) -> Decision:
    return Decision.objects.create(
        created_at=at,
        profile="p",
        profile_revision=1,
        request={},
        answer={},
        **{"result": "scheduled", "idc": "a", **fields},
    )


def test_it_works() -> None:
    kept = decision(NOW - timedelta(days=29))
    for days in (30, 31, 400):
        decision(NOW - timedelta(days=days, seconds=1))

    assert decisions_expire(before=NOW - timedelta(days=30), batch=2) == 3
    assert list(Decision.objects.all()) == [kept]


def test_the_task_keeps_what_the_settings_say(settings: pytest.FixtureRequest) -> None:
    settings.DECISION_RETENTION = timedelta(days=5)  # type: ignore[attr-defined]
    decision(NOW - timedelta(days=6))

    assert task() == {"expired": 1}
    assert task() == {"expired": 0}, "safe to run twice"


@pytest.mark.parametrize(("result", "idc"), [("scheduled", ""), ("unschedulable", "a")])
def test_an_idc_is_named_iff_something_was_scheduled(result: str, idc: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        decision(NOW, result=result, idc=idc)
