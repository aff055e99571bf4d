"""How many more machines of a shape fit, counted on the live picture by the engine that places orders."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import msgspec

from idcsched.accounts.roles import Principal
from idcsched.framework.answer import Bill
from idcsched.framework.bills import billed
from idcsched.framework.cycle import queries
from idcsched.framework.errors import Invalid
from idcsched.framework.fitting import FittingCount, Limit, count_fitting
from idcsched.framework.matching import Term, Toleration
from idcsched.framework.messages import _
from idcsched.framework.question import Question
from idcsched.framework.request import Code, Codes, Hypothetical, LabelMap, Machine, Request, Text
from idcsched.framework.snapshot import Snapshot
from idcsched.language.wording import say
from idcsched.outbound.asking import ask
from idcsched.scheduling.reserved_room import without_reserved_room

from .deciding import OVER_QUOTA, labels_of, profile_of, tenant_of
from .live import live
from .request_checks import names_check
from .scheduled import ProfileBrief, SnapshotBrief

__all__ = ["Capacity", "CapacityQuestion", "QuotaLeft", "capacity"]

AT_MOST = 1000
QUOTA = "quota"
"""The name that stands in the place of a plugin's where the tenant's quota is the limit."""


class CapacityQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A machine, and where it may stand, as in a scheduling request. Machines are counted up to `at_most` (1,000)."""

    machine: Machine
    profile: Code | None = None
    region: Code | Codes | None = None
    only: Codes | None = None
    exclude: Annotated[tuple[Code, ...], msgspec.Meta(max_length=10_000)] | None = None
    isp: Code | Codes | None = None
    isp_match: Literal["any", "all"] | None = None
    tier: Literal["edge", "center"] | None = None
    partition: Text | None = None
    selector: Term | Annotated[tuple[Term, ...], msgspec.Meta(max_length=100)] | None = None
    tolerations: Annotated[tuple[Toleration, ...], msgspec.Meta(max_length=1000)] | None = None
    labels: LabelMap | None = None
    hypothetical: Hypothetical | None = None
    tenant: Code | None = None
    at_most: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None

    def __post_init__(self) -> None:
        if self.machine.count is not None:
            raise Invalid(
                "counted_not_given", _("leave the count out: how many fit is what is answered"), "/machine/count"
            )
        self.asked()

    @property
    def most(self) -> int:
        return AT_MOST if self.at_most is None else self.at_most

    def asked(self) -> Request:
        """Return the order for one such machine; raises Invalid."""
        own = {"machine", "at_most"}
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name not in own}
        return Request(machines=(self.machine,), **fields)


class IdcCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """`count` more machines fit, as one order. `gives_out`: why not one more, null if `at_most` ends the counting.
    `bill`: what the next machine adds to the bandwidth bill of a month."""

    idc: str
    region: str
    count: int
    gives_out: Limit | None
    bill: Bill | None = None
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET


class GivesOut(msgspec.Struct, frozen=True, kw_only=True):
    """A reason why no further machine fits, and in how many IDCs it is the first."""

    plugin: str
    code: str
    idcs: int


class RegionCapacity(msgspec.Struct, frozen=True, kw_only=True):
    """A region with its sub-regions. `idcs`: how many hold at least one more; `gives_out`: the most frequent first."""

    region: str
    count: int
    idcs: int
    gives_out: tuple[GivesOut, ...]


class QuotaLeft(msgspec.Struct, frozen=True, kw_only=True):
    """`count` more machines are within the tenant's quota, up to `at_most`. `reason`: why not one more, or null."""

    count: int
    reason: str | None


class Capacity(msgspec.Struct, frozen=True, kw_only=True):
    """What fits everywhere, in each region, and in each IDC, the roomiest first; nowhere more than `quota` allows.

    `quota` is null where the tenant has none, or none is named.
    """

    count: int
    at_most: int
    quota: QuotaLeft | None
    regions: tuple[RegionCapacity, ...]
    idcs: tuple[IdcCapacity, ...]
    profile: ProfileBrief
    snapshot: SnapshotBrief


def capacity(*, question: CapacityQuestion, principal: Principal, quota: QuotaLeft | None = None) -> Capacity:
    """Count how many machines fit now; raises Invalid, Forbidden, PluginFailed, Unavailable."""
    request = question.asked()
    picture = without_reserved_room(live.current(), request.priority)
    names_check(request, picture.snapshot)
    tenant = tenant_of(request, principal)
    profile = profile_of(request, tenant, picture)
    order = Question(request, picture.snapshot, profile, now=time.time(), labels=labels_of(request, tenant))
    order = msgspec.structs.replace(order, replies=ask(queries(order)))
    fitting = count_fitting(order, machine=question.machine, at_most=question.most, say=say)
    if quota is not None and quota.reason is not None:
        fitting = [_limited_by_quota(quota, fits) for fits in fitting]
    return Capacity(
        count=_count(fitting, quota),
        at_most=question.most,
        quota=quota,
        regions=tuple(_regions(picture.snapshot, request.regions, fitting, quota)),
        idcs=tuple(_idcs(picture.snapshot, fitting)),
        profile=ProfileBrief(profile.code, profile.revision),
        snapshot=SnapshotBrief(picture.snapshot.id, round(live.lag_seconds, 3)),
    )


def _limited_by_quota(quota: QuotaLeft, fits: FittingCount) -> FittingCount:
    """Return how many machines fit an IDC, or the smaller number that the quota allows."""
    if fits.count <= quota.count:
        return fits
    limit = Limit(plugin=QUOTA, code=OVER_QUOTA, reason=quota.reason or "", detail={})
    return FittingCount(row=fits.row, count=quota.count, limit=limit, bill=fits.bill if quota.count else None)


def _count(fitting: Sequence[FittingCount], quota: QuotaLeft | None) -> int:
    count = sum(fits.count for fits in fitting)
    return count if quota is None or quota.reason is None else min(count, quota.count)


def _idcs(snapshot: Snapshot, fitting: Sequence[FittingCount]) -> Iterator[IdcCapacity]:
    idcs = snapshot.idcs
    for fits in sorted(fitting, key=lambda fits: (-fits.count, idcs.codes[fits.row])):
        code, region = idcs.codes[fits.row], idcs.regions[fits.row]
        yield IdcCapacity(idc=code, region=region, count=fits.count, gives_out=fits.limit, **billed(fits.bill))


def _regions(
    snapshot: Snapshot, requested: Sequence[str], fitting: Sequence[FittingCount], quota: QuotaLeft | None
) -> Iterator[RegionCapacity]:
    """Yield the requested regions and those below them; where only IDCs are named, all regions that they stand in."""
    by_region: dict[str, list[FittingCount]] = {}
    for fits in fitting:
        for region in snapshot.lineage(snapshot.idcs.regions[fits.row]):
            by_region.setdefault(region, []).append(fits)
    for region in snapshot.regions:
        if region in by_region and (not requested or set(requested) & set(snapshot.lineage(region))):
            yield _region(region, by_region[region], quota)


def _region(region: str, fitting: Sequence[FittingCount], quota: QuotaLeft | None) -> RegionCapacity:
    reasons = Counter((fits.limit.plugin, fits.limit.code) for fits in fitting if fits.limit)
    return RegionCapacity(
        region=region,
        count=_count(fitting, quota),
        idcs=sum(fits.count > 0 for fits in fitting),
        gives_out=tuple(
            GivesOut(plugin=plugin, code=code, idcs=idcs) for (plugin, code), idcs in reasons.most_common()
        ),
    )
