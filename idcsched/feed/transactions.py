"""Transaction numbers, by which a reader of the feed tells an entry that committed late from one already read."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, Func
from django.db.models.sql.compiler import SQLCompiler

__all__ = ["TransactionNumber"]


class TransactionNumber(Func):
    """Database function: the running transaction's number on PostgreSQL; NULL elsewhere."""

    template = "NULL"
    output_field = BigIntegerField()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="pg_current_xact_id()::text::bigint", **context)
