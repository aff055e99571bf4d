"""A real worker and a real beat do what the schedule says, on the broker that needs no server and on Redis."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from idcsched.demo.processes import Child, stop
from idcsched.jobs.schedule import housekeeping
from tests.e2e.installation import Installation, wait_for

CELERY = (sys.executable, "-m", "celery", "-A", "idcsched.celery")
# Beat was away for two hours: what it last ran is two hours back.
AGE_SCHEDULE = """
from datetime import timedelta
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
PeriodicTask.objects.update(last_run_at=timezone.now() - timedelta(hours=2))
"""
TWO_DECISIONS = """
from datetime import timedelta
from django.utils import timezone
from idcsched.scheduling.models import Decision
for days in (1, 31):
    Decision.objects.create(
        created_at=timezone.now() - timedelta(days=days), result="scheduled", idc="d", profile="seed-example",
        profile_revision=1, request={}, answer={},
    )
"""
NIGHTLY_DONE = """
from idcsched.jobs.models import NightlyJob
print(*NightlyJob.objects.exclude(succeeded_at=None).values_list("name", flat=True))
"""
DECISIONS, SCHEDULED = "scheduling_decision", "django_celery_beat_periodictask"


@pytest.fixture(params=["embedded", "redis"])
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Installation:
    variables = {} if request.param == "embedded" else {"REDIS_URL": request.getfixturevalue("redis_url")}
    installed = Installation(tmp_path, **variables)
    installed.migrate()
    return installed


@contextmanager
def running(installation: Installation, name: str, *options: str) -> Iterator[Child]:
    child = installation.start(name, *CELERY, name, *options)
    try:
        yield child
    finally:
        stop(child, grace=20)


def age_schedule(installation: Installation) -> None:
    with running(installation, "beat", "--pidfile="):
        wait_for(lambda: installation.count(SCHEDULED) >= len(housekeeping()), "all of beat's rows")
    installation.python(AGE_SCHEDULE)


@pytest.mark.long
def test_old_decisions_expire_by_worker_and_beat(installation: Installation) -> None:
    installation.python(TWO_DECISIONS)
    age_schedule(installation)
    with running(installation, "worker", "--concurrency", "1") as worker, running(installation, "beat", "--pidfile="):
        wait_for(lambda: installation.count(DECISIONS) == 1, "the old decision to go", seconds=120)
        assert worker.running
    assert worker.process.returncode == 0, worker.last_words()
    assert not installation.processes()


@pytest.mark.long
def test_nightly_jobs_are_done_by_worker_and_beat(installation: Installation) -> None:
    age_schedule(installation)
    with running(installation, "worker", "--concurrency", "1"), running(installation, "beat", "--pidfile="):
        wait_for(lambda: installation.python(NIGHTLY_DONE) == "advise shapes_learn", "both jobs", seconds=120)


@pytest.mark.long
def test_a_worker_that_comes_late_finds_its_work(installation: Installation) -> None:
    installation.python(TWO_DECISIONS)
    installation.python("from idcsched.scheduling.tasks import decisions_expire; decisions_expire.delay()")
    assert installation.count(DECISIONS) == 2
    with running(installation, "worker", "--concurrency", "1"):
        wait_for(lambda: installation.count(DECISIONS) == 1, "the old decision to go", seconds=120)


@pytest.mark.long
def test_a_worker_answers_to_control(installation: Installation) -> None:
    with running(installation, "worker", "--concurrency", "1") as worker:
        wait_for(lambda: "ready." in worker.last_words(), "the worker")
        ping = "from idcsched.celery import app; print(len(app.control.ping(timeout=3)))"
        assert installation.python(ping) == "1"


@pytest.mark.long
@pytest.mark.parametrize("name", ["worker", "beat"])
def test_wrong_settings_keep_it_from_starting(tmp_path: Path, name: str) -> None:
    installation = Installation(tmp_path, PORT="none")
    with running(installation, name) as child:
        assert child.process.wait(30) == 1
        assert "PORT is 'none'" in child.last_words()
