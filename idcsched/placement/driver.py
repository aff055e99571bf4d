"""What a kind of provider is: one class with four methods, which start machines, look for them and remove them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import msgspec

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.outbound.bounded import Bounded
from idcsched.outbound.secrets import configured_hosts

__all__ = ["Call", "Condition", "Config", "Driver", "Existing", "NotHere", "Wanted"]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind can be told. A kind adds fields of its own in a subclass."""

    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=120)] = 30.0
    """For all that is asked about one machine in one go."""
    boot_seconds: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 900.0
    """A machine that is not up by then has failed."""
    tries: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    """So often a machine is begun before it is given up."""
    look_every_seconds: Annotated[float, msgspec.Meta(ge=60, le=604_800)] = 3600.0
    """Machines that have been up for an hour are looked for so often."""


class Condition(StrEnum):
    """How a machine is, as its provider tells."""

    STARTING = "starting"
    UP = "up"
    BROKEN = "broken"
    """It will not come up any more."""
    GOING = "going"
    """It is being removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A machine that is to be started. `shape` holds what the order says of it: `cpu`, `image`, `params` …

    `token` is this machine's own and marks what is created, so that `find` knows it again. `idempotency_key` is the
    same in every repetition of one `create`, and another once what was created has come to nothing.
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
    """A machine that is there. `error`: what the provider says is wrong with it."""

    id: str
    condition: Condition
    addresses: tuple[str, ...] = ()
    error: str = ""


class NotHere(Unavailable):
    """It was not created and will not be, however often one asks: no such image, no room, not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Bounded):
    """What one turn may use; what it fetches it asks for once. `provider` is the row's code."""

    provider: str


class Driver(ABC):
    """One kind of provider. The first line of the docstring says where it starts machines; `Config` is what it can be
    told.

    A method may raise whatever it likes, and may be cut off at any point: nobody concludes from that that nothing was
    done. What is there is looked for, by token, before anything is done again. `NotHere` alone says that nothing is.
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
        """All machines with this mark that are still there, whatever condition they are in."""

    @abstractmethod
    def get(self, call: Call, machine_id: str) -> Existing | None:
        """The machine of that id; None once it is gone."""

    @abstractmethod
    def delete(self, call: Call, machine_id: str) -> None:
        """Have it removed; need not wait until it is. One that is gone, or going, is no error."""

    def hosts(self) -> Iterable[str]:
        """The hosts to which the secret is sent: the `host` of the configuration, and that of its `url`.

        `call.fetch` sends nothing elsewhere; a kind that connects in another way names here whom it connects to.
        """
        return configured_hosts(self.config)

    def check(self) -> Iterable[FieldError]:
        """What is wrong with the configuration that types alone can't tell; pointers lie within it."""
        return ()
