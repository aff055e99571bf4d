"""The processes that do background work, and the broker with the depths of its queues."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

__all__ = ["Process", "processes", "queue_depths", "working_redis"]

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
    """Return how many messages wait in each queue; None where the broker does not answer or takes no messages."""
    names = [queue.name for queue in settings.CELERY_TASK_QUEUES]
    try:
        return dict(zip(names, _redis_depths(names) if settings.REDIS_URL else _embedded_depths(names), strict=True))
    except (RedisError, OperationalError, OSError) as error:
        logger.warning("the broker does not say what waits: %s", type(error).__name__)
        return dict.fromkeys(names)


def _redis_depths(names: list[str]) -> list[int]:
    with working_redis() as redis:
        return [int(redis.llen(name)) for name in names]


@contextmanager
def working_redis() -> Iterator[Redis]:
    """Yield a client of the broker's Redis, which has just stored something; raises RedisError where it does not.

    A Redis whose memory or disk is full, or that has become a replica, still answers what only reads.
    """
    with Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as redis:
        redis.set("idcsched:probe", "", ex=60)
        yield redis


def _embedded_depths(names: list[str]) -> list[int]:
    with current_app.connection_for_read() as connection:
        return [connection.SimpleQueue(name).qsize() for name in names]
