"""The inputs of a decision as bytes, so that it can be made again: today, next year, or with other weights.

Only what the decision could see is kept: the rows of the regions asked for and those that the request names.
`decide` on the unpacked inputs gives the same answer as on the whole snapshot, bit for bit.
"""

import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from .building import build_snapshot
from .facts import World
from .labels import Mask, Rows
from .outside import Reply
from .overlaying import laid_over
from .request import Request
from .seen import Seen
from .snapshot import Snapshot
from .standing import Tenancy

__all__ = ["Asked", "Inputs", "asked_of", "inputs_of", "named", "pack", "seen_by", "unpack"]

T = TypeVar("T")

FORMAT = 1
WORTH_PACKING = 1000
"""Bytes; what is shorter, as most questions are, gains too little by it."""
_latest: tuple[tuple[Tenancy, ...], msgspec.Raw] = ((), msgspec.Raw())
"""What was taken, and how it is packed."""
_KINDS = {"f": np.float64, "i": np.int64}  # of arrays that were packed without the width of their numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a decision depends on and shares with no other: who asked for what, and when."""

    request: Request
    snapshot_id: str
    built_at: float
    now: float
    reference: str
    labels: Mapping[str, str]
    replies: tuple[Reply, ...] = ()
    taken: tuple[Tenancy, ...] = ()
    """What those before it in a batch took, beyond what the world knows of."""
    format: int = FORMAT

    def replies_by_entry(self) -> dict[str, Reply]:
        """What the outside said, as `decide` takes it."""
        return {reply.plugin: reply for reply in self.replies}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(Asked):
    """All that a decision depends on, but for the profile, whose revisions are kept for themselves."""

    world: World

    def snapshot(self) -> Snapshot:
        """The picture that the decision was made on, as far as it could see it."""
        snapshot = build_snapshot(self.world, id=self.snapshot_id, built_at=self.built_at)
        return laid_over(snapshot, self.taken) if self.taken else snapshot


def inputs_of(
    request: Request,
    snapshot: Snapshot,
    *,
    now: float,
    reference: str,
    labels: Mapping[str, str],
    replies: Mapping[str, Reply] | None = None,
    taken: Iterable[Tenancy] = (),
) -> Inputs:
    """What `decide` was given, less what it could not see."""
    asked = asked_of(request, snapshot, now=now, reference=reference, labels=labels, replies=replies, taken=taken)
    return _together(asked, seen_by(request, snapshot).world())


def asked_of(
    request: Request,
    snapshot: Snapshot,
    *,
    now: float,
    reference: str,
    labels: Mapping[str, str],
    replies: Mapping[str, Reply] | None = None,
    taken: Iterable[Tenancy] = (),
) -> Asked:
    """What `decide` was given, but for the world, which is the same for all that ask for the same.

    It was given `snapshot` with what was `taken` laid over it.
    """
    return Asked(
        request=request,
        snapshot_id=snapshot.id,
        built_at=snapshot.built_at,
        now=now,
        reference=reference,
        labels=labels,
        replies=tuple((replies or {}).values()),
        taken=_taken_in_sight(request, snapshot, tuple(taken)),
    )


def _taken_in_sight(request: Request, snapshot: Snapshot, taken: tuple[Tenancy, ...]) -> tuple[Tenancy, ...]:
    """The same object for all that ask for the same at one moment, so that it is packed once for them."""
    if not taken:
        return ()
    asked = tuple(request.regions), tuple(named(request))
    then = snapshot.derived.get("taken in sight")
    if then is not None and then[0] is taken and then[1] == asked:
        found: tuple[Tenancy, ...] = then[2]
        return found
    seen, row_of = _sees(request, snapshot), snapshot.idcs.row_of
    found = tuple([tenancy for tenancy in taken if seen[row_of[tenancy.idc]]])
    snapshot.derived["taken in sight"] = taken, asked, found
    return found


def seen_by(request: Request, snapshot: Snapshot) -> Seen:
    """What the request could see of the world: it depends on its regions and on the IDCs that it names."""
    return Seen.of(snapshot, _rows_seen(request, snapshot))


def pack(part: Inputs | Asked | Seen) -> bytes:
    taken = getattr(part, "taken", ())
    form = replace(part, taken=_packed_taken(taken)) if taken else part
    packed = msgspec.msgpack.encode(form, enc_hook=_encode_array)
    return zlib.compress(packed, level=1) if len(packed) > WORTH_PACKING else _in_one_block(packed)


def _packed_taken(taken: tuple[Tenancy, ...]) -> Any:
    """Orders that are decided at once have all the same before them: it is encoded for the first of them."""
    global _latest  # noqa: PLW0603  # one pair, replaced at once: whoever comes too late encodes once more
    of, packed = _latest
    if of is not taken:
        packed = msgspec.Raw(msgspec.msgpack.encode(taken))
        _latest = taken, packed
    return packed


def _in_one_block(packed: bytes) -> bytes:
    """As zlib writes what it does not compress, but without its working memory, and at once."""
    size = len(packed)
    block = struct.pack("<BHH", 1, size, size ^ 0xFFFF)
    return b"\x78\x01" + block + packed + struct.pack(">I", zlib.adler32(packed))


def unpack(data: bytes, world: bytes | None = None) -> Inputs:
    """What `pack` was given, whole or in two parts; raises ValueError for anything else."""
    if world is None:
        return _unpacked(data, Inputs)
    in_columns = _unpacked(world, _Form).form > 1
    return _together(_unpacked(data, Asked), _unpacked(world, Seen).world() if in_columns else _unpacked(world, World))


class _Form(msgspec.Struct):
    """How a world was packed: what was kept before there were others does not say."""

    form: int = 1


def _unpacked(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.msgpack.decode(zlib.decompress(data), type=kind, dec_hook=_decode_array)
    except (zlib.error, msgspec.DecodeError) as error:
        raise ValueError(f"these are no recorded inputs: {error}") from error


def _together(asked: Asked, world: World) -> Inputs:
    return Inputs(world=world, **{field.name: getattr(asked, field.name) for field in fields(asked)})


def _encode_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"kind": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    raise NotImplementedError(f"{type(value).__name__} cannot be recorded")


def _decode_array(kind: type, value: Any) -> Any:
    flat: npt.NDArray[Any] = np.frombuffer(value["data"], dtype=_KINDS.get(value["kind"], value["kind"]))
    return flat.reshape(value["shape"])


def _rows_seen(request: Request, snapshot: Snapshot) -> Rows:
    """The rows of the regions asked for, and those that the request names."""
    return np.flatnonzero(_sees(request, snapshot))


def _sees(request: Request, snapshot: Snapshot) -> Mask:
    """Whether the request could see it, row by row."""
    seen = np.zeros(snapshot.size, dtype=np.bool_)
    for region in request.regions:
        seen[slice(*snapshot.spans[region])] = True
    row_of = snapshot.idcs.row_of
    seen[[row_of[code] for code in named(request)]] = True
    return seen


def named(request: Request) -> list[str]:
    """The IDCs that the request names, wherever they are."""
    what_if = request.hypothetical
    supposed = (what_if.taints or (), what_if.ignore_taints or ()) if what_if else ()
    return [
        *(request.only or ()),
        *(request.exclude or ()),
        *(taint.idc for taints in supposed for taint in taints),
        *(idc.code for idc in (what_if.idcs or () if what_if else ())),
    ]
