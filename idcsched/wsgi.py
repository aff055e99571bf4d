"""The WSGI application, for `granian --interface wsgi idcsched.wsgi:application`, or any other WSGI server."""

import os

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from idcsched.config.checks import environment_required
from idcsched.web.bodies import UnsizedBodies

__all__ = ["application"]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "idcsched.settings")

if settings.WEB_WORKERS > 1:  # each process serves the metrics of all; the Prometheus client reads this on import
    METRICS_DIR = settings.VAR_DIR / "prometheus"
    METRICS_DIR.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(METRICS_DIR))
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(os.getpid())  # a container's processes get the numbers that those before its restart had
django.setup(set_prefix=False)
environment_required()
if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
    from idcsched.config.tracing import tracing_start

    tracing_start("web")
application = UnsizedBodies(WSGIHandler(), most=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

from idcsched.web import startup  # noqa: E402  # its imports need Django's apps and the folder of metrics

startup.begin()
