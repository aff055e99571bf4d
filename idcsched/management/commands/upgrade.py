import fcntl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from time import sleep
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS, connection, connections

from idcsched.scheduling.shipped import shipped_profiles_refresh

LOCK = 1_768_190_835
"""The number of PostgreSQL's advisory lock; any number that nobody else in this database takes."""
RETRY_SECONDS = 0.5


class Command(BaseCommand):
    help = (
        "Bring the database to this version: apply migrations, refresh the shipped profiles that nobody has changed, "
        "run all checks. It may be run again, and on several machines at once: one works, the others wait for it."
    )

    def handle(self, *args: Any, verbosity: int, **options: Any) -> None:
        with _alone():
            call_command("migrate", interactive=False, verbosity=verbosity, stdout=self.stdout)
            for code, number in shipped_profiles_refresh().items():
                self.stdout.write(f"Profile {code}: revision {number} is in force, as this version ships it.")
            call_command("check", databases=[DEFAULT_DB_ALIAS], stdout=self.stdout, stderr=self.stderr)


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other upgrade runs, and keep others waiting; the lock ends with this process."""
    if connection.vendor == "sqlite":
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        with (settings.VAR_DIR / "upgrade.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    # A connection of its own, since migrations may close theirs. Asked again and again rather than waited for: a
    # waiting statement would hold up CREATE INDEX CONCURRENTLY.
    with closing(connections.create_connection(DEFAULT_DB_ALIAS)) as own, own.cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
            if cursor.fetchone() == (True,):
                break
            sleep(RETRY_SECONDS)
        yield
