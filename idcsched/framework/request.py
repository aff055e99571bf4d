"""The body of a scheduling request, decoded and checked as far as that needs no data.

A JSON null is an absent field. Names (regions, ISPs, profiles, scorers) are checked against the snapshot
and the profile when the decision begins.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from .columns import STOCK_RESOURCES
from .errors import Invalid
from .matching import Effect, LabelKey, LabelValue, Term, Toleration, empty_selector
from .messages import _
from .normalize import DECIMALS

__all__ = [
    "LEAST",
    "Client",
    "Code",
    "Codes",
    "Hypothetical",
    "HypotheticalIdc",
    "HypotheticalLine",
    "HypotheticalTaint",
    "IgnoredTaint",
    "LabelMap",
    "Machine",
    "Planned",
    "Preference",
    "Request",
    "Spread",
    "Text",
    "check_shape",
]

Code = Annotated[str, Meta(min_length=1, max_length=63)]
Codes = Annotated[tuple[Code, ...], Meta(min_length=1, max_length=10_000)]
Text = Annotated[str, Meta(max_length=255)]
Amount = Annotated[float, Meta(ge=0, le=1e9)]
LEAST = 10.0**-DECIMALS
"""The smallest amount above 0 that figures can show."""
Need = Annotated[
    float, Meta(ge=0, le=1e9, extra_json_schema={"not": {"exclusiveMinimum": 0, "exclusiveMaximum": LEAST}})
]
A_DAY, A_WEEK = 24, 168
Shape = Annotated[
    tuple[Amount, ...],
    Meta(
        description="How the order's traffic is spread over a day (24 numbers) or a week (168, from Monday on): how "
        "much flows in each hour, from midnight on in the billing zone. Any scale will do: the largest number stands "
        "for the hour in which all of the machines' bandwidth flows. Without a shape the order is priced as if it were "
        "flat; the answer's `shape_from` says which.",
        extra_json_schema={
            "minItems": A_DAY,
            "maxItems": A_WEEK,
            "not": {"minItems": A_DAY + 1, "maxItems": A_WEEK - 1},
        },
    ),
]
Weight = Annotated[float, Meta(ge=0, le=10_000)]
TtlSeconds = Annotated[
    int,
    Meta(
        ge=1,
        le=86_400,
        description="For how long the placement holds its capacity. A recommendation ignores this; the placement that "
        "its `commit_token` makes does not.",
    ),
]
WaitSeconds = Annotated[
    int,
    Meta(
        ge=0,
        le=86_400,
        description="How long an order that fits nowhere may wait. Recommendations, and what is taken by their "
        "`commit_token`, never wait.",
    ),
]
Priority = Annotated[
    int,
    Meta(
        ge=-1_000_000,
        le=1_000_000,
        description="Orders of a higher priority are tried first, and may take the room that is kept for waiting "
        "orders of a lower one; a recommendation counts this room as free.",
    ),
]
LabelMap = Annotated[dict[LabelKey, LabelValue], Meta(max_length=100)]
RESOURCES = ("bandwidth_mbps", *STOCK_RESOURCES)
"""The resources that machines need."""


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a request: unknown fields are refused."""


class Machine(_Body, frozen=True, kw_only=True):
    """`count` machines of one shape; `spec`, `image`, `name` and `params` are for the provider."""

    count: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    bandwidth_mbps: Need | None = None
    cpu: Need | None = None
    memory_gib: Need | None = None
    disk_gib: Need | None = None
    gpu: Need | None = None
    spec: Text | None = None
    image: Text | None = None
    name: Text | None = None
    params: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        try:
            msgspec.msgpack.encode(self.params)
        except OverflowError:
            raise Invalid("out_of_range", _("a whole number must fit into 64 bits"), "/params") from None


class Client(_Body, frozen=True, kw_only=True):
    """Where the traffic comes from."""

    region: Code | None = None
    latitude: Annotated[float, Meta(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Meta(ge=-180, le=180)] | None = None

    def __post_init__(self) -> None:
        if (self.latitude is None) != (self.longitude is None):
            raise Invalid("incomplete_coordinates", _("latitude and longitude go together"))


class Preference(Term, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A term whose IDCs are preferred (weight > 0) or avoided (weight < 0)."""

    weight: Annotated[int, Meta(ge=-100, le=100)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weight == 0:
            raise Invalid("zero_weight", _("a preference's weight may not be 0"), "/weight")


class HypotheticalTaint(_Body, frozen=True, kw_only=True):
    idc: Code
    key: Annotated[str, Meta(min_length=1, max_length=128)]
    effect: Effect
    value: LabelValue | None = None


class IgnoredTaint(_Body, frozen=True, kw_only=True):
    idc: Code
    key: Annotated[str, Meta(min_length=1, max_length=128)]
    effect: Effect | None = None


class HypotheticalLine(_Body, frozen=True, kw_only=True):
    """What is supposed of one line; without a field that stays as it is. A commit or price of null: there is none."""

    line: Code
    purchased_mbps: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    commit_mbps: Amount | UnsetType | None = UNSET
    max_level: Annotated[float, Meta(gt=0, le=1)] | None = None
    price_per_mbps: Amount | UnsetType | None = UNSET
    price_per_gb: Amount | UnsetType | None = UNSET
    metrics: Annotated[dict[str, float | None], Meta(max_length=1000)] | None = None


class HypotheticalIdc(_Body, frozen=True, kw_only=True):
    """What is supposed of one IDC; a metric of null counts as missing."""

    code: Code
    status: Literal["online", "offline", "draining", "retired"] | None = None
    lines: Annotated[tuple[HypotheticalLine, ...], Meta(max_length=1000)] | None = None
    metrics: Annotated[dict[str, float | None], Meta(max_length=1000)] | None = None


class Hypothetical(_Body, frozen=True, kw_only=True):
    taints: Annotated[tuple[HypotheticalTaint, ...], Meta(max_length=10_000)] | None = None
    ignore_taints: Annotated[tuple[IgnoredTaint, ...], Meta(max_length=10_000)] | None = None
    idcs: Annotated[tuple[HypotheticalIdc, ...], Meta(max_length=10_000)] | None = None


class Spread(_Body, frozen=True, kw_only=True):
    """How to split the machines: at most `max_per_idc` in one IDC, and over at least `min_idcs` IDCs.

    `by` makes both count regions or providers instead of IDCs.
    """

    max_per_idc: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    min_idcs: Annotated[int, Meta(ge=1, le=1000)] | None = None
    by: Literal["idc", "region", "provider"] | None = None


class Planned(_Body, frozen=True, kw_only=True):
    """The IDC that is taken if it passes all filters, and the lines that are used there if they carry the bandwidth.

    The ranking remains as it is; where the IDC does not fit, it decides.
    """

    idc: Code
    lines: Annotated[tuple[Code, ...], Meta(min_length=1, max_length=1000)] | None = None


class Request(_Body, frozen=True, kw_only=True, dict=True):  # the dict caches the sums of what the machines need
    """A scheduling request: where should these machines stand?"""

    action: Literal["recommend", "reserve", "provision"] | None = None
    request_id: Text | None = None
    profile: Code | None = None
    region: Code | Codes | None = None
    only: Codes | None = None
    exclude: Annotated[tuple[Code, ...], Meta(max_length=10_000)] | None = None
    isp: Code | Codes | None = None
    isp_match: Literal["any", "all"] | None = None
    tier: Literal["edge", "center"] | None = None
    partition: Text | None = None
    selector: Term | Annotated[tuple[Term, ...], Meta(max_length=100)] | None = None
    prefer: Annotated[tuple[Preference, ...], Meta(max_length=100)] | None = None
    tolerations: Annotated[tuple[Toleration, ...], Meta(max_length=1000)] | None = None
    labels: LabelMap | None = None
    machines: Annotated[tuple[Machine, ...], Meta(max_length=1000)] | None = None
    client: Client | None = None
    shape: Shape | None = None
    weights: Annotated[dict[Text, Weight], Meta(max_length=1000)] | None = None
    fallback: Annotated[tuple[Term, ...], Meta(max_length=100)] | None = None
    spread: Spread | None = None
    planned: Planned | None = None
    hypothetical: Hypothetical | None = None
    top: Annotated[int, Meta(ge=1, le=1000)] | None = None
    explain: Literal["none", "summary", "full"] | None = None
    tenant: Code | None = None
    ttl_seconds: TtlSeconds | None = None
    wait_seconds: WaitSeconds | None = None
    priority: Priority | None = None
    callback_url: Annotated[str, Meta(max_length=2000)] | None = None

    def __post_init__(self) -> None:
        if self.region is None and self.only is None:
            raise Invalid("region_required", _("say where: `region` or `only` must be given"), "/region")
        for name in ("selector", "fallback"):
            if getattr(self, name) == ():
                raise empty_selector(f"/{name}")
        if self.shape is not None:
            check_shape(self.shape)
        for key in self.labels or ():
            if key == "tenant":
                raise Invalid("reserved_label", _("the label `tenant` is set from the token"), "/labels/tenant")
        if self.spread is not None:
            self._check_spread(self.spread.min_idcs or 1)

    @property
    def regions(self) -> tuple[str, ...]:
        return _listed(self.region)

    @property
    def wanted_isps(self) -> tuple[str, ...]:
        return _listed(self.isp)

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.selector,) if isinstance(self.selector, Term) else (self.selector or ())

    def _check_spread(self, least: int) -> None:
        if not self.machines:
            raise Invalid("machines_required", _("say which machines are to be spread"), "/machines")
        if (count := self.machine_count) < least:
            raise Invalid(
                "too_few_machines",
                _("{count} machines cannot stand in {least} places at least"),
                "/spread/min_idcs",
                count=count,
                least=least,
            )

    def need(self, resource: str) -> float:
        """Return how much of a resource all machines of the request need together."""
        needs: dict[str, float] | None = self.__dict__.get("needs")
        if needs is None:  # cached, as plugins ask for every resource more than once
            needs = self.__dict__["needs"] = self._needs()
        return needs[resource]

    def _needs(self) -> dict[str, float]:
        needs = dict.fromkeys(RESOURCES, 0.0)
        for machine in self.machines or ():
            count = 1 if machine.count is None else machine.count
            for name in RESOURCES:
                if amount := getattr(machine, name):
                    needs[name] += amount * count
        return {name: round(amount, DECIMALS) for name, amount in needs.items()}

    @property
    def machine_count(self) -> int:
        return sum([1 if machine.count is None else machine.count for machine in self.machines or ()])

    @property
    def bandwidth(self) -> float:
        """Σ count × bandwidth over all machines, in Mbps."""
        return self.need("bandwidth_mbps")


def check_shape(shape: tuple[float, ...]) -> None:
    """Raise Invalid unless the shape is that of a day or of a week in which something flows."""
    if len(shape) not in (A_DAY, A_WEEK):
        raise Invalid("invalid_shape", _("a shape has 24 or 168 numbers, not {count}"), "/shape", count=len(shape))
    if not any(shape):
        raise Invalid("invalid_shape", _("in at least one hour of a shape something must flow"), "/shape")


def _listed(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else (value or ())
