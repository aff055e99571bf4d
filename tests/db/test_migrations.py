"""Migrations leave the previous version's code at work: during a rolling upgrade both run on the new tables."""

from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django_migration_linter.sql_analyser import analyse_sql_statements, get_sql_analyser_class

from tests.architecture.repository import ROOT

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("db")]

PREVIOUS: Final = {
    "accounts": "0001_first_release",
    "audit": "0001_first_release",
    "feed": "0001_first_release",
    "inventory": "0001_first_release",
    "ledger": "0001_first_release",
    "metrics_ingest": "0001_first_release",
    "placement": "0001_first_release",
    "planning": "0001_first_release",
    "scheduling": "0001_first_release",
    "transfer": "0001_first_release",
    "work": "0001_first_release",
}
"""The last migration of each app in the previous version; an app that is new is missing here."""
HARMLESS: Final[dict[tuple[str, str], list[str]]] = {}
"""What was looked at, and does not concern old code."""
ADDED = models.IntegerField(default=0)


def statements(app: str, *operations: Operation) -> list[str]:
    """The SQL of a migration with these operations, on top of all that there are."""
    migration = migrations.Migration("9999_tried", app)
    migration.operations = list(operations)
    state = MigrationExecutor(connection).loader.project_state()
    with connection.schema_editor(collect_sql=True) as editor:
        migration.apply(state, editor, collect_sql=True)
    return list(editor.collected_sql)


def faults(sql: list[str], *, harmless: Sequence[str] = ()) -> list[str]:
    errors, _, _ = analyse_sql_statements(get_sql_analyser_class(connection.vendor), sql, harmless)
    return [f"{error.code} {error.table or ''}.{error.column or ''}" for error in errors]


def new_migrations() -> Iterator[tuple[str, str]]:
    """The migrations of the project's apps that the previous version does not have."""
    loader = MigrationLoader(None)
    own = {config.label for config in apps.get_app_configs() if (ROOT / config.name.split(".")[0]).is_dir()}
    for app, name in sorted(loader.disk_migrations):
        if app in own and name > PREVIOUS.get(app, ""):
            yield app, name


def test_it_works() -> None:
    """New tables, and new columns that may be null or have a default in the database, do not disturb old code."""
    may_be_null, by_the_database = models.IntegerField(null=True), models.IntegerField(default=0, db_default=0)
    assert not faults(statements("inventory", migrations.AddField("isp", "rank", may_be_null)))
    assert not faults(statements("inventory", migrations.AddField("isp", "rank", by_the_database)))
    key = ("id", models.BigAutoField(primary_key=True))
    assert not faults(statements("inventory", migrations.CreateModel("rank", [key, ("code", models.TextField())])))


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        pytest.param(migrations.AddField("isp", "rank", ADDED), "NOT_NULL", id="a column that old code does not fill"),
        pytest.param(migrations.RemoveField("isp", "name"), "DROP_COLUMN", id="a column that old code reads"),
        pytest.param(migrations.RenameField("isp", "name", "title"), "RENAME_COLUMN", id="a column's name"),
        pytest.param(migrations.DeleteModel("affinity"), "DROP_TABLE", id="a table"),
        pytest.param(migrations.RenameModel("isp", "carrier"), "RENAME_TABLE", id="a table's name"),
        pytest.param(migrations.AlterModelTable("isp", "carrier"), "RENAME_TABLE", id="a table's name alone"),
        pytest.param(migrations.AlterField("isp", "name", models.IntegerField()), "ALTER_COLUMN", id="a type"),
        pytest.param(migrations.RunSQL("ALTER TABLE inventory_isp DROP COLUMN name"), "DROP_COLUMN", id="by hand"),
    ],
)
def test_what_breaks_old_code_is_noticed(operation: Operation, code: str) -> None:
    assert code in [fault.split()[0] for fault in faults(statements("inventory", operation))]


@pytest.mark.parametrize(("app", "name"), list(new_migrations()))
def test_new_migrations_leave_old_code_at_work(app: str, name: str) -> None:
    """A column or table that old code uses must not be removed: one version stops using it, the next removes it."""
    loader = MigrationLoader(connection)
    sql = loader.collect_sql([(loader.get_migration(app, name), False)])
    found = faults(sql, harmless=HARMLESS.get((app, name), ()))
    assert not found, f"{app}.{name} breaks processes of the previous version: {found}"
