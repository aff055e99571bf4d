"""PostgreSQL keeps answers as they were written: a decision is read as it was told, whatever its form in the table."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from idcsched.scheduling.models import Decision
from tests.api.conftest import Api, recorded

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]
migration = import_module("idcsched.scheduling.migrations.0007_documents_as_written")


def kinds() -> set[str]:
    """Of the columns' types."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT atttypid::regtype::text, attcompression::text FROM pg_attribute"
            " WHERE attrelid = 'scheduling_decision'::regclass AND attname = ANY (%s)",
            [list(migration.DOCUMENTS)],
        )
        found = set(cursor.fetchall())
    assert len({compression for _, compression in found}) == 1, "one is compressed as the other"
    return {kind for kind, _ in found}


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
def test_what_was_kept_in_pieces_becomes_a_text_and_back(seed: Api, portal: Api) -> None:
    told = portal.schedule(region="A", explain="full")
    decision = recorded(told["decision_id"])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table is not changed that a transaction is not done with
    assert kinds() == {"json"}
    for change, kind in ((migration.keep_in_pieces, "jsonb"), (migration.keep_as_written, "json")):
        with connection.schema_editor() as editor:
            change(apps, editor)
        assert kinds() == {kind}
        found = Decision.objects.get(pk=decision.pk)
        assert (found.answer, found.sentences) == (decision.answer, decision.sentences)
