"""The one base class of all scheduling plugins, and what its methods may return.

A plugin is a class with a `name`, an optional `Args` struct, and whichever of the life cycle's methods it overrides.
Every method takes one context object (`context.Cycle`) and works on all its rows at once. It has what is asked
(`ctx.request`, `ctx.labels`), the time in seconds since 1970 (`ctx.now`), metrics (`ctx.metric(code)`) and masks by
label (`ctx.labelled(key, value)`, `ctx.matching(terms)`). A plugin holds its checked arguments and nothing else: the
same instance serves all requests and threads.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
import numpy as np

from .capacity import Claim
from .context import Cycle, IdcView, Missing
from .external import Query
from .labels import Mask, Rows
from .messages import Message
from .normalize import Floats, Scale
from .snapshot import Reading, Span

__all__ = [
    "POINTS",
    "Detail",
    "Figures",
    "Hold",
    "Missing",
    "NoArgs",
    "Note",
    "Plugin",
    "Reason",
    "Rejection",
    "Universe",
    "Verdict",
]

POINTS = (
    "gather",
    "pre_filter",
    "filter",
    "post_filter",
    "pre_score",
    "score",
    "normalize",
    "reserve",
    "permit",
    "post_bind",
)

Detail = Callable[[int], Mapping[str, Any]]
Figures = Callable[[int], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of rejection: a constant of the plugin's module.

    `label` is the noun phrase that is counted ("2 not enough bandwidth"); `sentence` says it of one IDC, with
    `{fields}` from the verdict's detail. Both are English, and translated when they are shown. `cures` names what must
    change for an IDC to pass, so that an order which waits is tried again then: `affinities`, `labels`, `ledger`,
    `lines`, `metrics`, `profile`, `status`, `stock`, `taints`.
    """

    code: str
    label: Message
    sentence: Message
    cures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why one IDC goes; `detail` fills the reason's sentence."""

    reason: Reason
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hold:
    """Permission is not given yet: what was taken stays reserved, and nothing is started; `why` says it to people."""

    why: str


class Verdict(msgspec.Struct, frozen=True):
    """Which rows a filter keeps: where `keep` is False, the row is rejected for `reason`.

    `detail(i)` gives what fills the reason's sentence for the i-th of `ctx`'s rows; where it holds `need`, `free` and
    `short_by`, in one unit, a near miss tells how far it was off. `figures(i)` gives the numbers by which a row was let
    pass, None where there is nothing to tell of it.
    """

    keep: Mask
    reason: Reason
    detail: Detail | None = None
    figures: Figures | None = None


class Note(msgspec.Struct, frozen=True):
    """A sentence in English with `{fields}`, and what fills them."""

    sentence: Message
    params: Mapping[str, Any]


class Universe(msgspec.Struct, frozen=True):
    """The rows that a request is about at all; others are not even counted. Only `narrows` plugins may return it."""

    spans: tuple[Span, ...]

    def rows(self) -> slice | Rows:
        """One slice, or, for several regions, the sorted rows without repetition."""
        if len(self.spans) == 1:
            return slice(*self.spans[0])
        return np.unique(np.concatenate([np.arange(*span, dtype=np.intp) for span in self.spans]))


class NoArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For plugins without arguments."""


class Plugin:
    """The base of all plugins: override what you need. A method may raise: the profile's `on_error` says what then."""

    name: ClassVar[str]
    """What profiles call it: lower case, unique among the registered."""
    version: ClassVar[str] = "1"
    Args: ClassVar[type[msgspec.Struct]] = NoArgs
    """The arguments that a profile may give; decoded strictly, `__post_init__` may raise Invalid."""
    scale: ClassVar[Scale] = Scale(kind="min_max")
    """How its raw values become scores unless the profile or `scale_for` says otherwise."""
    missing: ClassVar[Missing] = Missing()
    """What missing data means unless the profile says otherwise: `Missing(filter=…, score=…)`."""
    narrows: ClassVar[bool] = False
    """Its pre_filter returns a Universe and runs before all others."""
    metrics: ClassVar[tuple[str, ...]] = ()
    """The metrics that it reads, for people to see."""

    def __init__(self, args: msgspec.Struct | None = None) -> None:
        self.args: Any = self.Args() if args is None else args

    def scale_for(self, ctx: Cycle) -> Scale:
        """Return the scale for this decision, where it depends on arguments or on the snapshot."""
        return self.scale

    def gather(self, ctx: Cycle) -> Query | None:
        """Return what to ask of an external service about these IDCs; in `filter` and `score` `ctx.reply` answers."""

    def pre_filter(self, ctx: Cycle) -> Universe | Verdict | tuple[Verdict, ...] | None:
        """As `filter`, but before all filters, so that rejections count here first; for what could never fit."""

    def filter(self, ctx: Cycle) -> Verdict | tuple[Verdict, ...] | None:
        """Take out what must not be used; None keeps all. Of several verdicts the first that rejects a row counts."""

    def post_filter(self, ctx: Cycle) -> Note | None:
        """Called only where no IDC is left, with all rows of the request: what would have helped, in a sentence."""

    def pre_score(self, ctx: Cycle) -> None:
        """Prepare in `ctx.state` what `score` needs, for all survivors at once."""

    def score(self, ctx: Cycle) -> Floats | Reading | None:
        """Return a raw value per row: an array (all known), a Reading, or None: nothing to say of this request."""
        raise NotImplementedError

    def filter_one(self, ctx: Cycle, idc: IdcView) -> Rejection | None:
        """Judge one IDC instead of all at once; None keeps it.

        Called after all filters, for the most promising first, and no more once enough IDCs have passed.
        """

    def score_one(self, ctx: Cycle, idc: IdcView) -> float | None:
        """The raw value of one IDC instead of all at once; None: it is not known."""

    def note(self, ctx: Cycle, position: int) -> Note | None:
        """A sentence about the raw value of one survivor, for the explanation; asked only for those shown."""

    def normalize(self, ctx: Cycle, values: Floats) -> Floats:
        """Turn known raw values into 0..100 in the plugin's own way, unless the profile names a normaliser instead."""
        raise NotImplementedError

    def reserve(self, ctx: Cycle) -> Iterable[Claim] | None:
        """Return what an order takes of the one IDC that is `ctx`'s only row."""

    def permit(self, ctx: Cycle) -> Rejection | Hold | None:
        """Whether the one IDC that is `ctx`'s only row may be taken: None allows; Hold keeps it reserved for now."""

    def post_bind(self, ctx: Cycle) -> None:
        """Be told how it went. Nothing calls it yet."""

    @classmethod
    def points(cls) -> tuple[str, ...]:
        """The points that this class joins: the methods that it overrides."""
        return tuple(point for point in POINTS if cls.joins(point) or cls.joins(f"{point}_one"))

    @classmethod
    def scores(cls) -> bool:
        """Whether it gives raw values, for all at once or one by one."""
        return cls.joins("score") or cls.joins("score_one")

    @classmethod
    def joins(cls, point: str) -> bool:
        """Whether it overrides the method of that name."""
        own = getattr(Plugin, point, None)
        return own is not None and getattr(cls, point) is not own
