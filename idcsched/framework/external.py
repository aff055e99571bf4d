"""What a decision may ask of the outside, as values: the engine asks nobody itself.

A plugin that gathers returns Queries; whoever runs the engine gets them answered, keeps the Replies with the
inputs, and decides with them. So a replay needs nobody to ask.
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
        """The same for two queries that ask the same service the same thing."""
        return sha256(msgspec.json.encode([self.url, self.body], order="deterministic")).hexdigest()


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back: a JSON document, or why none did. `asked` is the fingerprint of the query."""

    plugin: str
    asked: str = ""
    document: Any = None
    error: str | None = None
    seconds: float = 0.0
