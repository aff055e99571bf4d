"""`extender` (Gather, Filter, Score): asks an HTTP service about all survivors of the other filters, in one call.

Arguments: `url` (the service), `timeout_seconds` (for the whole call, retries and all), `retries` (after a broken
connection or a status of 429, 500 or above), `attributes` (what to send about each IDC besides its code: `idc/name`,
`idc/region`, `idc/tier`, `idc/status`, `idc/partition`, `idc/provider`, `idc/isp`, `idc/latitude`, `idc/longitude`,
`label/‹key›`, `metric/‹code›`), `filter` and `score` (whether it may reject, and whether it scores), `low` and `high`
(the range of its scores, on which they are normalised; more is better). No weight unless the profile gives one.

The service gets `{"request": {…}, "candidates": [{"code": …, …}]}` and answers
`{"rejected": {code: reason}, "scores": {code: number}}`, either of which may be absent
([the wire format](../extender.md)).

Missing data: an attribute that is unknown or stale is sent as null; an IDC that is not rejected stays; one without a
score is neutral. A service that is down, slow or not allowed (`OUTBOUND_HOSTS`), and an answer of which any part is
wrong (another shape, a code that was not sent, a score out of range) is a failure, which the entry's `on_error`
decides on: by default the decision fails if the entry filters, and the entry leaves the sum if it only scores.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.decoding import decoder_of
from idcsched.framework.errors import Invalid, Unavailable
from idcsched.framework.external import Query
from idcsched.framework.labels import Mask, Rows
from idcsched.framework.messages import _
from idcsched.framework.normalize import Floats, Scale, sound_range
from idcsched.framework.plugin import Plugin, Reason, Verdict
from idcsched.framework.snapshot import Idcs, Reading

REJECTED = Reason("extender_rejected", _("rejected by an extender"), _("{extender} says: {reason}"), cures=("outside",))

ASKED = (
    "request_id",
    "region",
    "isp",
    "isp_match",
    "tier",
    "partition",
    "selector",
    "prefer",
    "tolerations",
    "machines",
    "client",
    "shape",
)
"""The fields of the request that the service gets: those about what must fit where."""
FOR_THE_PROVIDER = "params"
LONGEST_REASON = 500
LONGEST_CODE = 100

COLUMNS: Mapping[str, Callable[[Idcs], Any]] = {
    "name": lambda idcs: idcs.names,
    "region": lambda idcs: idcs.regions,
    "tier": lambda idcs: idcs.tiers,
    "status": lambda idcs: idcs.statuses,
    "partition": lambda idcs: idcs.partitions,
    "provider": lambda idcs: idcs.providers,
    "latitude": lambda idcs: idcs.latitude,
    "longitude": lambda idcs: idcs.longitude,
}
ISP = "isp"
KINDS = ("idc", "label", "metric")


class ExtenderArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The service, what is sent to it, and what it may answer."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2000, examples=["https://judge.example.com/idcs"])]
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=10)] = 0.5
    retries: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0
    attributes: Annotated[tuple[str, ...], msgspec.Meta(max_length=100)] = ()
    filter: bool = True
    score: bool = True
    low: float = 0.0
    high: float = 100.0

    def __post_init__(self) -> None:
        if not _is_callable(self.url):
            raise Invalid("invalid_url", _("an address begins with http:// or https:// and holds no password"), "/url")
        for position, attribute in enumerate(self.attributes):
            if not _is_attribute(attribute):
                raise Invalid(
                    "unknown_attribute",
                    _("{attribute} is none of {known}, label/… and metric/…"),
                    f"/attributes/{position}",
                    attribute=attribute,
                    known=", ".join(f"idc/{fact}" for fact in (*COLUMNS, ISP)),
                )
        if not sound_range(self.low, self.high):
            raise Invalid("empty_range", _("low must be less than high"), "/high")
        if not (self.filter or self.score):
            raise Invalid("idle_plugin", _("an extender filters, scores or does both"), "/filter")


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A service's answer. Scores may be whole numbers."""

    rejected: dict[str, str] = {}
    scores: dict[str, float] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A checked answer: reasons and scores by row of the snapshot; NaN: no score."""

    reasons: Mapping[int, str]
    scores: Floats


class Extender(Plugin):
    """For rules that another service holds. Every part of its answer is checked."""

    name = "extender"
    Args = ExtenderArgs
    scale = Scale(kind="fixed", better="more", low=0.0, high=100.0)

    def scale_for(self, ctx: Cycle) -> Scale:
        return Scale(kind="fixed", better="more", low=self.args.low, high=self.args.high)

    def gather(self, ctx: Cycle) -> Query:
        return Query(
            plugin=ctx.entry,
            url=self.args.url,
            body={"request": _request(ctx), "candidates": _candidates(ctx, self.args.attributes)},
            timeout_seconds=self.args.timeout_seconds,
            retries=self.args.retries,
        )

    def filter(self, ctx: Cycle) -> Verdict | None:
        inside = np.zeros(ctx.snapshot.size, dtype=np.bool_)
        inside[ctx.rows] = True
        ctx.state[self.name] = inside  # all rows of the request, for `score`, which sees the survivors alone
        if not self.args.filter or ctx.reply is None:
            return None
        reasons, rows, extender = self._checked_answer(ctx).reasons, ctx.row_numbers, ctx.entry
        keep = np.ones(ctx.snapshot.size, dtype=np.bool_)
        keep[list(reasons)] = False
        return Verdict(
            ctx.take(keep), REJECTED, lambda i: {"extender": extender, "reason": reasons.get(int(rows[i]), "")}
        )

    def score(self, ctx: Cycle) -> Reading | None:
        if not self.args.score:
            return None
        scores = ctx.take(self._checked_answer(ctx).scores)
        return Reading(metric=ctx.entry, values=scores, known=~np.isnan(scores))

    def _checked_answer(self, ctx: Cycle) -> Said:
        """Return the reply, checked once in a decision; raises Unavailable for none, ValueError for a wrong one."""
        key = (self.name, ctx.entry)
        if key not in ctx.state:
            ctx.state[key] = self._check_reply(ctx)
        answer: Said = ctx.state[key]
        return answer

    def _check_reply(self, ctx: Cycle) -> Said:
        reply = ctx.reply
        if reply is None or reply.error is not None:
            raise Unavailable("no_answer", _("{error}"), error="it was not asked" if reply is None else reply.error)
        answer, inside = _answer(reply.document), ctx.state[self.name]
        rejected, scored = _rows(ctx, answer.rejected, inside), _rows(ctx, answer.scores, inside)
        scores = np.full(ctx.snapshot.size, np.nan)
        scores[scored] = self._within_range(answer.scores)
        reasons = map(_readable, answer.rejected.values())
        return Said(reasons=dict(zip(rejected.tolist(), reasons, strict=True)), scores=scores)

    def _within_range(self, scores: Mapping[str, float]) -> Floats:
        """Return the scores in their order; raises ValueError for one out of range."""
        for code, score in scores.items():
            if not self.args.low <= score <= self.args.high:  # also true for NaN
                raise ValueError(f"scores {code} {score:g}, not within {self.args.low:g}..{self.args.high:g}")
        return np.fromiter(scores.values(), dtype=np.float64, count=len(scores))


def _answer(document: Any) -> Answer:
    """Convert the document; raises ValueError, with a readable line, for one of another shape."""
    decoder_of(Answer)
    try:
        return msgspec.convert(document, Answer)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ValueError(_readable(str(error))) from None


def _rows(ctx: Cycle, codes: Iterable[str], inside: Mask) -> Rows:
    """Return these IDCs' rows in the snapshot; raises ValueError for one that the request is not about."""
    row_of, rows = ctx.snapshot.idcs.row_of, []
    for code in codes:
        row = row_of.get(code)
        if row is None or not inside[row]:
            raise ValueError(f"answers about {code[:LONGEST_CODE]!r}, about which it was not asked")
        rows.append(row)
    return np.array(rows, dtype=np.intp)


def _readable(reason: str) -> str:
    """Return a service's text as one printable line of bounded length."""
    return "".join(letter if letter.isprintable() else " " for letter in reason[:LONGEST_REASON])


def _request(ctx: Cycle) -> dict[str, Any]:
    """Return the part of the request that the service gets, with all labels (the tenant among them)."""
    request: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(ctx.request))
    shared = {field: request[field] for field in ASKED if request.get(field) is not None}
    for machine in shared.get("machines", ()):
        machine.pop(FOR_THE_PROVIDER, None)
    return {**shared, "labels": dict(ctx.labels)}


def _candidates(ctx: Cycle, attributes: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return each IDC of `ctx` with its code and the declared attributes."""
    names = ("code", *attributes)
    columns = ([ctx.snapshot.idcs.codes[row] for row in ctx.row_numbers.tolist()], *_columns(ctx, attributes))
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _columns(ctx: Cycle, attributes: tuple[str, ...]) -> list[list[Any]]:
    return [_column(ctx, *attribute.split("/", 1)) for attribute in attributes]


def _column(ctx: Cycle, kind: str, name: str) -> list[Any]:
    """Return one attribute of the rows of `ctx`; null where it is unknown."""
    idcs, rows = ctx.snapshot.idcs, ctx.row_numbers.tolist()
    if kind == "metric":
        reading = ctx.metric(name)
        return [float(value) if known else None for value, known in zip(reading.values, reading.known, strict=True)]
    if kind == "label":
        return [idcs.labels[row].get(name) for row in rows]
    if name == ISP:
        return [_isps(ctx, row) for row in rows]
    column = COLUMNS[name](idcs)
    return [_known(column[row]) for row in rows]


def _known(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)


def _isps(ctx: Cycle, row: int) -> list[str]:
    lines = ctx.snapshot.lines
    return sorted(set(lines.isps[lines.first[row] : lines.first[row + 1]]))


def _is_attribute(text: str) -> bool:
    kind, _, name = text.partition("/")
    return kind in KINDS and bool(name) and (kind != "idc" or name in (*COLUMNS, ISP))


def _is_callable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        sound_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return (
        plain and sound_port and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    )
