"""The placements that stand and hold bandwidth, with what they hold, and the program that they make up together."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import numpy as np

from idcsched.framework.capacity import BANDWIDTH, Claim, demand
from idcsched.framework.cycle import decide, queries
from idcsched.framework.decision import Decision
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError
from idcsched.framework.line_bills import billable_share
from idcsched.framework.normalize import Floats
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.request import Planned, Request
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot
from idcsched.ledger.models import Claim as LedgerClaim
from idcsched.outbound.asking import ask
from idcsched.placement.lifecycle import HOLDING, State
from idcsched.placement.models import Placement
from idcsched.scheduling.deciding import labels_of, profile_of
from idcsched.scheduling.live import LiveState

from .problem import Options, Pick, Plannable, problem_of

__all__ = ["Held", "Standing", "holding_bandwidth", "plannable_of", "standing_of"]


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a placement holds of one line, what of that is not measured yet, and which part flows in busy hours.

    `fading_since`: from when on monitoring sees its traffic; None: it does not run yet.
    """

    amount: float
    pending: float
    busy: float
    fading_since: datetime | None

    @property
    def seen(self) -> float:
        """The Mbps that the line's measured use has of this placement, if it uses all that it ordered."""
        return (self.amount - self.pending) * self.busy


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A placement with the inputs of its decision, and what it holds where it stands: stock, machines, and lines."""

    placement: Placement
    request: Request
    profile: Profile
    labels: Mapping[str, str]
    stock: Allocation
    held: Mapping[int, Held]
    pick: Pick

    def alone(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot without the stock and the machines that the placement holds."""
        gone = [msgspec.structs.replace(claim, amount=-claim.amount) for claim in self.stock.claims]
        return with_allocations(
            snapshot, [msgspec.structs.replace(self.stock, claims=tuple(gone), machines=-self.stock.machines)]
        )

    def decision(self, snapshot: Snapshot, at: datetime) -> Decision:
        """Decide the request on that snapshot, with what outside services say; raises what `decide` raises."""
        key, now = str(self.placement.pk), at.timestamp()
        question = Question(self.request, snapshot, self.profile, now=now, reference=key, labels=self.labels)
        return decide(msgspec.structs.replace(question, replies=ask(queries(question))))

    def planned(self, place: Planned) -> "Standing":
        """Return the placement with a request that plans to go there."""
        return replace(self, request=msgspec.structs.replace(self.request, planned=place))

    def at(self, place: Planned, options: Options) -> Allocation:
        """Return what the placement takes there, beside what it holds already."""
        claims = tuple([Claim(resource=BANDWIDTH, amount=options.need, line=line) for line in place.lines or ()])
        if place.idc == self.stock.idc:
            return Allocation(idc=place.idc, claims=claims)
        return msgspec.structs.replace(self.stock, idc=place.idc, claims=(*claims, *self.stock.claims))


def holding_bandwidth() -> Iterator[Placement]:
    """Yield the placements that hold bandwidth, and are neither about to give it back nor being moved."""
    rows = Placement.objects.filter(state__in=sorted(HOLDING - {State.RELEASING}), bandwidth_mbps__gt=0)
    rows = rows.exclude(state=State.RESERVED, replaces__isnull=False).exclude(replacements__state=State.RESERVED)
    yield from rows.select_related("tenant", "idc").order_by("id").iterator(chunk_size=500)


def standing_of(placements: Sequence[Placement], picture: LiveState) -> Iterator[Standing]:
    """Yield the placements with what they hold, without those whose request can't be decided, parts of an order over
    several IDCs, which share a decision, and those that stand where the snapshot has no IDC or line."""
    made_together = Counter([placement.decision_id for placement in placements])
    claims: dict[UUID, list[Any]] = defaultdict(list)
    open_claims = LedgerClaim.objects.filter(released_at=None).order_by("id")
    if len(placements) == 1:
        open_claims = open_claims.filter(placement=placements[0].pk)
    columns = "holding__idc__code", "holding__resource", "holding__line__code", "amount", "remaining", "fading_since"
    for owner, *claim in open_claims.values_list("placement", *columns).iterator():
        claims[owner].append(claim)
    for placement in placements:
        try:
            request = msgspec.structs.replace(convert(placement.request, Request), planned=None, hypothetical=None)
            profile = profile_of(request, placement.tenant.code, picture)
        except IdcschedError:
            continue
        labels = labels_of(request, placement.tenant.code)
        found = _held(placement, claims[placement.pk], request, labels, picture.snapshot)
        if found is not None and made_together[placement.decision_id] == 1:
            stock, held = found
            yield Standing(
                placement=placement,
                request=request,
                profile=profile,
                labels=labels,
                stock=stock,
                held=held,
                pick=(picture.snapshot.idcs.row_of[stock.idc], tuple(sorted(held))),
            )


def _held(
    placement: Placement, claims: Sequence[Any], request: Request, labels: Mapping[str, str], snapshot: Snapshot
) -> tuple[Allocation, dict[int, Held]] | None:
    """Return what a placement holds: stock and machines, and what it holds of each line."""
    idc = placement.idc.code if placement.idc else ""
    row, lines, shape = snapshot.idcs.row_of.get(idc), snapshot.lines, order_shape(request, labels, snapshot.shapes)
    if row is None:
        return None
    stock, held = [], dict[int, Held]()
    for held_in, resource, line, amount, remaining, since in claims:
        if held_in != idc or (line is not None and line not in lines.codes_of(row)):
            return None
        if line is None:
            stock.append(Claim(resource=resource, amount=amount))
        else:
            number = lines.number(row, line)
            busy = min(1.0, billable_share(lines, np.array([number]), shape.hours).item())
            held[number] = Held(amount=amount, pending=remaining, busy=busy, fading_since=since)
    allocation = Allocation(
        idc=idc,
        claims=tuple(stock),
        tenant=placement.tenant.code,
        business=placement.business,
        machines=placement.machine_count,
    )
    return (allocation, held) if held else None


def plannable_of(decided: Sequence[tuple[Standing, Options]], snapshot: Snapshot) -> Plannable:
    """Return the program of all placements, on lines that carry what is left without them.

    Where less was measured on a line than its placements ordered, each of them carries that part of what it ordered.
    """
    lines = snapshot.lines
    amount, pending, seen = np.zeros((3, lines.load.size))
    for placed, _options in decided:
        for line, held in placed.held.items():
            amount[line] += held.amount
            pending[line] += held.pending
            seen[line] += held.seen
    used = np.nan_to_num(lines.used)
    used_part = np.divide(used, seen, out=np.ones_like(seen), where=seen > used)
    use, not_measured = demand(
        np.maximum(lines.used - seen, 0.0),
        np.maximum(lines.pending - pending, 0.0),
        np.maximum(lines.ordered - amount, 0.0),
        snapshot.usage,
    )
    orders = [
        msgspec.structs.replace(options, flow=options.need * _flowing(placed, used_part)) for placed, options in decided
    ]
    return problem_of(orders, [placed.pick for placed, _ in decided], snapshot, load=use + not_measured, standing=True)


def _flowing(placed: Standing, used_part: Floats) -> float:
    """Return which part of what the placement ordered flows."""
    parts = [
        (held.pending + (held.amount - held.pending) * used_part.item(line)) / held.amount
        for line, held in placed.held.items()
    ]
    return max(parts)
