"""The inputs of a decision as bytes, so that it can be made again: today, next year, or with other weights.

Only what the decision could see is kept: the rows of the regions asked for and those that the request names.
`decide` on the unpacked inputs gives the same answer as on the whole snapshot, bit for bit.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from .archive import Seen
from .building import build_snapshot
from .external import Reply
from .facts import World
from .labels import Mask, Rows
from .overlay import Tenancy, laid_over
from .request import Request
from .rules import VERSION
from .snapshot import Snapshot

__all__ = ["Asked", "Inputs", "asked_of", "inputs_of", "named", "pack", "seen_by", "unpack"]

T = TypeVar("T")

FORMAT = 1
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
    rules: int = 1
    """The version of the rules that it was decided by; records that do not say so are of the first."""

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
    seen, row_of = _sees(request, snapshot), snapshot.idcs.row_of
    return Asked(
        request=request,
        snapshot_id=snapshot.id,
        built_at=snapshot.built_at,
        now=now,
        reference=reference,
        labels=labels,
        replies=tuple((replies or {}).values()),
        rules=VERSION,
        taken=tuple([tenancy for tenancy in taken if seen[row_of[tenancy.idc]]]),
    )


def seen_by(request: Request, snapshot: Snapshot) -> Seen:
    """What the request could see of the world: it depends on its regions and on the IDCs that it names."""
    return Seen.of(snapshot, _rows_seen(request, snapshot))


def pack(part: Inputs | Asked | Seen) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(part, enc_hook=_encode_array), level=1)


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
