"""The tests' database: every test commits for real, and finds what the migrations left.

A test that rolled back would see what no other connection sees, and run none of what happens on commit.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.apps import apps
from django.db import connection, transaction

__all__ = ["Pristine", "close_other_connections"]

UNTOUCHED = frozenset({"django_content_type", "auth_permission", "django_migrations"})
"""Tables that no test writes: Django fills them for good when it migrates."""


class Pristine:
    """The rows that every test finds, kept in copies of the tables: those that the migrations left."""

    def __init__(self) -> None:
        self._tables = [table for table in _tables() if table not in UNTOUCHED]
        self._statements = self._copied("pristine")
        self._settings = ["SET LOCAL lock_timeout = '10s'"]
        if connection.vendor == "postgresql" and _is_superuser():
            # What refers to a deleted row is deleted, too: looking for it takes a minute for ten thousand rows.
            self._settings.append("SET LOCAL session_replication_role = replica")

    def restore(self) -> None:
        """Delete what was written, and write anew what every test finds, in one transaction."""
        with transaction.atomic(), connection.cursor() as cursor:
            for statements in self._messages():
                cursor.execute(statements)

    @contextmanager
    def extended(self) -> Iterator[None]:
        """Inside, what was committed before is what every test finds, too; afterwards it is gone."""
        before, self._statements = self._statements, self._copied("extended")
        try:
            yield
        finally:
            self._statements = before
            self.restore()

    def _copied(self, name: str) -> list[str]:
        """What restores the rows that there are now."""
        quoted = connection.ops.quote_name
        statements = [f"DELETE FROM {quoted(table)}" for table in self._tables]
        with connection.cursor() as cursor:
            for table in self._tables:
                cursor.execute(f"SELECT count(*) FROM {quoted(table)}")
                if cursor.fetchone()[0]:
                    copy = quoted(f"{name}_{table}")
                    cursor.execute(f"DROP TABLE IF EXISTS {copy}")
                    cursor.execute(f"CREATE TABLE {copy} AS SELECT * FROM {quoted(table)}")
                    statements.append(f"INSERT INTO {quoted(table)} SELECT * FROM {copy}")
        return statements

    def _messages(self) -> Sequence[str]:
        if connection.vendor == "postgresql":
            return ["; ".join([*self._settings, *self._statements])]
        return self._statements  # SQLite takes one at a time, and asks nobody else for it


def close_other_connections() -> None:
    """End what threads have left open, so that the database can be dropped."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            cursor.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")


def _is_superuser() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])


def _tables() -> list[str]:
    """The tables of all models, with those that many-to-many fields made."""
    models = apps.get_models(include_auto_created=True)
    return sorted({model._meta.db_table for model in models if model._meta.managed and not model._meta.proxy})
