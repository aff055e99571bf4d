"""How often one token may ask.

Each process judges by itself, in memory, so that no answer waits for another server: a token has a bucket that holds
as many requests as the rate names, and fills evenly. Where there is a Redis, a thread tells it four times a second
what was let through, in one round trip, and learns what the other processes did; so a token may exceed its rate by
what they let through in a quarter of a second, and no more. While Redis is away each process counts for itself.

The bucket is kept as a "theoretical arrival time" (the generic cell rate algorithm): the moment at which it would be
full again. Redis holds the same by its own clock; between machines only durations travel.
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

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

    from .sharing import Sharing

__all__ = ["Buckets", "CallerThrottle", "Rate", "buckets", "sharing", "sharing_start", "throttle_state"]

SYNC_EVERY: Final = 0.25
SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
LET_THROUGH: Final = "idcsched.let_through"
MANY: Final = 10_000
"""So many callers are remembered before those whose buckets are full are forgotten."""

throttled = Counter("idcsched_throttled", "Requests answered with 429.")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests in so many seconds."""

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
    """The callers' buckets, as this process knows them. For many threads at once."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._lock = threading.Lock()
        self._full_at: dict[str, float] = {}
        self._untold: dict[str, int] = {}

    def take(self, caller: str, now: float) -> float:
        """0 where they may ask; else in how many seconds."""
        with self._lock:
            full_at = max(self._full_at.get(caller, now), now) + self.rate.interval
            wait = full_at - now - self.rate.seconds
            if wait > self.rate.interval * 1e-9:  # less is the sum's rounding
                return wait
            if len(self._full_at) >= MANY:
                self._full_at = {name: at for name, at in self._full_at.items() if at > now}
            self._full_at[caller] = full_at
            self._untold[caller] = self._untold.get(caller, 0) + 1
            return 0.0

    def tell(self, add: Callable[[dict[str, float]], list[float]], clock: Callable[[], float]) -> None:
        """Let `add` add, for each caller, the seconds of its bucket used here; it gives those used by all."""
        with self._lock:
            untold, self._untold = self._untold, {}
        if not untold:
            return
        used = add({caller: count * self.rate.interval for caller, count in untold.items()})
        now = clock()
        with self._lock:
            for caller, seconds in zip(untold, used, strict=True):
                since = self._untold.get(caller, 0) * self.rate.interval
                self._full_at[caller] = max(self._full_at.get(caller, 0.0), now + seconds + since)


@cache
def buckets(rate: str) -> Buckets:
    """This process's buckets for a rate such as `600/minute`."""
    return Buckets(Rate.of(rate))


@cache
def sharing() -> "Sharing | None":
    """What ties this process to the others; None where nothing is throttled, or there is no Redis."""
    if settings.THROTTLE is None or not settings.REDIS_URL:
        return None
    from .sharing import Sharing  # noqa: PLC0415 - who has no Redis need not hold its client in memory

    return Sharing(settings.REDIS_URL, buckets(settings.THROTTLE))


def throttle_state() -> Literal["off", "memory", "redis", "redis_away"]:
    """How this process counts."""
    if settings.THROTTLE is None:
        return "off"
    tied = sharing()
    if tied is None:
        return "memory"
    return "redis_away" if tied.away else "redis"


def sharing_start() -> None:
    """From now on this process counts together with the others."""
    found = sharing()
    if found is not None:
        Background("sharing the throttle", found.sync, seconds=SYNC_EVERY).start()


class CallerThrottle(BaseThrottle):
    """One bucket per token, or per user where a session is used."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        if settings.THROTTLE is None or not isinstance(request.auth, Principal):
            return True
        if LET_THROUGH in request.META:  # and then passed on to a thread that may wait
            return True
        caller = request.auth
        name = f"user:{caller.user_id}" if caller.token_id is None else f"token:{caller.token_id}"
        self._wait = buckets(settings.THROTTLE).take(name, time.monotonic())
        if self._wait:
            throttled.inc()
        else:
            request.META[LET_THROUGH] = True
        return not self._wait

    def wait(self) -> float:
        return self._wait
