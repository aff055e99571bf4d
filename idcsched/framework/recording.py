"""The inputs of a decision as bytes, from which the decision can be replayed, also with other weights.

Only what the decision could see is recorded: the rows of the regions asked for and those that the request names.
`decide` on the unpacked inputs gives the same answer as on the whole snapshot, bit for bit.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from .archive import RecordedColumns
from .building import build_snapshot, busiest_hours
from .columns import IdcTable, LineColumns, columns_of
from .decoding import decoder_of
from .external import Reply
from .facts import History, ShapeFact, World
from .labels import Mask
from .overlay import Allocation, with_allocations
from .profile import Profile
from .question import Question
from .request import Request
from .rules import VERSION
from .shape import order_shape
from .snapshot import Snapshot

__all__ = [
    "Inputs",
    "RequestInputs",
    "columns_seen_by",
    "history_seen_by",
    "idcs_named",
    "inputs_of",
    "pack",
    "request_inputs",
    "unpack",
]

T = TypeVar("T")

FORMAT = 1
_KINDS = {"f": np.float64, "i": np.int64}  # for arrays that were packed without the width of their numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestInputs:
    """The inputs of one decision alone: the request, its time, its labels, and what the decision was based on."""

    request: Request
    snapshot_id: str
    built_at: float
    now: float
    reference: str
    labels: Mapping[str, str]
    replies: tuple[Reply, ...] = ()
    shape: ShapeFact | None = None
    """What was known of the traffic of the request's business."""
    taken: tuple[Allocation, ...] = ()
    """The allocations of earlier requests of the batch, which the world does not contain."""
    format: int = FORMAT
    rules: int = 1
    """The version of the rules; a record without this field was decided by version 1."""

    def replies_by_entry(self) -> dict[str, Reply]:
        """Return the external services' replies as a question has them."""
        return {reply.plugin: reply for reply in self.replies}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(RequestInputs):
    """All inputs of a decision but the profile, whose revisions are stored elsewhere."""

    world: World

    def question(self, profile: Profile) -> Question:
        """Return the question that was decided then, to be decided by `profile`."""
        return Question(
            self.request,
            self.snapshot(),
            profile,
            now=self.now,
            reference=self.reference,
            labels=self.labels,
            replies=self.replies_by_entry(),
        )

    def snapshot(self) -> Snapshot:
        """Return the snapshot that the decision was made on, as far as the request could see it."""
        world = self.world if self.shape is None else replace(self.world, shapes=(self.shape,))
        snapshot = build_snapshot(world, id=self.snapshot_id, built_at=self.built_at)
        return with_allocations(snapshot, self.taken) if self.taken else snapshot


def inputs_of(question: Question, taken: Iterable[Allocation] = ()) -> Inputs:
    """Return the inputs of the decision without what the request could not see."""
    request, snapshot, asked = question.request, question.snapshot, request_inputs(question, taken)
    world = columns_seen_by(request, snapshot).world()
    return _together(asked, replace(world, history=history_seen_by(request, snapshot) if request.bandwidth else None))


def request_inputs(question: Question, taken: Iterable[Allocation] = ()) -> RequestInputs:
    """Return the inputs of the decision but the world, which is the same for all requests about the same IDCs.

    The decision was made on the question's snapshot with `taken` laid over.
    """
    request, snapshot = question.request, question.snapshot
    seen, row_of = _seen(request, snapshot), snapshot.idcs.row_of
    return RequestInputs(
        request=request,
        snapshot_id=snapshot.id,
        built_at=snapshot.built_at,
        now=question.now,
        reference=question.reference,
        labels=question.labels,
        replies=tuple(question.replies.values()),
        rules=VERSION,
        shape=order_shape(request, question.labels, snapshot.shapes).known,
        taken=tuple([allocation for allocation in taken if seen[row_of[allocation.idc]]]),
    )


def columns_seen_by(request: Request, snapshot: Snapshot) -> RecordedColumns:
    """Return the part of the snapshot that the request can see: its regions' IDCs and those that it names."""
    return RecordedColumns.of(snapshot, np.flatnonzero(_seen(request, snapshot)))


def history_seen_by(request: Request, snapshot: Snapshot) -> History | None:
    """Return the history of the lines that the request can see."""
    if snapshot.history is None:
        return None
    return snapshot.history.of_lines(_seen(request, snapshot)[snapshot.lines.idc])


def pack(part: Inputs | RequestInputs | RecordedColumns | History | None) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(part, enc_hook=_encode_array), level=1)


def unpack(data: bytes, world: bytes | None = None, history: bytes | None = None) -> Inputs:
    """Return the inputs that `pack` wrote, whole or with world and history apart; raises ValueError for other bytes."""
    if world is None:
        document = _unpacked(data, dict[str, Any])
        return _converted(document, Inputs, document.get("world"))
    part = _unpacked(world, dict[str, Any])
    known = _converted(part, RecordedColumns, part).world()
    if history is not None:
        known = replace(known, history=_unpacked(history, History))
    return _together(_unpacked(data, RequestInputs), known)


def _converted(document: dict[str, Any], kind: type[T], part: Any) -> T:
    """Return the recorded document as that type, with the tables of its `part` of a snapshot in today's form."""
    try:
        if isinstance(part["idcs"], list):
            part |= _by_the_column(part["idcs"], part["lines"], part.pop("hourly", None))
        for name, table in (("idcs", IdcTable), ("lines", LineColumns)):
            _complete(part[name], table)
        decoder_of(kind)
        return msgspec.convert(document, kind, dec_hook=_decode_array)
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise ValueError(f"these are no recorded inputs: {error}") from error


def _by_the_column(idcs: list[Any], lines: list[Any], hourly: Any) -> dict[str, Any]:
    """Return the tables of IDCs and lines that were recorded by the row, with each hour of the week of each line."""
    of_idcs = IdcTable.of(idcs)
    of_lines = LineColumns.of(lines, of_idcs.codes)
    if hourly is not None:
        of_lines = replace(of_lines, busy_bits=busiest_hours(_decode_array(np.ndarray, hourly)))
    return {
        "idcs": {each.name: getattr(of_idcs, each.name) for each in fields(of_idcs)},
        "lines": {each.name: getattr(of_lines, each.name) for each in fields(of_lines)},
    }


def _complete(columns: dict[str, Any], table: type[Any]) -> None:
    """Add the columns of the table that a record lacks: nothing was known of them then."""
    rows, declared = len(columns["codes"]), columns_of(table)
    columns |= {name: column.made([column.missing] * rows) for name, column in declared.items() if name not in columns}


def _unpacked(data: bytes, kind: type[T]) -> T:
    decoder_of(kind)
    try:
        return msgspec.msgpack.decode(zlib.decompress(data), type=kind, dec_hook=_decode_array)
    except (zlib.error, msgspec.DecodeError) as error:
        raise ValueError(f"these are no recorded inputs: {error}") from error


def _together(asked: RequestInputs, world: World) -> Inputs:
    return Inputs(world=world, **{field.name: getattr(asked, field.name) for field in fields(asked)})


def _encode_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U":
            return value.tolist()
        return {"kind": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    raise NotImplementedError(f"{type(value).__name__} cannot be recorded")


def _decode_array(kind: type, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list):
        return np.array(value, dtype=np.str_)
    flat: npt.NDArray[Any] = np.frombuffer(value["data"], dtype=_KINDS.get(value["kind"], value["kind"]))
    return flat.reshape(value["shape"])


def _seen(request: Request, snapshot: Snapshot) -> Mask:
    """Return which rows the request can see: those of its regions, and those that it names."""
    seen = np.zeros(snapshot.size, dtype=np.bool_)
    for region in request.regions:
        seen[slice(*snapshot.spans[region])] = True
    row_of = snapshot.idcs.row_of
    seen[[row_of[code] for code in idcs_named(request)]] = True
    return seen


def idcs_named(request: Request) -> list[str]:
    """Return the IDCs that the request names, in whatever region."""
    what_if = request.hypothetical
    supposed = (what_if.taints or (), what_if.ignore_taints or ()) if what_if else ()
    return [
        *(request.only or ()),
        *(request.exclude or ()),
        *(taint.idc for taints in supposed for taint in taints),
        *(idc.code for idc in (what_if.idcs or () if what_if else ())),
    ]
