"""`manage.py upgrade`: twice at once, and again, as on several hosts of a rolling upgrade."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings

from tests.e2e.installation import Installation
from tests.servers.postgresql import new_database

pytestmark = [pytest.mark.both, pytest.mark.long]


def test_it_works_twice_at_once_and_again(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with ExitStack() as kept:
        variables = {}
        if settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
            server = request.getfixturevalue("postgresql_server")
            variables["DATABASE_URL"] = kept.enter_context(new_database(server))
        twice_at_once_and_again(Installation(tmp_path, **variables))


def twice_at_once_and_again(installation: Installation) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "manage.py", "upgrade"],
            cwd=installation.source, env=installation.environment, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted("No migrations to apply." in each for each in said) == [False, True]
    again = installation.manage("upgrade")
    assert "No migrations to apply." in again
    assert "System check identified no issues" in again
