"""The one error tree of the project.

    IdcschedError
    ├── Invalid          the caller said something that cannot be meant (400); carries field errors
    ├── Unauthenticated  nobody knows who the caller is (401)
    ├── Forbidden        the caller may not do this (403)
    ├── NotFound         no such thing, or not the caller's (404)
    ├── Conflict         it contradicts the state of things (409)
    ├── Unavailable      it cannot be answered now; later it may (503)
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

    `detail` may hold `{name}` fields filled from `params`, so that it can be said in another language; one of them may
    be another FieldError: what is wrong inside of what is wrong.
    """

    pointer: str
    code: str
    detail: Message
    params: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        text = self.detail.format_map(self.params) if self.params else self.detail
        return f"{self.pointer}: {text}" if self.pointer else text


class IdcschedError(Exception):
    """The root: anything that this project refuses or fails at on purpose."""

    def __init__(self, code: str, detail: Message, **params: Any) -> None:
        super().__init__(code, detail)
        self.code = code
        self.template: Message = detail
        self.params = params

    @property
    def extra(self) -> Mapping[str, Any]:
        """What else a client is told, by name."""
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
        """Several field errors at once; the first one names the whole."""
        found = tuple(errors)
        error = cls(found[0].code, found[0].detail, found[0].pointer, **(found[0].params or {}))
        error.errors = found
        return error


class Unauthenticated(IdcschedError):
    """No token, or one that is not valid, or not from here."""


class Forbidden(IdcschedError):
    """The caller is known but may not do this; `pointer`: to the part of the request that says it."""

    pointer = ""


class NotFound(IdcschedError):
    """There is no such thing, or it belongs to somebody else."""


class Conflict(IdcschedError):
    """The request is well formed but contradicts the state of things; `pointer`: the part of it that does."""

    pointer = ""


class Unavailable(IdcschedError):
    """It cannot be answered now; asking again later may help."""


class PluginFailed(Unavailable):
    """A plugin raised where its profile says `on_error: fail`."""

    def __init__(self, plugin: str, point: str, error: str) -> None:
        super().__init__(
            "plugin_failed", _("plugin {plugin} failed at {point}: {error}"), plugin=plugin, point=point, error=error
        )


class PluginBroken(IdcschedError):
    """A plugin that cannot be imported, or that breaks the contract of its class."""
