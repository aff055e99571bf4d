"""What a kind of source is: one class with one method that asks once and yields what was found."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import msgspec

from idcsched.framework.errors import FieldError
from idcsched.outbound.bounded import Bounded
from idcsched.outbound.secrets import configured_hosts

__all__ = ["MAX_BYTES", "Ask", "Collector", "Config", "Record"]

Record = Mapping[str, Any]
"""What was found about one thing, as the source tells it; the mapping says what it means."""
MAX_BYTES = 16 * 1024 * 1024
"""The largest reply that is read, unpacked."""
RETRIES = 2


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind can be told. A kind adds fields of its own in a subclass."""

    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=120)] = 20.0
    """For everything that is asked in one run, with its repetitions."""
    allow_empty: bool = False
    """A run that finds nothing is fine; unless this is said, it has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Bounded):
    """What one run may use. `now` is the time of the run."""

    max_bytes: ClassVar[int] = MAX_BYTES
    retries: ClassVar[int] = RETRIES


class Collector(ABC):
    """One kind of source. The first line of the docstring says what it asks; `Config` is what it can be told."""

    kind: ClassVar[str]
    Config: ClassVar[type[Config]] = Config
    mapping: ClassVar[Mapping[str, Any]] = {}
    """What a source's mapping need not say, since every source of the kind would."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def collect(self, ask: Ask) -> Iterable[Record]:
        """Ask once and yield what was found, record by record; changes nothing, here or there.

        May raise any IdcschedError, its own or from `ask`; what else it raises counts as a bug of this class, and
        either fails the run and leaves stored values as they are.
        """

    def hosts(self) -> Iterable[str]:
        """The hosts to which the secret is sent: the `host` of the configuration, and that of its `url`.

        `ask.fetch` sends nothing elsewhere; a kind that connects in another way names here whom it connects to.
        """
        return configured_hosts(self.config)

    def check(self) -> Iterable[FieldError]:
        """What is wrong with the configuration that types alone can't tell; pointers lie within it."""
        return ()
