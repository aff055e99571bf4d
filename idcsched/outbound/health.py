"""The health of an origin as this process has seen it: a circuit breaker and a retry budget."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from idcsched.framework.errors import FieldError
from idcsched.framework.messages import _

from .errors import CircuitOpen, OutboundError

__all__ = ["Health", "Patience"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The limits of the circuit breaker and of the retry budget.

    The circuit opens after `failures` in a row and lets no call through for `rest_seconds`; then one call is let
    through, whose success closes the circuit. Each call earns `retries_earned` of a retry, and at most `retries_saved`
    are saved up, so that retries do not multiply the load on a failing origin.
    """

    failures: int = 5
    rest_seconds: float = 10.0
    retries_earned: float = 0.2
    retries_saved: float = 10.0


class Health:
    """A circuit breaker and a retry budget for one origin, shared by all threads."""

    def __init__(self, origin: str, patience: Patience, clock: Callable[[], float] = time.monotonic) -> None:
        self._origin = origin
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._last: OutboundError | None = None
        self._closed_until: float | None = None
        self._retries = patience.retries_saved

    def admit(self) -> None:
        """Let one attempt through; raises CircuitOpen, with the last failure, while the circuit is (half-)open."""
        with self._lock:
            now = self._clock()
            if self._closed_until is not None:
                if now < self._closed_until:
                    detail = _("{reason} (not asked again just now: it failed too often)")
                    raise CircuitOpen("circuit_open", detail, reason=self._reason)
                self._closed_until = now + self._patience.rest_seconds

    def begin(self) -> None:
        """Add the part of a retry that a new call earns to the budget."""
        with self._lock:
            self._retries = min(self._retries + self._patience.retries_earned, self._patience.retries_saved)

    def may_retry(self) -> bool:
        """Take a retry from the budget; return whether there was one."""
        with self._lock:
            enough = self._retries >= 1
            self._retries -= 1 if enough else 0
            return enough

    def succeeded(self) -> None:
        """Record an answer: close the circuit."""
        with self._lock:
            if self._closed_until is not None:
                logger.info("%s answers again", self._origin)
            self._failures, self._last, self._closed_until = 0, None, None

    def failed(self, error: OutboundError) -> None:
        """Record a failure: open the circuit after too many in a row."""
        with self._lock:
            self._failures, self._last = self._failures + 1, error
            if self._failures >= self._patience.failures:
                if self._closed_until is None:
                    logger.warning("%s failed %d times in a row and is left to rest", self._origin, self._failures)
                self._closed_until = self._clock() + self._patience.rest_seconds

    @property
    def _reason(self) -> FieldError:
        last = self._last
        if last is None:
            raise RuntimeError("a circuit opens after failures only")
        return FieldError("", last.code, last.template, last.params)
