"""Queries to external services and their replies, as values: the engine itself makes no calls.

A plugin's `gather` returns a Query; the engine's caller sends the queries, records the replies with the inputs, and
passes them to `decide`. So a replay calls no service.
"""

from hashlib import sha256
from typing import Any

import msgspec

__all__ = ["Query", "Reply"]


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """One call to an external service: a JSON document, POSTed. `plugin` is the name of the profile's entry."""

    plugin: str
    url: str
    body: dict[str, Any]
    timeout_seconds: float
    retries: int = 0

    @property
    def fingerprint(self) -> str:
        """A hash of URL and body, equal for two queries that ask the same service the same."""
        return sha256(msgspec.json.encode([self.url, self.body], order="deterministic")).hexdigest()


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A service's reply: a JSON document, or why there is none. `asked` is the fingerprint of the query."""

    plugin: str
    asked: str = ""
    document: Any = None
    error: str | None = None
    seconds: float = 0.0
