"""The Celery app. Imported by `idcsched.apps` once Django knows its apps, never by `idcsched` itself."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_init
from kombu.transport import TRANSPORT_ALIASES

from idcsched.settings_checks import environment_required

__all__ = ["app"]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "idcsched.settings")
TRANSPORT_ALIASES["embedded"] = "idcsched.embedded_broker:Transport"

app = Celery("idcsched")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def _refuse_wrong_settings(**_: Any) -> None:
    environment_required()


@setup_logging.connect
def _keep_logging(**_: Any) -> None:
    """Connected so that Celery leaves the logging that the settings describe alone."""
