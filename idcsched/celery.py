"""The Celery app. `idcsched.apps` imports it once Django's apps are loaded; `idcsched/__init__.py` must not."""

import os
import signal
from functools import cache
from typing import Any

from celery import Celery
from celery.signals import beat_init, heartbeat_sent, setup_logging, worker_init, worker_ready, worker_shutdown
from kombu.transport import TRANSPORT_ALIASES

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


@setup_logging.connect
def _keep_logging(**_: Any) -> None:
    """Do nothing: a connected receiver keeps Celery from replacing the logging that the settings configure."""


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
