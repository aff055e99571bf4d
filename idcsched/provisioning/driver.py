"""The base class of provider drivers: four methods, which start machines, look for them and remove them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import msgspec

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.outbound.call_bounds import CallBounds
from idcsched.outbound.secrets import configured_hosts

__all__ = ["Call", "Condition", "Config", "Driver", "Existing", "NotHere", "Wanted"]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The configuration that all kinds share. A kind adds its own fields in a subclass."""

    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=120)] = 30.0
    """The deadline of all calls for one machine in one turn."""
    boot_seconds: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 900.0
    """The time after which a machine that is not up has failed."""
    tries: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    """The number of attempts to start a machine before it has failed."""
    look_every_seconds: Annotated[float, msgspec.Meta(ge=60, le=604_800)] = 3600.0
    """The interval of checks on machines that have been up for an hour."""


class Condition(StrEnum):
    """The condition of a machine as its provider reports it."""

    STARTING = "starting"
    UP = "up"
    BROKEN = "broken"
    """The machine will not come up any more."""
    GOING = "going"
    """The machine is being removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A machine that is to be started. `shape` holds what the order says of it: `cpu`, `image`, `params` …

    `token` identifies the machine and is attached to what is created, so that `find` can look for it.
    `idempotency_key` is the same in every repetition of one `create`; it changes once a created machine has failed.
    """

    token: str
    idempotency_key: str
    name: str
    idc: str
    region: str
    tenant: str
    placement: str
    shape: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """A machine that exists at the provider. `error`: what is wrong with the machine, in the provider's words."""

    id: str
    condition: Condition
    addresses: tuple[str, ...] = ()
    error: str = ""


class NotHere(Unavailable):
    """The machine was not created, and a retry will not help: no such image, no room, not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(CallBounds):
    """The bounds of one turn with a provider; fetches are not retried. `provider` is the row's code."""

    provider: str


class Driver(ABC):
    """One kind of provider. The first line of the docstring says where it starts machines; `Config` is its
    configuration.

    A method may raise any exception and may be cut off at any point: the caller never concludes that nothing was
    done, but looks for the machine by its token before a retry. `NotHere` alone means that nothing was created.
    """

    kind: ClassVar[str]
    Config: ClassVar[type[Config]] = Config

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def create(self, call: Call, wanted: Wanted) -> Existing:
        """Start a machine and mark it with `wanted.token`; need not wait until it is up."""

    @abstractmethod
    def find(self, call: Call, token: str) -> Sequence[Existing]:
        """Return all machines with this token that still exist, in whatever condition."""

    @abstractmethod
    def get(self, call: Call, machine_id: str) -> Existing | None:
        """Return the machine with that id; None once it is gone."""

    @abstractmethod
    def delete(self, call: Call, machine_id: str) -> None:
        """Have the machine removed; need not wait until it is. A machine that is gone, or going, is no error."""

    def hosts(self) -> Iterable[str]:
        """Return the hosts to which the secret is sent: the `host` of the configuration, and that of its `url`.

        `call.fetch` sends nothing to other hosts; a driver that connects in another way names its hosts here.
        """
        return configured_hosts(self.config)

    def check(self) -> Iterable[FieldError]:
        """Return the errors in the configuration that types alone can't express; pointers are relative to it."""
        return ()
