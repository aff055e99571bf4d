"""A recorded answer is read back as it was written, and PostgreSQL keeps its text."""

import pytest
from django.db import connection

from idcsched.scheduling.models import Decision
from tests.api.conftest import Api, recorded

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]


def test_it_works(seed: Api, portal: Api) -> None:
    told = portal.schedule(region="A", profile="seed-example", explain="full")
    kept = recorded(told["decision_id"])
    assert kept.answer == {**told, "commit_token": None}
    assert list(kept.answer) == list(told), "in the order in which it was told"
    assert "3/4 IDCs fit: 1 untolerated taint" in kept.sentences


def test_one_is_changed_and_copied_as_any_other_row(seed: Api, portal: Api) -> None:
    kept = recorded(portal.schedule(region="A")["decision_id"])
    kept.sentences = {}
    kept.save()
    kept.refresh_from_db()
    assert (kept.sentences, kept.answer["result"]) == ({}, "scheduled")
    assert list(Decision.objects.values_list("answer__idc__code", "sentences")) == [(kept.idc, {})]


@pytest.mark.postgresql
def test_postgresql_keeps_the_text() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT data_type FROM information_schema.columns"
            " WHERE table_name = 'scheduling_decision' AND column_name IN ('answer', 'sentences')"
        )
        assert cursor.fetchall() == [("json",)]
