"""The one base class of all scheduling plugins, and what its methods may return.

A plugin is a class with a `name`, an optional `Args` struct, and whichever of the life cycle's methods it overrides. An
entry point makes it known (`registry.py`). It holds its checked arguments and nothing else: one instance serves all
requests and threads.

Every method takes one context object (`context.Cycle`) and works on all its rows, one for each IDC, at once:

- `ctx.request`, the request's labels `ctx.labels` (a mapping), the time in seconds since 1970 `ctx.now`;
- `ctx.metric(code)`, a Reading; `ctx.take(column)`, the rows' part of any column of `ctx.snapshot`;
- masks, arrays of `ctx.size` bools, by the labels of the IDCs: `ctx.labelled(key, value)`, `ctx.matching(terms)`;
- `ctx.row_numbers[i]`, the number of the i-th row in the snapshot; `ctx.state`, a dict for the plugin's own use.
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
from .messages import Message, _
from .normalize import Floats, Scale
from .snapshot import Reading, Span

__all__ = [
    "METRIC_UNKNOWN",
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
)

Detail = Callable[[int], Mapping[str, Any]]
Figures = Callable[[int], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of rejection: a constant of the plugin's module.

    `label` is the noun phrase that is counted ("2 not enough bandwidth"); `sentence` is about one IDC, with
    `{fields}` from the verdict's detail. Both are English, and translated when they are shown. `cures` names what must
    change for an IDC to pass; a waiting order is tried again at such a change: `affinities`, `labels` (of the IDCs),
    `ledger`, `lines`, `metrics`, `outside`, `profile`, `status`, `stock`, `taints`. Without any, no change helps.
    """

    code: str
    label: Message
    sentence: Message
    cures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """The rejection of one IDC; `detail` fills the reason's sentence."""

    reason: Reason
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hold:
    """A permission that is still pending: the capacity stays reserved, no machine is started; `why` is for people."""

    why: str


METRIC_UNKNOWN = Reason(
    "metric_unknown", _("metric unknown"), _("the value of {metric} is not known"), cures=("metrics",)
)


class Verdict(msgspec.Struct, frozen=True):
    """Which rows a filter keeps: where `keep` is False, the row is rejected for `reason`.

    `reading` has the values that `keep` was calculated from. Where one is missing or stale, the profile's `on_missing`
    decides and not `keep`; a row that it rejects is rejected as `unknown` says, by default for METRIC_UNKNOWN.

    `detail(i)` gives the values that fill the reason's sentence for the i-th of `ctx`'s rows; with `need`, `free` and
    `short_by` among them, in one unit, a near miss shows how much was lacking. `figures(i)` gives the numbers by which
    a row passed, such as `{"need": 4, "free": 12}`, for a full explanation; None where there are none to show.
    """

    keep: Mask
    reason: Reason
    detail: Detail | None = None
    figures: Figures | None = None
    reading: Reading | None = None
    unknown: Rejection | None = None


class Note(msgspec.Struct, frozen=True):
    """A sentence in English with `{fields}`, and the values that fill them."""

    sentence: Message
    params: Mapping[str, Any]


class Universe(msgspec.Struct, frozen=True):
    """The rows that a request is about; other rows are not counted. Only a plugin with `narrows` may return one."""

    spans: tuple[Span, ...]

    def rows(self) -> slice | Rows:
        """Return a slice or, for several regions, the sorted distinct rows."""
        if len(self.spans) == 1:
            return slice(*self.spans[0])
        return np.unique(np.concatenate([np.arange(*span, dtype=np.intp) for span in self.spans]))


class NoArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a plugin that takes none."""


class Plugin:
    """The base of all plugins: override what you need. Where a method raises, the profile's `on_error` applies."""

    name: ClassVar[str]
    """The name that profiles use: lower case, unique among the registered plugins."""
    version: ClassVar[str] = "1"
    Args: ClassVar[type[msgspec.Struct]] = NoArgs
    """The arguments of a profile's entry, decoded by msgspec. A field without a default must be given; `__post_init__`
    may raise `errors.Invalid`.
    """
    scale: ClassVar[Scale] = Scale(kind="min_max")
    """How raw values become scores (`normalize.py` lists the kinds), such as
    `Scale(kind="fixed", better="less", low=0.0, high=9.0)`. The profile's normaliser comes first, then
    `normalize` if it is overridden, then `scale_for`, then this.
    """
    missing: ClassVar[Missing] = Missing()
    """What missing data means unless the profile says otherwise: `Missing(filter="pass", score="neutral")`."""
    narrows: ClassVar[bool] = False
    """Whether `pre_filter` returns a Universe; if so, the plugin runs before all others."""
    metrics: ClassVar[tuple[str, ...]] = ()
    """The metrics that the plugin reads, for documentation."""
    prices: ClassVar[bool] = False
    """Whether raw values are prices: what an order counts as per Mbps and month, in the installation's currency."""

    def __init__(self, args: msgspec.Struct | None = None) -> None:
        self.args: Any = self.Args() if args is None else args

    def scale_for(self, ctx: Cycle) -> Scale:
        """Return the scale for this decision, where it depends on arguments or on the snapshot."""
        return self.scale

    def gather(self, ctx: Cycle) -> Query | None:
        """Return a query to an external service about these IDCs; `ctx.reply` has the reply in `filter` and `score`."""

    def pre_filter(self, ctx: Cycle) -> Universe | Verdict | tuple[Verdict, ...] | None:
        """Reject IDCs that could never fit. Runs before all `filter` methods, so that rejections count here first."""

    def filter(self, ctx: Cycle) -> Verdict | tuple[Verdict, ...] | None:
        """Reject IDCs that must not be used; None keeps all. Of several verdicts the first to reject a row counts."""

    def post_filter(self, ctx: Cycle) -> Note | None:
        """Return a sentence on what would have helped; called with all rows of the request where no IDC is left."""

    def pre_score(self, ctx: Cycle) -> None:
        """Prepare in `ctx.state` what `score` needs, for all survivors at once."""

    def score(self, ctx: Cycle) -> Floats | Reading | None:
        """Return a raw value for each row: an array of finite floats, or a Reading, whose mask `known` says which
        values count. None: the plugin does not score this request.
        """
        raise NotImplementedError

    def filter_one(self, ctx: Cycle, idc: IdcView) -> Rejection | None:
        """Judge one IDC instead of all at once; None keeps it.

        Called after all filters, for the most promising IDC first, until enough IDCs have passed. Where `idc.metric`
        gives None, keep the IDC: it is rejected for METRIC_UNKNOWN if the profile says so.
        """

    def score_one(self, ctx: Cycle, idc: IdcView) -> float | None:
        """Return the raw value of one IDC instead of all at once; None: the value is unknown.

        A value that was calculated from a stale metric counts as stale.
        """

    def note(self, ctx: Cycle, position: int) -> Note | None:
        """Return a sentence about the raw value of `ctx`'s row `position`; called only for IDCs that are shown."""

    def normalize(self, ctx: Cycle, values: Floats) -> Floats:
        """Return scores of 0..100 for `values`, the known raw values of the survivors, in the plugin's own way."""
        raise NotImplementedError

    def reserve(self, ctx: Cycle) -> Iterable[Claim] | None:
        """Return an order's claims on the one IDC that is `ctx`'s only row."""

    def permit(self, ctx: Cycle) -> Rejection | Hold | None:
        """Decide whether the one IDC of `ctx` may be taken: None allows, Rejection refuses, Hold reserves for now."""

    @classmethod
    def points(cls) -> tuple[str, ...]:
        """Return the points that this class joins: the methods that it overrides."""
        return tuple(point for point in POINTS if cls.joins(point) or cls.joins(f"{point}_one"))

    @classmethod
    def scores(cls) -> bool:
        """Return whether the plugin gives raw values, for all IDCs at once or one by one."""
        return cls.joins("score") or cls.joins("score_one")

    @classmethod
    def joins(cls, point: str) -> bool:
        """Return whether the class overrides the method of that name."""
        own = getattr(Plugin, point, None)
        return own is not None and getattr(cls, point) is not own
