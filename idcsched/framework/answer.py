"""The answer to a request in the form that the API documents: plain values that msgspec encodes."""

from typing import Any, Literal

import msgspec

__all__ = [
    "Answer",
    "Bill",
    "Candidate",
    "Flip",
    "Hint",
    "IdcShare",
    "LineBill",
    "LineUse",
    "Margin",
    "NearMiss",
    "Passed",
    "PluginError",
    "Rejected",
    "RejectedCount",
    "Score",
    "Stale",
    "Tie",
    "Worth",
]


NoPrice = Literal["bill_not_weighed", "no_bandwidth", "bill_unknown", "not_fixed"]
"""Why points have no price: the profile weighs no bill, the order needs no bandwidth, no IDC's bill is known, or the
profile normalises the bill in another way than on a fixed range."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The base of all parts of an answer. They hold plain values and form no reference cycles, hence `gc=False`."""


class LineUse(_Part, frozen=True, kw_only=True):
    """A line that the order would use. `note`: why the profile chooses this line and not the roomiest; absent where
    this is the roomiest."""

    line: str
    isp: str
    bandwidth_mbps: float
    note: str | msgspec.UnsetType = msgspec.UNSET


class Score(_Part, frozen=True, kw_only=True):
    """One scorer's steps from the raw value to the contribution. `missing`: what replaced a missing value; `range`: the
    lowest and the highest raw value that count, where the scale is fixed."""

    raw: float | None
    normalized: float | None
    weight: float
    nominal_weight: float
    contribution: float
    age_seconds: float | None
    missing: str | None
    range: tuple[float, ...] | msgspec.UnsetType = msgspec.UNSET
    note: str | msgspec.UnsetType = msgspec.UNSET


class LineBill(_Part, frozen=True, kw_only=True):
    """What a month on one line costs without the order and with it, and the difference, to the cent."""

    line: str
    per_month: float
    before: float
    after: float
    method: str


class Bill(_Part, frozen=True, kw_only=True):
    """What the order adds to the bandwidth bill of a month, to the cent. `before`, `after`: the bill of its lines
    without and with it. `method`: from their last 30 days by the hour (`exact`), from the mean week of what is known of
    these (`weekly`), or at a flat rate (`fixed`). `counted`: what the profile scores instead, with what the order uses
    up of commit and room; null where it scores no price. `history_days`: how much is known, of the line of which least
    is; null where only flat rates are paid."""

    currency: str
    per_month: float
    before: float
    after: float
    method: str
    counted: float | None
    history_days: int | None
    lines: tuple[LineBill, ...]


class Passed(_Part, frozen=True, kw_only=True):
    """A filter that let the IDC pass, and the numbers that it judged by."""

    plugin: str
    figures: dict[str, Any]


class Candidate(_Part, frozen=True, kw_only=True):
    """One IDC of the ranking. `filters`: in a full explanation the filters that judged by numbers; absent where none
    did. `chosen`: this candidate was planned, or picked among those near the best; absent elsewhere. `bill_unknown`:
    why there is no bill, `no_bandwidth`, `no_price` or `no_traffic`; absent where there is one."""

    rank: int
    idc: str
    lines: tuple[LineUse, ...]
    score: float
    scores: dict[str, Score]
    bill: Bill | None = None
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET
    filters: tuple[Passed, ...] | msgspec.UnsetType = msgspec.UNSET
    chosen: bool | msgspec.UnsetType = msgspec.UNSET


class Tie(_Part, frozen=True, kw_only=True):
    """The IDCs that share the best total. `others`: how many more than the listed ones do; absent where none do."""

    between: tuple[str, ...]
    broken_by: str
    values: dict[str, float | None]
    others: int | msgspec.UnsetType = msgspec.UNSET


class Worth(_Part, frozen=True, kw_only=True):
    """What points are worth in money, over all IDCs that fit and not only those shown.

    `best`: for each scorer the largest contribution of any of these IDCs. `per_point`: the money per month that one
    point is worth; null where points have no price, for the reason in `no_price`.
    """

    currency: str
    per_point: float | None
    best: dict[str, float]
    no_price: NoPrice | msgspec.UnsetType = msgspec.UNSET


class Flip(_Part, frozen=True, kw_only=True):
    """The weight at which the runner-up draws level, all others unchanged; null: none between 0 and 10,000."""

    scorer: str
    weight: float | None


class Margin(_Part, frozen=True, kw_only=True):
    runner_up: str
    score: float
    flips: tuple[Flip, ...]


class Rejected(_Part, frozen=True, kw_only=True):
    """One IDC that was rejected. `also`: the other plugins that would have rejected the IDC too."""

    idc: str
    plugin: str
    code: str
    reason: str
    detail: dict[str, Any]
    also: tuple[str, ...]


class RejectedCount(_Part, frozen=True, kw_only=True):
    plugin: str
    code: str
    count: int


class NearMiss(_Part, frozen=True, kw_only=True):
    """An IDC that only one plugin rejects. `cures`: the kinds of change that may let it pass, as the plugin's reason
    names them; `detail` as in a rejection."""

    idc: str
    plugin: str
    code: str
    need: float | None
    free: float | None
    short_by: float | None
    reason: str
    cures: tuple[str, ...] = ()
    detail: dict[str, Any] = {}


class Stale(_Part, frozen=True, kw_only=True):
    idc: str
    line: str | None
    metric: str
    age_seconds: float | None
    used_as: str


class EarlierGroup(_Part, frozen=True, kw_only=True):
    index: int
    rejected_counts: tuple[RejectedCount, ...]


class FallbackGroup(_Part, frozen=True, kw_only=True):
    """The group that won (null: none did) and why the ones before it were empty."""

    index: int | None
    earlier: tuple[EarlierGroup, ...]


class PluginError(msgspec.Struct, frozen=True):
    plugin: str
    point: str
    error: str


class Hint(_Part, frozen=True, kw_only=True):
    """A plugin's sentence on what would have helped, where no IDC fits."""

    plugin: str
    hint: str


class IdcBrief(_Part, frozen=True, kw_only=True):
    code: str
    name: str
    region: str


class IdcShare(_Part, frozen=True, kw_only=True):
    """One of the IDCs that the machines are spread over."""

    idc: str
    lines: tuple[LineUse, ...]
    machine_count: int
    score: float
    bill: Bill | None = None
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET


class Answer(_Part, frozen=True, kw_only=True):
    """The engine's part of the API's answer; the caller adds ids, ages and the commit token.

    `shape_from`: by which shape the order's traffic counts, the `request`'s, an `entered`, a `learnt` or a `flat` one;
    absent where no bandwidth is needed. `shape_note` says more where it is not the request's. `bill` is what the order
    adds where it would stand, over all its IDCs. `worth`: absent where nothing is explained or nothing fits.
    """

    result: str
    reason_code: str | None
    idc: IdcBrief | None
    lines: tuple[LineUse, ...]
    score: float | None
    score_mean: float | None
    candidates: tuple[Candidate, ...] | None
    tie: Tie | None
    margin: Margin | None
    rejected: tuple[Rejected, ...] | None
    rejected_counts: tuple[RejectedCount, ...] | None
    near_misses: tuple[NearMiss, ...] | None
    summary: str
    evaluated: int
    feasible: int
    not_visited: int
    picked: str
    fallback_group: FallbackGroup | None
    stale: tuple[Stale, ...] | None
    plugin_errors: tuple[PluginError, ...]
    bill: Bill | None = None
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET
    shape_from: str | msgspec.UnsetType = msgspec.UNSET
    shape_note: str | msgspec.UnsetType = msgspec.UNSET
    hints: tuple[Hint, ...] | msgspec.UnsetType = msgspec.UNSET
    truncated: bool | msgspec.UnsetType = msgspec.UNSET
    idcs: tuple[IdcShare, ...] | msgspec.UnsetType = msgspec.UNSET
    worth: Worth | msgspec.UnsetType = msgspec.UNSET
