"""Rate limits per token, by the generic cell rate algorithm (GCRA).

Each process limits in memory, so that no answer waits for another server: a token has a bucket that holds as many
requests as the rate names, and fills evenly. With Redis, a thread adds the requests that this process let through to
the total of all processes, and reads that total, four times a second, in one pipeline; so a token may exceed its rate
by what the other processes let through in a quarter of a second, and no more. While Redis is away each process counts
for itself.

A bucket is kept as its "theoretical arrival time": the moment at which it would be full again. Redis holds that moment
by Redis's own clock. Processes and Redis exchange only durations, so their clocks need not agree.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from django.conf import settings
from prometheus_client import Counter
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from idcsched.accounts.roles import Principal
from idcsched.jobs.background import Background

if TYPE_CHECKING:  # a cycle at run time: DRF's views import the throttle classes of DRF's settings
    from rest_framework.views import APIView

    from .throttle_sync import ThrottleSync

__all__ = ["Buckets", "CallerThrottle", "Rate", "buckets", "sharing", "sharing_start", "throttle_state"]

SYNC_EVERY: Final = 0.25
SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
MANY: Final = 10_000
"""With so many buckets in memory, the full ones are deleted: a full bucket is as good as none."""

throttled = Counter("idcsched_throttled", "Requests answered with 429.")


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of requests in a number of seconds."""

    count: int
    seconds: int

    @classmethod
    def of(cls, text: str) -> "Rate":
        count, _, unit = text.partition("/")
        return cls(int(count), SECONDS[unit])

    @property
    def interval(self) -> float:
        return self.seconds / self.count


class Buckets:
    """The callers' buckets in this process; safe for many threads at once."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._lock = threading.Lock()
        self._full_at: dict[str, float] = {}
        self._not_exchanged: dict[str, int] = {}  # requests let through since the last exchange

    def take(self, caller: str, now: float) -> float:
        """Take one request from the caller's bucket; returns 0, or the seconds to wait where the bucket is empty."""
        with self._lock:
            full_at = max(self._full_at.get(caller, now), now) + self.rate.interval
            wait = full_at - now - self.rate.seconds
            if wait > self.rate.interval * 1e-9:  # a smaller wait is an error of rounding
                return wait
            if len(self._full_at) >= MANY:
                self._full_at = {name: at for name, at in self._full_at.items() if at > now}
            self._full_at[caller] = full_at
            self._not_exchanged[caller] = self._not_exchanged.get(caller, 0) + 1
            return 0.0

    def exchange(self, add: Callable[[dict[str, float]], list[float]], clock: Callable[[], float]) -> None:
        """Give `add` what each caller used here since the last exchange, as the seconds in which a bucket regains it.

        `add` returns, in the same order, the seconds until these buckets are full after the use in all processes. A
        bucket here that would be full sooner is set to that.
        """
        with self._lock:
            counts, self._not_exchanged = self._not_exchanged, {}
        if not counts:
            return
        seconds_until_full = add({caller: count * self.rate.interval for caller, count in counts.items()})
        now = clock()
        with self._lock:
            for caller, seconds in zip(counts, seconds_until_full, strict=True):
                meanwhile = self._not_exchanged.get(caller, 0) * self.rate.interval
                self._full_at[caller] = max(self._full_at.get(caller, 0.0), now + seconds + meanwhile)


@cache
def buckets(rate: str) -> Buckets:
    """Return this process's buckets for a rate such as `600/minute`."""
    return Buckets(Rate.of(rate))


@cache
def sharing() -> "ThrottleSync | None":
    """Return this process's exchange with the other processes through Redis; None without a rate limit or Redis."""
    if settings.THROTTLE is None or not settings.REDIS_URL:
        return None
    from .throttle_sync import ThrottleSync  # noqa: PLC0415 - without Redis its client need not be in memory

    return ThrottleSync(settings.REDIS_URL, buckets(settings.THROTTLE))


def throttle_state() -> Literal["off", "memory", "redis", "redis_away"]:
    """Return where this process counts requests, if at all."""
    if settings.THROTTLE is None:
        return "off"
    exchange = sharing()
    if exchange is None:
        return "memory"
    return "redis_away" if exchange.away else "redis"


def sharing_start() -> None:
    """Start to count together with the other processes."""
    exchange = sharing()
    if exchange is not None:
        Background("sharing the throttle", exchange.sync, seconds=SYNC_EVERY).start()


class CallerThrottle(BaseThrottle):
    """Throttle with one bucket per token, or per user where a session is used."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        if settings.THROTTLE is None or not isinstance(request.auth, Principal):
            return True
        principal = request.auth
        caller = f"user:{principal.user_id}" if principal.token_id is None else f"token:{principal.token_id}"
        self._wait = buckets(settings.THROTTLE).take(caller, time.monotonic())
        if self._wait:
            throttled.inc()
        return not self._wait

    def wait(self) -> float:
        return self._wait
