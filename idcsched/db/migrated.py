"""Whether the database has the tables of this version."""

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

__all__ = ["migrated"]


def migrated() -> bool:
    """Whether no migration of this version waits to be applied."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
