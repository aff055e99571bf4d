"""The processes that do background work, and the depths of their queues."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from idcsched.jobs.heartbeat import EVERY_SECONDS
from idcsched.jobs.models import Heartbeat, ProcessKind

__all__ = ["Process", "processes", "queue_depths"]

logger = logging.getLogger(__name__)

MISSING_AFTER: Final = 4.5 * EVERY_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A worker or beat with a heartbeat; not `alive` if its last heartbeat is too old."""

    trade: ProcessKind
    name: str
    age_seconds: float

    @property
    def alive(self) -> bool:
        return self.age_seconds < MISSING_AFTER


def processes(*, now: datetime) -> list[Process]:
    """Return the processes that are alive or missing; a process that ended in order is neither."""
    rows = Heartbeat.objects.values_list("trade", "name", "at")
    return [
        Process(trade=ProcessKind(trade), name=name, age_seconds=max((now - at).total_seconds(), 0.0))
        for trade, name, at in rows
    ]


def queue_depths() -> Mapping[str, int | None]:
    """Return how many messages wait in each queue; None where the broker does not answer."""
    names = [queue.name for queue in settings.CELERY_TASK_QUEUES]
    try:
        return dict(zip(names, _redis_depths(names) if settings.REDIS_URL else _embedded_depths(names), strict=True))
    except (RedisError, OperationalError, OSError) as error:
        logger.warning("the broker does not say what waits: %s", type(error).__name__)
        return dict.fromkeys(names)


def _redis_depths(names: list[str]) -> list[int]:
    with Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as redis:
        return [int(redis.llen(name)) for name in names]


def _embedded_depths(names: list[str]) -> list[int]:
    with current_app.connection_for_read() as connection:
        return [connection.SimpleQueue(name).qsize() for name in names]
