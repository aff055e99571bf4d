"""Background work: every scheduled task exists, and every periodic task is scheduled."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from kombu.exceptions import ContentDisallowed
from kombu.serialization import dumps, loads, prepare_accept_content

from idcsched.celery import app
from idcsched.feed import tasks as feed_tasks
from idcsched.jobs import tasks as jobs_tasks
from idcsched.jobs.nightly import JOBS
from idcsched.placement import tasks as placement_tasks
from idcsched.provisioning import tasks as provisioning_tasks
from idcsched.scheduling import tasks as scheduling_tasks
from metrics_ingest import tasks as metrics_tasks

SCHEDULE = settings.CELERY_BEAT_SCHEDULE
BY_MESSAGE = {
    "metrics_ingest.tasks.source_run",  # scheduled source by source, in the database
    "idcsched.provisioning.tasks.machine_tend",
    "idcsched.placement.tasks.placement_deliver",
    "idcsched.jobs.tasks.nightly_run",
}


def test_it_works() -> None:
    assert app.conf.task_default_queue == "idcsched"
    assert app.conf.beat_schedule.keys() == SCHEDULE.keys()


@pytest.mark.parametrize("task", [*(entry["task"] for entry in SCHEDULE.values()), *JOBS])
def test_what_is_scheduled_is_a_task(task: str) -> None:
    app.loader.import_default_modules()  # as a worker does when it starts
    assert task in app.tasks


def test_every_periodic_task_is_scheduled() -> None:
    scheduled = {entry["task"] for entry in SCHEDULE.values()} | JOBS.keys()
    modules = (feed_tasks, jobs_tasks, metrics_tasks, placement_tasks, provisioning_tasks, scheduling_tasks)
    declared = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    assert declared - BY_MESSAGE <= scheduled


def test_a_message_is_acknowledged_when_its_work_is_done() -> None:
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1


def test_no_work_outlives_its_message() -> None:
    visible_again = timedelta(hours=1)  # Redis hands an unacknowledged message to the next worker
    assert (
        timedelta(seconds=app.conf.task_soft_time_limit) < timedelta(seconds=app.conf.task_time_limit) < visible_again
    )


def test_every_queue_has_a_worker_in_the_composed_system() -> None:
    """A queue without a worker fills up, and nothing reports that."""
    said = (settings.BASE_DIR / "docker-compose.yml").read_text(encoding="utf-8")
    taken = re.findall(r"worker, -Q, (\w+)", said)
    assert sorted(taken) == sorted(queue.name for queue in settings.CELERY_TASK_QUEUES)


@pytest.mark.parametrize("form", ["pickle", "yaml"])
def test_messages_are_json_and_nothing_else(form: str) -> None:
    """Reading a pickle runs what it says: whoever can write to the broker must not gain that."""
    accepted = prepare_accept_content(app.conf.accept_content)
    kind, encoding, text = dumps({"id": 1}, "json")
    assert loads(text, kind, encoding, accept=accepted) == {"id": 1}
    with pytest.raises(ContentDisallowed):
        loads(b"", f"application/x-{form}", "binary", accept=accepted)
