"""The Celery app. `idcsched.apps` imports it once Django's apps are loaded; `idcsched/__init__.py` must not."""

import os
import signal
from functools import cache
from inspect import signature
from typing import Any, Literal

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    heartbeat_sent,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutdown,
)
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

from idcsched.config.checks import environment_required
from idcsched.jobs.shutdown import COLD_SECONDS, end_within

__all__ = ["app"]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "idcsched.settings")
TRANSPORT_ALIASES["embedded"] = "idcsched.jobs.broker:Transport"  # the broker where there is no Redis

app = Celery("idcsched")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def _refuse_wrong_settings(**_: Any) -> None:
    environment_required()


@worker_init.connect
def _trace_worker(**_: Any) -> None:
    _trace("worker")


@beat_init.connect
def _trace_beat(**_: Any) -> None:
    _trace("beat")


def _trace(process: Literal["worker", "beat"]) -> None:
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        from idcsched.config.tracing import tracing_start  # noqa: PLC0415  # its packages are optional

        tracing_start(process)


@setup_logging.connect
def _keep_logging(**_: Any) -> None:
    """Do nothing: a connected receiver keeps Celery from replacing the logging that the settings configure."""


@before_task_publish.connect
def _send_request_id(headers: dict[str, Any], **_: Any) -> None:
    if request_id := get_contextvars().get("request_id"):
        headers["request_id"] = request_id


@task_prerun.connect
def _bind_log_context(task: Any, task_id: str, args: Any, kwargs: Any, **_: Any) -> None:
    """Have every log entry of the task name the task, its ids (of a placement, say), and the HTTP request behind it."""
    clear_contextvars()
    arguments = signature(task.run).bind_partial(*args, **kwargs).arguments
    ids = {name: value for name, value in arguments.items() if name.endswith("_id")}
    if request_id := task.request.get("request_id"):
        ids["request_id"] = request_id
    bind_contextvars(task=task.name, task_id=task_id, **ids)


@task_postrun.connect
def _forget_log_context(**_: Any) -> None:
    clear_contextvars()


@heartbeat_sent.connect
def _write_heartbeat(sender: Any, **_: Any) -> None:
    _worker_heartbeat().beat(sender.eventer.hostname)


@worker_shutdown.connect
def _forget_heartbeat(sender: Any, **_: Any) -> None:
    _worker_heartbeat().stop(sender.hostname)


@worker_ready.connect
def _limit_cold_shutdown(**_: Any) -> None:
    end_within(COLD_SECONDS, told=signal.SIGQUIT)  # SIGTERM has no limit: the worker finishes its tasks


@cache
def _worker_heartbeat() -> Any:
    """Return this worker's heartbeat. Models can't be imported before Django knows its apps, hence the late imports."""
    from idcsched.jobs.heartbeat import Heartbeat  # noqa: PLC0415
    from idcsched.jobs.models import ProcessKind  # noqa: PLC0415

    return Heartbeat(ProcessKind.WORKER)
