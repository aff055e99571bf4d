"""The base class of collectors: one class per kind of source, whose `collect` asks a source and yields records."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec

from idcsched.framework.errors import FieldError
from idcsched.outbound.call_bounds import CallBounds
from idcsched.outbound.secrets import configured_hosts

__all__ = ["MAX_BYTES", "Ask", "Collector", "Config", "Record"]

Record = Mapping[str, Any]
"""What a source returns about one IDC or line, in the source's own names; the source's mapping translates it."""
MAX_BYTES = 16 * 1024 * 1024
"""The largest reply that is read, in bytes after decompression."""
RETRIES = 2


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The configuration that every kind of source has; a kind adds its own fields in a subclass."""

    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=120)] = 20.0
    """The limit for all requests of one run together, repetitions included."""
    allow_empty: bool = False
    """Whether a run that finds nothing succeeds; otherwise it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(CallBounds):
    """The time limit, the secret and the HTTP client of one run; `now` is the time of the run."""

    max_bytes: ClassVar[int] = MAX_BYTES
    retries: ClassVar[int] = RETRIES


class Collector(ABC):
    """One kind of source. A subclass's docstring says what the collector asks; `Config` is its configuration."""

    kind: ClassVar[str]
    Config: ClassVar[type[Config]] = Config
    mapping: ClassVar[Mapping[str, Any]] = {}
    """Defaults for the mappings of all sources of this kind."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def collect(self, ask: Ask) -> Iterable[Record]:
        """Ask the source once and yield its records; must change neither the source nor this object.

        May raise any IdcschedError, its own or one of `ask`; any other exception counts as a bug of the class. Either
        fails the run and leaves stored values as they are.
        """

    def hosts(self) -> Iterable[str]:
        """Return the hosts to which the secret is sent: the configuration's `host`, and the host of its `url`.

        `ask.fetch` refuses to send the secret elsewhere; a kind that connects without `ask.fetch` names its hosts here.
        """
        return configured_hosts(self.config)

    def check(self) -> Iterable[FieldError]:
        """Return what is wrong with the configuration beyond its types; pointers are relative to the configuration."""
        return ()
