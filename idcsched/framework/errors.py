"""The one error tree of the project.

    IdcschedError
    ├── Invalid          a malformed request or an unknown name (400); carries field errors
    ├── Unauthenticated  the caller is not identified (401)
    ├── Forbidden        the caller may not do this (403)
    ├── NotFound         no such object, or not the caller's (404)
    ├── Conflict         the request contradicts the current state (409)
    ├── Unavailable      the request cannot be answered now; later it may be (503)
    │   └── PluginFailed a plugin raised, and the profile says that this fails the decision
    └── PluginBroken     a plugin or profile that cannot be loaded at all; never raised to a client

Every error has a stable `code` and a `detail` for people. The API renders them; nothing below the API
knows about HTTP.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from .messages import Message, _

__all__ = [
    "Conflict",
    "FieldError",
    "Forbidden",
    "IdcschedError",
    "Invalid",
    "NotFound",
    "PluginBroken",
    "PluginFailed",
    "Unauthenticated",
    "Unavailable",
]


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field; `pointer` is an RFC 6901 JSON pointer into the caller's document.

    `detail` may hold `{name}` fields filled from `params`, so that it can be translated. A param may be another
    FieldError, whose text then becomes part of this one's.
    """

    pointer: str
    code: str
    detail: Message
    params: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        text = self.detail.format_map(self.params) if self.params else self.detail
        return f"{self.pointer}: {text}" if self.pointer else text


class IdcschedError(Exception):
    """The base of all errors that this project raises on purpose."""

    def __init__(self, code: str, detail: Message, **params: Any) -> None:
        super().__init__(code, detail)
        self.code = code
        self.template: Message = detail
        self.params = params

    @property
    def extra(self) -> Mapping[str, Any]:
        """Further members of the client's error document, by name."""
        return {}

    @property
    def detail(self) -> str:
        return self.template.format_map(self.params) if self.params else self.template

    def __str__(self) -> str:
        return self.detail


class Invalid(IdcschedError, ValueError):
    """A malformed request or an unknown name; `errors` says which fields."""

    def __init__(self, code: str, detail: Message, pointer: str = "", **params: Any) -> None:
        super().__init__(code, detail, **params)
        self.errors: tuple[FieldError, ...] = (FieldError(pointer, code, detail, params or None),)

    @classmethod
    def of(cls, errors: Iterable[FieldError]) -> Self:
        """Return one error for several fields, with the code and detail of the first."""
        field_errors = tuple(errors)
        first = field_errors[0]
        error = cls(first.code, first.detail, first.pointer, **(first.params or {}))
        error.errors = field_errors
        return error


class Unauthenticated(IdcschedError):
    """No token, an invalid one, or one that may not be used from this address."""


class Forbidden(IdcschedError):
    """The caller is known but may not do this; `pointer` leads to the forbidden part of the request."""

    pointer = ""


class NotFound(IdcschedError):
    """There is no such object, or it belongs to somebody else."""


class Conflict(IdcschedError):
    """The request is well formed but contradicts the current state; `pointer` leads to the part that does."""

    pointer = ""


class Unavailable(IdcschedError):
    """The request cannot be answered now; a retry later may succeed."""


class PluginFailed(Unavailable):
    """A plugin raised where its profile says `on_error: fail`."""

    def __init__(self, plugin: str, point: str, error: str) -> None:
        super().__init__(
            "plugin_failed", _("plugin {plugin} failed at {point}: {error}"), plugin=plugin, point=point, error=error
        )


class PluginBroken(IdcschedError):
    """A plugin that cannot be imported, or that breaks the contract of its class."""
