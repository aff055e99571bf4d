# One image for every process: the web server by default, worker, beat and upgrades by another command.
FROM python:3.12-slim-bookworm AS build
WORKDIR /build
# `traces` for what sends traces by OpenTelemetry as well.
ARG REQUIREMENTS=base
COPY requirements/${REQUIREMENTS}.lock requirements.lock
RUN python -m venv /opt/idcsched \
    && /opt/idcsched/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --no-deps -r requirements.lock

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /var/lib/idcsched --create-home idcsched
COPY --from=build /opt/idcsched /opt/idcsched
WORKDIR /srv/idcsched
COPY manage.py LICENSE ./
COPY fixtures fixtures
COPY plugins plugins
COPY metrics_ingest metrics_ingest
COPY idcsched idcsched
# Two heaps for all threads: each that the C library adds keeps what it freed for itself.
ENV PATH=/opt/idcsched/bin:$PATH \
    MALLOC_ARENA_MAX=2 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    VAR_DIR=/var/lib/idcsched \
    PORT=8000 \
    WEB_WORKERS=2
RUN python -m compileall -q idcsched metrics_ingest plugins
USER idcsched
VOLUME /var/lib/idcsched
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/health/live/', timeout=4)"]
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
