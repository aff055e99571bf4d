"""Whether the database can be written: a standby, and a primary after a fail-over, can only be read."""

from django.db import connection

__all__ = ["read_only"]


def read_only() -> bool:
    """Return whether PostgreSQL refuses every write now; False with SQLite, which has no standby."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "on")
