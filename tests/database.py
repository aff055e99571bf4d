"""The tests' database: every test commits for real, and finds what the migrations left.

A test that rolled back would see what no other connection sees, and run none of what happens on commit.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.apps import apps
from django.db import connection, transaction

__all__ = ["Pristine", "close_other_connections", "somebody_waits_for_a_lock"]

UNTOUCHED = frozenset({"django_content_type", "auth_permission", "django_migrations"})
"""Tables that no test writes: Django fills them for good when it migrates."""


TOUCHED = """
    CREATE UNLOGGED TABLE tests_touched (name text);
    CREATE FUNCTION tests_touch() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.tests_touched VALUES (TG_TABLE_NAME); RETURN NULL; END $$
"""
TOUCH = """
    CREATE TRIGGER tests_touch AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION tests_touch()
"""


class Pristine:
    """The rows that every test finds, kept in copies of the tables: those that the migrations left.

    PostgreSQL notes which tables a test writes to: the others need not be restored.
    """

    def __init__(self) -> None:
        self._tables = {table: columns for table, columns in _tables().items() if table not in UNTOUCHED}
        self._copies = self._copied("pristine")
        self._settings = ["SET LOCAL lock_timeout = '100s'"]
        self._noting = connection.vendor == "postgresql" and _is_superuser()
        if self._noting:
            # What refers to a deleted row is deleted, too: looking for it takes a minute for ten thousand rows.
            self._settings.append("SET LOCAL session_replication_role = replica")
            quoted = connection.ops.quote_name
            with connection.cursor() as cursor:
                cursor.execute("; ".join([TOUCHED, *(TOUCH.format(table=quoted(table)) for table in self._tables)]))

    def restore(self, *, whole: bool = False) -> None:
        """Delete what was written, and write anew what every test finds, in one transaction."""
        with transaction.atomic(), connection.cursor() as cursor:
            touched = set(self._tables)
            if self._noting:
                cursor.execute("DELETE FROM tests_touched RETURNING name")
                noted = {name for (name,) in cursor.fetchall()}
                touched = touched if whole else touched & noted
            for statements in self._messages([table for table in self._tables if table in touched]):
                cursor.execute(statements)

    @contextmanager
    def extended(self) -> Iterator[None]:
        """Within this context every test starts from what is in the database now; afterwards that is deleted."""
        before, self._copies = self._copies, self._copied("extended")
        try:
            yield
        finally:
            many, self._copies = self._copies, before
            self.restore(whole=True)
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:  # who deletes a row leaves it to be read by all who look for others
                    cursor.execute(f"VACUUM {', '.join(map(connection.ops.quote_name, many))}")

    def _copied(self, name: str) -> dict[str, str]:
        """The copies of the tables that have rows now."""
        quoted = connection.ops.quote_name
        copies = {}
        with connection.cursor() as cursor:
            for table in self._tables:
                cursor.execute(f"SELECT count(*) FROM {quoted(table)}")
                if cursor.fetchone()[0]:
                    copies[table] = copy = quoted(f"{name}_{table}")
                    cursor.execute(f"DROP TABLE IF EXISTS {copy}")
                    cursor.execute(f"CREATE TABLE {copy} AS SELECT * FROM {quoted(table)}")
        return copies

    def _messages(self, tables: Sequence[str]) -> Sequence[str]:
        quoted = connection.ops.quote_name
        statements = [f"DELETE FROM {quoted(table)}" for table in tables]
        again = [table for table in tables if table in self._copies]
        for table in again:
            columns = ", ".join(map(quoted, self._tables[table]))
            statements.append(f"INSERT INTO {quoted(table)} ({columns}) SELECT {columns} FROM {self._copies[table]}")
        if connection.vendor == "postgresql":
            return ["; ".join([*self._settings, *statements])]
        return statements  # SQLite takes one at a time, and asks nobody else for it


def close_other_connections() -> None:
    """End the connections that threads have left open, and wait for that, so that the database can be dropped."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            others = "datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            cursor.execute(f"SELECT pg_terminate_backend(pid, 100000) FROM pg_stat_activity WHERE {others}")


def _is_superuser() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])


def _tables() -> dict[str, list[str]]:
    """The tables of all models, with those that many-to-many fields made, and the columns that are written to each."""
    models = [model._meta for model in apps.get_models(include_auto_created=True)]
    return {
        model.db_table: [str(field.column) for field in model.local_concrete_fields if not field.generated]
        for model in sorted(models, key=lambda model: model.db_table)
        if model.managed and not model.proxy
    }


def somebody_waits_for_a_lock() -> bool:
    """Whether another session of this database waits, on PostgreSQL; a transaction sees that anew at each call."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])
