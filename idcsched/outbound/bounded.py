"""What an extension that asks somebody may use: a time to be over by, a secret, and the one client."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from .client import MAX_BYTES, Fetched, Request, fetch
from .secrets import Recipients, host_of

__all__ = ["Bounded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """`now` is the time at which it began, `secret` what the `secret_ref` of whom it is about leads to.

    Where there are `recipients`, whoever has the secret asks only hosts to which it may be sent. A `trial` asks also
    whom others leave to rest, since it failed so often.
    """

    max_bytes: ClassVar[int] = MAX_BYTES
    """The largest reply that is read, unpacked."""
    retries: ClassVar[int] = 0

    now: datetime
    timeout: float
    secret: str | None = None
    recipients: Recipients | None = None
    trial: bool = False
    begun: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        """Until it has to be over; never quite none, so that it can be given to libraries."""
        return max(self.begun + self.timeout - time.monotonic(), 0.001)

    def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        also: Iterable[int] = (),
    ) -> Fetched:
        """Ask over HTTP: in the time that is left, to hosts that `OUTBOUND_HOSTS` lists, for at most `max_bytes`.

        What may help is tried again, `retries` times. Statuses other than success raise, except those that are `also`
        accepted. Raises an OutboundError, or Unavailable where the secret may not be sent to the host.
        """
        if self.recipients is not None:
            self.recipients.check(host_of(url))
        request = Request(
            url=url,
            method=method,
            headers=headers or {},
            content=content,
            also=frozenset(also),
            max_bytes=self.max_bytes,
            trial=self.trial,
        )
        return fetch(request, timeout=self.seconds_left, retries=self.retries)
