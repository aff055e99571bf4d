"""The throttle shared by all web processes: Redis adds up, by its own clock, what each process let through."""

import time
from collections.abc import Callable
from typing import Any, Final

from prometheus_client import Gauge
from redis import Redis, RedisError

from .throttling import Buckets

__all__ = ["ThrottleSync"]

TIMEOUT: Final = 1.0
ADD: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + ARGV[1]
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000) + 1000)
return string.format('%.0f', full - now)
"""
"""GCRA, in microseconds. KEYS[1] holds the time at which the bucket will be full again.

Postpones that time by ARGV[1]; returns how long it is from now.
"""

shared = Gauge(
    "idcsched_throttle_shared",
    "1: web processes count together, in Redis; 0: each for itself.",
    multiprocess_mode="livemin",
)


class ThrottleSync:
    """The exchange of this process's buckets with those of the other processes, through Redis."""

    def __init__(self, url: str, own: Buckets, clock: Callable[[], float] = time.monotonic) -> None:
        self._redis: Redis = Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
        self._add: Any = self._redis.register_script(ADD)
        self._buckets, self._clock = own, clock
        self.away = False

    def sync(self) -> None:
        """Add what callers used here to the totals in Redis, and read these; raises RedisError.

        Everything is sent in one pipeline; without new requests, nothing is.
        """
        try:
            self._buckets.exchange(self._add_all, self._clock)
        except RedisError:
            self.away = True
            shared.set(0)
            raise
        self.away = False
        shared.set(1)

    def _add_all(self, used: dict[str, float]) -> list[float]:
        """Add each caller's seconds to its bucket in Redis.

        Returns the seconds until each bucket is full again, in the order of `used`.
        """
        with self._redis.pipeline(transaction=False) as pipeline:
            for caller, seconds in used.items():
                self._add(keys=[f"idcsched:throttle:{caller}"], args=[round(seconds * 1e6)], client=pipeline)
            return [int(micros) / 1e6 for micros in pipeline.execute()]
