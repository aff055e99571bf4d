"""What takes long to write is written once by each process, and after that again as the rows that it came to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from django.db import connection, transaction

__all__ = ["Kept"]

T = TypeVar("T")
Rows = Mapping[str, Sequence[tuple[object, ...]]]


class Kept(Generic[T]):
    """Rows that are the same for many tests. They come first in a test: their numbers must still be free.

    They are: SQLite takes a number back with the transaction that took it, and PostgreSQL gives it to nobody else.
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[str]] = {}
        self._rows: Rows = {}
        self._said: list[T] = []

    def write(self, make: Callable[[], T]) -> T:
        """What `make` says. It is asked the first time only; after that the rows that it added are written again."""
        if self._said:
            self._again()
        else:
            before, said = self._all(), make()
            self._rows = {table: rows for table, found in self._all().items() if (rows := _added(before[table], found))}
            self._said.append(said)
        return self._said[0]

    def _all(self) -> Rows:
        found = {}
        with connection.cursor() as cursor:
            for table in connection.introspection.django_table_names(only_existing=True):
                cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
                self._columns[table] = [column[0] for column in cursor.description]
                found[table] = cursor.fetchall()
        return found

    def _again(self) -> None:
        quoted = connection.ops.quote_name
        with transaction.atomic(), connection.cursor() as cursor:  # references are checked at the end of it
            for table, rows in self._rows.items():
                columns = ", ".join(quoted(column) for column in self._columns[table])
                marks = ", ".join([f"({', '.join(['%s'] * len(self._columns[table]))})"] * len(rows))
                values = [value for row in rows for value in row]
                cursor.execute(f"INSERT INTO {quoted(table)} ({columns}) VALUES {marks}", values)


def _added(before: Sequence[tuple[object, ...]], after: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    assert all(row in after for row in before), "what is kept adds rows: it changes none and takes none away"
    return [row for row in after if row not in before]
