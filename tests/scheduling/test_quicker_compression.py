"""PostgreSQL compresses the documents of decisions by LZ4, where it was built with it."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("db")]
migration = import_module("idcsched.scheduling.migrations.0001_first_release")
DOCUMENTS = ["request", "answer", "sentences"]


def methods() -> set[str]:
    """The compression methods of the columns of documents: `l` is LZ4, and an empty text is the server's default."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attcompression::text FROM pg_attribute"
            " WHERE attrelid = 'scheduling_decision'::regclass AND attname = ANY (%s)",
            [DOCUMENTS],
        )
        return {method for (method,) in cursor.fetchall()}


def lz4_known() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(migration.LZ4_KNOWN)
        return bool(cursor.fetchone()[0])


def test_it_works() -> None:
    assert methods() == ({"l"} if lz4_known() else {""})


@pytest.mark.parametrize("unknown", ["SELECT FALSE", "SELECT TRUE WHERE FALSE"])
def test_a_server_that_does_not_know_it_is_left_alone(unknown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "LZ4_KNOWN", unknown)
    with connection.schema_editor(collect_sql=True) as editor:
        migration.compress_quickly(apps, editor)
    assert not editor.collected_sql
