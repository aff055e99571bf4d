"""A worker that imports a file is killed in the middle, and has done nothing or everything."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest

from idcsched.demo.processes import Child, stop
from tests.e2e.installation import Installation, wait_for

pytestmark = pytest.mark.timeout(300)

WORKER = (sys.executable, "-m", "celery", "-A", "idcsched.celery", "worker", "--concurrency", "1")
ROWS = 2000
BRING = f"""
from idcsched.accounts.services import user_create
from idcsched.inventory.services import region_create
from idcsched.imports.services import import_create
region_create(code="r")
rows = "".join(f"i-{{number}},r\\n" for number in range({ROWS}))
anna = user_create(username="anna", role="admin")
import_create(user=anna, file_name="idcs.csv", content=b"code,region\\n" + rows.encode())
"""
AGREE = """
from idcsched.imports.models import Import
from idcsched.imports.services import import_confirm
job = Import.objects.get()
import_confirm(job=job, user=job.user)
"""
A_MINUTE_LATER = """
from datetime import timedelta
from django.utils import timezone
from idcsched.imports.models import Import
from idcsched.imports.tasks import imports_sweep
past = timezone.now() - timedelta(minutes=2)
Import.objects.filter(beat_at__isnull=False).update(beat_at=past)
Import.objects.update(moved_at=past)
imports_sweep()
"""


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    installed = Installation(tmp_path)
    installed.migrate()
    installed.python(BRING)
    return installed


def has_come_to(installation: Installation, state: str) -> Callable[[], bool]:
    return lambda: installation.count("transfer_import", f"state = '{state}'") == 1


def rows_there(installation: Installation) -> tuple[int, int]:
    """Return the number of IDCs, and of the history's records of imports."""
    return installation.count("inventory_idc"), installation.count("audit_change", "via = 'import'")


def killed(child: Child) -> None:
    stop(child, grace=0, by=signal.SIGKILL)


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0, 0.3, 0.8, 1.5, 2.5])
def test_a_worker_killed_in_the_middle_leaves_nothing_half_done(installation: Installation, seconds: float) -> None:
    worker = installation.start("worker", *WORKER)
    try:
        wait_for(has_come_to(installation, "checked"), "the preview", seconds=90)
        installation.python(AGREE)
        sleep(seconds)
    finally:
        killed(worker)
    assert rows_there(installation) in {(0, 0), (ROWS, ROWS)}
    installation.python(A_MINUTE_LATER)
    worker = installation.start("worker", *WORKER)
    try:
        wait_for(has_come_to(installation, "applied"), "another worker to take it up", seconds=90)
        assert rows_there(installation) == (ROWS, ROWS)
    finally:
        stop(worker, grace=20)
