"""`regions/`, `isps/`, `idcs/` and `lines/`: the inventory."""

from typing import Any, cast

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request

from idcsched.api.fields import LabelsField, TextsField
from idcsched.api.filtering import WITHOUT_LABEL, AnyLabel, AnyOf, FilterSet
from idcsched.api.parameters import pointer_to, refuse_unknown_parameters, time_given, whole_number_given
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, OneOf, Resource, StrictModelSerializer, StrictSerializer, struct_response
from idcsched.inventory import services
from idcsched.inventory.choices import ChargeType
from idcsched.inventory.models import STOCK_FIELDS, Idc, Isp, Line, Region
from idcsched.scheduling.outcomes import IdcOutcomes, outcomes_of_idc
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.state import IdcState, idc_state

__all__ = ["IdcViewSet", "IspViewSet", "LineViewSet", "RegionViewSet"]


class RegionSerializer(StrictModelSerializer):
    parent = CodeOf(required=False, allow_null=True)  # type: ignore[assignment]  # no serializer, but a field's name
    labels = LabelsField(required=False)

    class Meta:
        model = Region
        fields = ("code", "name", "parent", "latitude", "longitude", "labels")


class RegionFilters(FilterSet):
    parent = AnyOf(field_name="parent__code")
    label = AnyLabel()
    label__n = AnyLabel(exclude=True, help_text=WITHOUT_LABEL)

    class Meta:
        model = Region
        columns = ("code", "name", "latitude", "longitude")
        searched = ("code", "name")


class RegionViewSet(Resource):
    """Regions; a request for a region includes its sub-regions."""

    capability = "write_inventory"
    noun = "region"
    queryset = Region.objects.select_related("parent")
    serializer_class = RegionSerializer
    filterset_class = RegionFilters
    ordering_fields = ("code", "name")
    create_service = staticmethod(services.region_create)
    create_many_service = staticmethod(services.regions_create)
    update_service = staticmethod(services.region_update)
    delete_service = staticmethod(services.region_delete)


class IspSerializer(StrictModelSerializer):
    aliases = TextsField(required=False)

    class Meta:
        model = Isp
        fields = ("code", "name", "aliases")


class IspFilters(FilterSet):
    class Meta:
        model = Isp
        columns = ("code", "name")
        searched = ("code", "name")


class IspViewSet(Resource):
    """Carriers; an alias is accepted wherever a code is."""

    capability = "write_inventory"
    noun = "isp"
    queryset = Isp.objects.all()
    serializer_class = IspSerializer
    filterset_class = IspFilters
    ordering_fields = ("code", "name")
    create_service = staticmethod(services.isp_create)
    create_many_service = staticmethod(services.isps_create)
    update_service = staticmethod(services.isp_update)
    delete_service = staticmethod(services.isp_delete)


LINE_FIELDS = (
    "code",
    "isp",
    "purchased_mbps",
    "commit_mbps",
    "max_level",
    "charge_type",
    "price_per_mbps",
    "price_per_gb",
)


class NestedLineSerializer(StrictModelSerializer):
    """A line as part of its IDC. `id` is its id at `lines/` and `bandwidth/`; a body may repeat it or leave it out.

    The code of a line that has none is its ISP's.
    """

    id = serializers.IntegerField(required=False)
    code = serializers.CharField(max_length=63, required=False)
    isp = CodeOf()
    charge_type = OneOf(choices=ChargeType.choices, default=ChargeType.P95_MONTH)

    class Meta:
        model = Line
        fields = ("id", *LINE_FIELDS)


class StockSerializer(StrictSerializer):
    """What may be sold; null or left out: unlimited."""

    cpu = serializers.FloatField(source="stock_cpu", min_value=0, allow_null=True, required=False)
    memory_gib = serializers.FloatField(source="stock_memory_gib", min_value=0, allow_null=True, required=False)
    disk_gib = serializers.FloatField(source="stock_disk_gib", min_value=0, allow_null=True, required=False)
    gpu = serializers.FloatField(source="stock_gpu", min_value=0, allow_null=True, required=False)


class IdcSerializer(StrictModelSerializer):
    region = CodeOf()
    labels = LabelsField(required=False)
    stock = StockSerializer(source="*", required=False)
    lines = NestedLineSerializer(many=True, required=False)

    def validate_lines(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Drop the lines' ids; raises ValidationError for an id other than that of the line with this code."""
        known = {line.code: line.pk for line in self.instance.lines.all()} if self.instance else {}
        refusal = {"id": [ErrorDetail(gettext("this can't be changed"), code="read_only")]}
        wrong = ["id" in line and line.pop("id") != known.get(line.get("code", line["isp"])) for line in lines]
        if any(wrong):
            raise serializers.ValidationError([refusal if is_wrong else {} for is_wrong in wrong])
        return lines

    class Meta:
        model = Idc
        fields = (
            "code",
            "name",
            "region",
            "tier",
            "status",
            "partition",
            "labels",
            "provider",
            "latitude",
            "longitude",
            "stock",
            "lines",
        )


class IdcFilters(FilterSet):
    label = AnyLabel()
    label__n = AnyLabel(exclude=True, help_text=WITHOUT_LABEL)

    class Meta:
        model = Idc
        columns = ("code", "name", "tier", "status", "partition", "provider", "latitude", "longitude", *STOCK_FIELDS)
        paths = {"region": "region__code", "isp": "lines__isp__code"}
        searched = ("code", "name")


class IdcViewSet(Resource):
    """Data centres with their lines. A PUT or PATCH with `lines` replaces the lines of the IDC, matched by code."""

    capability = "write_inventory"
    noun = "idc"
    queryset = Idc.objects.select_related("region").prefetch_related("lines__isp")
    serializer_class = IdcSerializer
    filterset_class = IdcFilters
    ordering_fields = ("code", "name", "region", "status", "tier", "partition", "provider")
    held_with = ("lines",)
    create_service = staticmethod(services.idc_create)
    create_many_service = staticmethod(services.idcs_create)
    update_service = staticmethod(services.idc_update)
    delete_service = staticmethod(services.idc_delete)

    @extend_schema(operation_id="idc_state", request=None, responses=IdcState)
    @action(detail=True, methods=["get"])
    def state(self, request: Request, code: str) -> HttpResponse:
        """What is known of the IDC now: values with ages, taints in force and coming, capacity taken and pending."""
        return struct_response(idc_state(cast("Idc", self.get_object()), now=timezone.now()))

    @extend_schema(
        operation_id="idc_outcomes",
        request=None,
        responses=IdcOutcomes,
        parameters=[
            OpenApiParameter("last", int, description=gettext_lazy("How many decisions at most; 200 by default.")),
            OpenApiParameter("since", OpenApiTypes.DATETIME, description=gettext_lazy("Only those made since then.")),
        ],
    )
    @action(detail=True, methods=["get"])
    def outcomes(self, request: Request, code: str) -> HttpResponse:
        """What became of the IDC in the last decisions: chosen, passed over with its rank, rejected with the reason."""
        refuse_unknown_parameters(request, ("last", "since"), at_most_once=("last", "since"))
        recorder.settle()
        since = request.query_params.get("since")
        outcomes = outcomes_of_idc(
            self.get_object().code,
            principal_of_request(request),
            last=whole_number_given(request, "last", default=200, low=1, high=1000),
            since=None if since is None else time_given(since, pointer_to("since")),
        )
        return struct_response(outcomes)


class LineSerializer(NestedLineSerializer):
    """A line with its IDC. The code of a line that has none is its ISP's."""

    id = serializers.IntegerField(read_only=True)
    idc = CodeOf()

    class Meta:
        model = Line
        fields = ("id", "idc", *LINE_FIELDS)


class LineFilters(FilterSet):
    class Meta:
        model = Line
        columns = ("id", *(name for name in LINE_FIELDS if name != "isp"))
        paths = {"idc": "idc__code", "isp": "isp__code", "region": "idc__region__code"}
        searched = ("code", "idc__code", "idc__name")


class LineViewSet(Resource):
    """The uplinks of all IDCs."""

    capability = "write_inventory"
    noun = "line"
    fixed = ("idc",)
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"
    queryset = Line.objects.select_related("idc", "isp")
    serializer_class = LineSerializer
    filterset_class = LineFilters
    ordering_fields = ("id", "code", "purchased_mbps")
    create_service = staticmethod(services.line_create)
    create_many_service = staticmethod(services.lines_create)
    update_service = staticmethod(services.line_update)
    delete_service = staticmethod(services.line_delete)
