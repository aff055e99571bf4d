"""Collectors and drivers by kind: the built-in ones of a package, and third parties' by entry point.

They are looked up by kind and never imported elsewhere. One that cannot be loaded is listed with its error and affects
no other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from .errors import PluginBroken
from .messages import _
from .registry import load_subclasses

__all__ = ["Kinds", "check_kind", "load_kinds"]


class OfKind(Protocol):
    """What collectors and drivers have in common."""

    kind: ClassVar[str]
    Config: ClassVar[type[Any]]


Base = TypeVar("Base", bound=OfKind)


@dataclass(frozen=True, slots=True)
class Kinds(Generic[Base]):
    """Classes by kind, and the sources of those that could not be loaded, with the error."""

    classes: Mapping[str, type[Base]]
    broken: Mapping[str, str] = field(default_factory=dict)


def load_kinds(base: type[Base], *, package: str, group: str) -> Kinds[Base]:
    """Load the subclasses of `base` in the modules of `package`, and those of the entry points of `group`."""
    classes, broken = load_subclasses(
        base,
        package=package,
        group=group,
        name_of=lambda offered: offered.kind,
        check=lambda offered: check_kind(offered, base),
    )
    return Kinds(classes, broken)


def check_kind(offered: object, base: type[Base]) -> type[Base]:
    """Return the class if it keeps the contract of `base`; raises PluginBroken."""
    if not (isinstance(offered, type) and issubclass(offered, base)):
        what = repr(offered)
        raise PluginBroken("wrong_class", _("{object} is not a subclass of {base}"), object=what, base=base.__name__)
    kind = getattr(offered, "kind", None)
    if not isinstance(kind, str) or not kind.isidentifier() or kind != kind.lower():
        name = offered.__qualname__
        raise PluginBroken("bad_name", _("{object} needs a lower-case identifier as its kind"), object=name)
    if not issubclass(offered.Config, base.Config):
        raise PluginBroken("bad_config", _("{kind}: Config is not a subclass of Config"), kind=kind)
    if missing := sorted(getattr(offered, "__abstractmethods__", ())):
        raise PluginBroken("no_method", _("{kind} lacks {methods}"), kind=kind, methods=", ".join(missing))
    return offered
