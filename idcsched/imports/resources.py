"""The kinds of rows that files may have: their columns, derived from the models, and the services that write them."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Final, NoReturn

import tablib
from django.conf import settings
from django.db.models import Field as ModelField
from django.db.models import QuerySet
from django.utils.translation import override
from import_export.fields import Field
from import_export.resources import ModelResource

from idcsched.inventory import services
from idcsched.inventory.models import STOCK_FIELDS, Affinity, Idc, Isp, Line, Region, Taint

from .cells import KEEP, cell_of

__all__ = ["AFFINITIES", "IDCS", "KINDS", "LINES", "REGIONS", "TAINTS", "Kind", "kind_named"]


PLACE = ("latitude", "longitude")
PRICES = ("price_per_mbps", "price_per_gb")


class Kind(ModelResource):
    """One kind of rows. `Meta.fields` are its columns; those in `Meta.import_id_fields` identify a row."""

    name: ClassVar[str]
    capability: ClassVar[str] = "write_inventory"
    needed: ClassVar[tuple[str, ...]] = ("code",)
    """The columns that every file must have."""
    rows: ClassVar[QuerySet[Any]]
    """All rows, in the order in which they are exported."""
    example: ClassVar[Mapping[str, Any]]
    """The row that a template shows."""
    delete: Any
    """The service that deletes one row."""
    whole: ClassVar[bool] = False
    """Whether its rows depend on each other and must be written by one call."""
    repeats: ClassVar[bool] = False
    """Whether several rows may have the same key; such rows are matched in order."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.fields: dict[str, Field] = {name: self.fields[name] for name in self._meta.fields}

    @classmethod
    def field_from_django_field(cls, field_name: str, django_field: "ModelField[Any, Any]", readonly: bool) -> Field:
        """Return the column of a field, named as in the API; a reference stands as a code."""
        default = KEEP if django_field.choices and django_field.has_default() else django_field.get_default
        attribute = f"{field_name}__code" if django_field.is_relation else field_name
        return Field(attribute, field_name, cell_of(django_field), default=default)

    def create(self, documents: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        """Create many rows by the inventory's service, such as `idcs_create`; raises Invalid, Conflict."""
        created: Sequence[Any] = getattr(services, f"{self.name}_create")(documents=documents)
        return created

    def update(self, updates: Sequence[tuple[Any, Mapping[str, Any]]]) -> Sequence[Any]:
        """Change many rows by the inventory's service, such as `idcs_update`; raises Invalid, NotFound, Conflict."""
        updated: Sequence[Any] = getattr(services, f"{self.name}_update")(updates=updates)
        return updated

    def get_queryset(self) -> QuerySet[Any]:
        return self.rows.all()

    def filter_export(self, queryset: QuerySet[Any], **kwargs: Any) -> QuerySet[Any]:
        return queryset.select_related(*(name for name in self.fields if self.model_field(name).is_relation))

    def after_export(self, queryset: QuerySet[Any], dataset: tablib.Dataset, **kwargs: Any) -> None:
        dataset.title = self.name

    def import_data(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse the library's own import, which would bypass the services and the history."""
        raise NotImplementedError("import_inventory writes through the services")

    def model_field(self, column: str) -> Any:
        return self._meta.model._meta.get_field(column)

    @property
    def title(self) -> str:
        """The name of these rows in the user's language."""
        return str(self._meta.model._meta.verbose_name_plural)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row; they select the row and are never changed."""
        return tuple(self._meta.import_id_fields)

    @cache  # noqa: B019  # there are six kinds, for good
    def headings(self) -> Mapping[str, str]:
        """Return the column of each possible heading: the column's name, and the field's name in each language."""
        columns: dict[str, str] = {}
        for language, _ in settings.LANGUAGES:
            with override(language):
                columns |= {heading(str(self.model_field(name).verbose_name)): name for name in self.fields}
        return columns | {name: name for name in self.fields}


def heading(text: str) -> str:
    """Return the normal form of a heading: lower case, with single underscores for blanks and hyphens."""
    return "_".join(text.strip().lower().replace("-", " ").replace("_", " ").split())


class Regions(Kind):
    name = "regions"
    rows = Region.objects.select_related("parent").order_by("code")
    delete = staticmethod(lambda row: services.region_delete(region=row))
    example = {"code": "south", "name": "South", "latitude": 23.1, "longitude": 113.3, "labels": {"grid": "csg"}}
    whole = True

    class Meta:
        model = Region
        fields = ["code", "name", "parent", *PLACE, "labels"]
        import_id_fields = ["code"]


class Isps(Kind):
    name = "isps"
    rows = Isp.objects.order_by("code")
    delete = staticmethod(lambda row: services.isp_delete(isp=row))
    example = {"code": "ct", "name": "China Telecom", "aliases": ["telecom", "电信"]}
    whole = True

    class Meta:
        model = Isp
        fields = ["code", "name", "aliases"]
        import_id_fields = ["code"]


class Idcs(Kind):
    name = "idcs"
    rows = Idc.objects.select_related("region").order_by("code")
    delete = staticmethod(lambda row: services.idc_delete(idc=row))
    example = {"code": "gz-ct-01", "name": "Guangzhou 1", "region": "south", "tier": "edge", "status": "online"} | {
        "labels": {"owner": "own"}, "latitude": 23.1, "longitude": 113.3, "stock_cpu": 9600, "stock_memory_gib": 38400
    }  # fmt: skip

    class Meta:
        model = Idc
        fields = ["code", "name", "region", "tier", "status", "partition", "labels", "provider", *PLACE, *STOCK_FIELDS]
        import_id_fields = ["code"]


class Lines(Kind):
    name = "lines"
    needed = ("idc",)
    rows = Line.objects.select_related("idc", "isp").order_by("idc__code", "code")
    delete = staticmethod(lambda row: services.line_delete(line=row))
    example = {"idc": "gz-ct-01", "code": "ct", "isp": "ct", "purchased_mbps": 40000, "max_level": 0.75}

    class Meta:
        model = Line
        fields = ["idc", "code", "isp", "purchased_mbps", "commit_mbps", "max_level", "charge_type", *PRICES]
        import_id_fields = ["idc", "code"]


class Taints(Kind):
    name = "taints"
    capability = "write_taints"
    needed = ("idc", "key")
    rows = Taint.objects.select_related("idc__region").order_by("idc__code", "id")
    delete = staticmethod(lambda row: services.taint_delete(taint=row))
    example = {"idc": "gz-ct-01", "key": "maintenance", "reason": "power works", "ends_at": "2030-05-01T08:00:00Z"}

    class Meta:
        model = Taint
        fields = ["idc", "key", "value", "effect", "reason", "starts_at", "ends_at"]
        import_id_fields = ["idc", "key", "value", "effect", "starts_at"]


class Affinities(Kind):
    name = "affinities"
    capability = "write_affinities"
    needed = ("kind",)
    rows = Affinity.objects.select_related("idc__region").order_by("id")
    delete = staticmethod(lambda row: services.affinity_delete(affinity=row))
    example = {"idc": "gz-ct-01", "kind": "prefer", "weight": 10, "reason": "close to the backbone"}
    repeats = True

    class Meta:
        model = Affinity
        fields = ["idc", "selector", "kind", "weight", "request_selector", "reason", "starts_at", "ends_at"]
        import_id_fields = ["idc", "selector", "kind", "request_selector", "starts_at"]


REGIONS, ISPS, IDCS, LINES, TAINTS, AFFINITIES = Regions(), Isps(), Idcs(), Lines(), Taints(), Affinities()
KINDS: Final = (REGIONS, ISPS, IDCS, LINES, TAINTS, AFFINITIES)
"""In the order in which rows may refer to rows of the kinds before."""


def kind_named(name: str) -> Kind | None:
    return next((kind for kind in KINDS if kind.name == name), None)
