"""Web processes that count together how often a token asks: what each lets through, Redis adds up by its own clock."""

import time
from collections.abc import Callable
from typing import Any, Final

from prometheus_client import Gauge
from redis import Redis, RedisError

from .throttling import Buckets

__all__ = ["Sharing"]

TIMEOUT: Final = 1.0
ADD: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + ARGV[1]
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000) + 1000)
return string.format('%.0f', full - now)
"""

shared = Gauge(
    "idcsched_throttle_shared",
    "1: web processes count together, in Redis; 0: each for itself.",
    multiprocess_mode="livemin",
)


class Sharing:
    """Tells Redis what this process let through, and this process what the others did."""

    def __init__(self, url: str, own: Buckets, clock: Callable[[], float] = time.monotonic) -> None:
        self._redis: Redis = Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
        self._add: Any = self._redis.register_script(ADD)
        self._own, self._clock = own, clock
        self.away = False

    def sync(self) -> None:
        """One round trip, or none where nobody asked; raises RedisError."""
        try:
            self._own.tell(self._added, self._clock)
        except RedisError:
            self.away = True
            shared.set(0)
            raise
        self.away = False
        shared.set(1)

    def _added(self, used: dict[str, float]) -> list[float]:
        with self._redis.pipeline(transaction=False) as pipeline:
            for caller, seconds in used.items():
                self._add(keys=[f"idcsched:throttle:{caller}"], args=[round(seconds * 1e6)], client=pipeline)
            return [int(micros) / 1e6 for micros in pipeline.execute()]
