"""Which kinds of rows there are in files, in the order in which each finds what it names, and their columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Model, QuerySet

from idcsched.inventory import services
from idcsched.inventory.models import STOCK_FIELDS, Affinity, Idc, Isp, Line, Region, Taint

from .cells import DOCUMENT, KEEP, MOMENT, NAME, NUMBER, TEXT, WHOLE, Cell

__all__ = ["SHEETS", "Column", "Sheet", "sheet_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A field of a row: called the same in files, in the API, and by the services."""

    name: str
    cell: Cell
    empty: Any = None
    """What an empty cell means; KEEP: the field stays as it is, and a new row has the default."""
    reference: bool = False
    """It names another row by its code."""

    def shown(self, value: Any) -> Any:
        """The value as JSON has it."""
        return None if value is None else self.cell.json(value)

    def value(self, row: Model) -> Any:
        """What the row has there now, a reference by its code."""
        found = getattr(row, self.name)
        return found.code if self.reference and found is not None else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One kind of rows."""

    name: str
    model: type[Model]
    capability: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The columns that tell which row it is; they are found, not changed."""
    needed: tuple[str, ...]
    """Those of them that every file must have."""
    rows: Callable[[], QuerySet[Any]]
    """All rows with what they refer to, in the order in which they are written out."""
    create: Callable[..., Sequence[Any]]
    update: Callable[..., Sequence[Any]]
    delete: Callable[[Any], object]
    whole: bool = False
    """Its rows depend on each other: they are written in one go."""
    repeats: bool = False
    """Several rows may have the same key; they are told apart by their order alone."""

    @property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}


def text(name: str) -> Column:
    return Column(name=name, cell=TEXT, empty="")


def name(name: str, *, empty: Any = "") -> Column:
    return Column(name=name, cell=NAME, empty=empty)


def reference(name: str) -> Column:
    return Column(name=name, cell=NAME, reference=True)


def number(name: str) -> Column:
    return Column(name=name, cell=NUMBER)


def document(name: str, empty: Any = None) -> Column:
    return Column(name=name, cell=DOCUMENT, empty=empty)


def moment(name: str) -> Column:
    return Column(name=name, cell=MOMENT)


CODE = name("code")
PLACE = (number("latitude"), number("longitude"))
WINDOW = (moment("starts_at"), moment("ends_at"))

REGIONS: Final = Sheet(
    name="regions",
    model=Region,
    capability="write_inventory",
    columns=(CODE, text("name"), reference("parent"), *PLACE, document("labels", {})),
    key=("code",),
    needed=("code",),
    rows=lambda: Region.objects.select_related("parent").order_by("code"),
    create=services.regions_create,
    update=services.regions_update,
    delete=lambda row: services.region_delete(region=row),
    whole=True,
)
ISPS: Final = Sheet(
    name="isps",
    model=Isp,
    capability="write_inventory",
    columns=(CODE, text("name"), document("aliases", [])),
    key=("code",),
    needed=("code",),
    rows=lambda: Isp.objects.order_by("code"),
    create=services.isps_create,
    update=services.isps_update,
    delete=lambda row: services.isp_delete(isp=row),
    whole=True,
)
IDCS: Final = Sheet(
    name="idcs",
    model=Idc,
    capability="write_inventory",
    columns=(
        CODE,
        text("name"),
        reference("region"),
        name("tier", empty=KEEP),
        name("status", empty=KEEP),
        text("partition"),
        document("labels", {}),
        name("provider"),
        *PLACE,
        *(number(field) for field in STOCK_FIELDS),
    ),
    key=("code",),
    needed=("code",),
    rows=lambda: Idc.objects.select_related("region").order_by("code"),
    create=services.idcs_create,
    update=services.idcs_update,
    delete=lambda row: services.idc_delete(idc=row),
)
LINES: Final = Sheet(
    name="lines",
    model=Line,
    capability="write_inventory",
    columns=(
        reference("idc"),
        CODE,
        reference("isp"),
        number("purchased_mbps"),
        number("commit_mbps"),
        number("max_level"),
        name("charge_type", empty=KEEP),
        number("price_per_mbps"),
        number("price_per_gb"),
    ),
    key=("idc", "code"),
    needed=("idc",),
    rows=lambda: Line.objects.select_related("idc", "isp").order_by("idc__code", "code"),
    create=services.lines_create,
    update=services.lines_update,
    delete=lambda row: services.line_delete(line=row),
)
TAINTS: Final = Sheet(
    name="taints",
    model=Taint,
    capability="write_taints",
    columns=(reference("idc"), text("key"), text("value"), name("effect", empty=KEEP), text("reason"), *WINDOW),
    key=("idc", "key", "value", "effect", "starts_at"),
    needed=("idc", "key"),
    rows=lambda: Taint.objects.select_related("idc__region").order_by("idc__code", "id"),
    create=services.taints_create,
    update=services.taints_update,
    delete=lambda row: services.taint_delete(taint=row),
)
AFFINITIES: Final = Sheet(
    name="affinities",
    model=Affinity,
    capability="write_affinities",
    columns=(
        reference("idc"),
        document("selector"),
        name("kind"),
        Column(name="weight", cell=WHOLE),
        document("request_selector"),
        text("reason"),
        *WINDOW,
    ),
    key=("idc", "selector", "kind", "request_selector", "starts_at"),
    needed=("kind",),
    rows=lambda: Affinity.objects.select_related("idc__region").order_by("id"),
    create=services.affinities_create,
    update=services.affinities_update,
    delete=lambda row: services.affinity_delete(affinity=row),
    repeats=True,
)
SHEETS: Final = (REGIONS, ISPS, IDCS, LINES, TAINTS, AFFINITIES)


def sheet_of(name: str) -> Sheet | None:
    """The sheet of that name."""
    return next((sheet for sheet in SHEETS if sheet.name == name), None)
