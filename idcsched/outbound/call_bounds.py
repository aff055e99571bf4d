"""What an extension gets for its calls to other systems: a deadline, a secret, and the HTTP client."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from .client import MAX_BYTES, Fetched, Request, fetch
from .secrets import Recipients, host_of

__all__ = ["CallBounds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBounds:
    """The bounds of one run of an extension: `now` is when it began, `secret` the value of the row's `secret_ref`.

    With `recipients`, only hosts to which the secret may be sent are called. A `trial` also calls a host whose circuit
    is open.
    """

    max_bytes: ClassVar[int] = MAX_BYTES
    """The limit of a reply's size, after unpacking."""
    retries: ClassVar[int] = 0

    now: datetime
    timeout: float
    secret: str | None = None
    recipients: Recipients | None = None
    trial: bool = False
    begun: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the deadline, at least a millisecond: libraries refuse a timeout of zero."""
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
        """Send an HTTP request within the time that is left, to a host that `OUTBOUND_HOSTS` lists.

        A failure that may pass is retried, up to `retries` times. Statuses other than success raise, except those in
        `also`. Raises an OutboundError, or Unavailable where the secret may not be sent to the host.
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
