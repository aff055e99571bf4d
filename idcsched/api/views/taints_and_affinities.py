"""`taints/` and `affinities/`: the operators' marks on IDCs, and what a taint would do."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Annotated, Any, Final

import msgspec
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request

from idcsched.api.fields import SelectorField
from idcsched.api.filtering import FilterSet, flag
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, Resource, StrictModelSerializer, struct_response
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.request import HypotheticalTaint
from idcsched.inventory import services
from idcsched.inventory.models import Affinity, Idc, Taint
from idcsched.inventory.scope import concerned, scope_check_many
from idcsched.inventory.taint_state import TaintState, in_state
from idcsched.planning.taint_consequence import Consequence, taint_consequence
from idcsched.scheduling.recorder import recorder

__all__ = ["AffinityViewSet", "TaintViewSet"]


PREVIEWED: Final = OpenApiExample(
    "A switch is to be replaced",
    value={"idc": "a", "key": "switch", "effect": "NoSchedule", "last": 200},
    request_only=True,
)


class TaintPreviewRequest(HypotheticalTaint, frozen=True, kw_only=True):
    """A taint, and how many of the last decisions that looked at its IDC to consider."""

    last: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 200


class Scoped(Resource):
    """Resource of marks on IDCs; an operator who is bound to regions may write those that concern IDCs there alone."""

    def check_rows(self, rows: Sequence[Any], pointers: Iterable[str] = repeat("")) -> None:
        scope_check_many(principal_of_request(self.request), [concerned(row) for row in rows], pointers)

    def create_many_arguments(self) -> Mapping[str, Any]:
        return {"principal": principal_of_request(self.request)}


class TaintSerializer(StrictModelSerializer):
    idc = CodeOf(required=False)
    selector = SelectorField(required=False, write_only=True, help_text="Instead of `idc`: one taint on each match.")

    class Meta:
        model = Taint
        fields = ("id", "idc", "selector", "key", "value", "effect", "reason", "starts_at", "ends_at", "created_at")
        read_only_fields = ("id", "created_at")


class MarkFilters(FilterSet):
    in_force = flag("now", help_text=gettext_lazy("Whether it is in force now."))

    def now(self, queryset: QuerySet[Any], name: str, values: list[bool]) -> QuerySet[Any]:
        if set(values) != {values[0]}:
            return queryset
        condition = in_state(TaintState.IN_FORCE, timezone.now())
        return queryset.filter(condition) if values[0] else queryset.exclude(condition)


class TaintFilters(MarkFilters):
    class Meta:
        model = Taint
        columns = ("id", "key", "value", "effect", "reason", "starts_at", "ends_at", "created_at")
        paths = {"idc": "idc__code", "region": "idc__region__code"}
        searched = ("key", "value", "reason", "idc__code", "idc__name")


class TaintViewSet(Scoped):
    """Marks that keep requests off. A POST with `selector` makes one on each IDC that matches now, and lists them."""

    capability = "write_taints"
    noun = "taint"
    fixed = ("idc",)
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"
    queryset = Taint.objects.select_related("idc__region")
    serializer_class = TaintSerializer
    filterset_class = TaintFilters
    ordering_fields = ("id", "key", "starts_at", "ends_at", "created_at")
    create_service = staticmethod(services.taint_create)
    create_many_service = staticmethod(services.taints_create)
    update_service = staticmethod(services.taint_update)
    delete_service = staticmethod(services.taint_delete)

    @extend_schema(
        operation_id="taint_preview", request=TaintPreviewRequest, responses=Consequence, examples=[PREVIEWED]
    )
    @action(detail=False, methods=["post"])
    def preview(self, request: Request) -> HttpResponse:
        """What a taint would have done to the last orders that went to its IDC; nothing is tainted."""
        question = convert(request.data, TaintPreviewRequest)
        principal = principal_of_request(request)
        idc = Idc.objects.select_related("region").filter(code=question.idc).first()
        if idc is None:
            raise Invalid("unknown_idc", _("there is no IDC {name}"), "/idc", name=question.idc)
        scope_check_many(principal, [idc], ["/idc"])
        recorder.settle()
        taint = HypotheticalTaint(idc=idc.code, key=question.key, value=question.value, effect=question.effect)
        return struct_response(taint_consequence(taint, principal, last=question.last))


class AffinitySerializer(StrictModelSerializer):
    idc = CodeOf(required=False, allow_null=True)
    selector = SelectorField(required=False, allow_null=True)
    request_selector = SelectorField(required=False, allow_null=True)

    class Meta:
        model = Affinity
        fields = (
            "id",
            "idc",
            "selector",
            "kind",
            "weight",
            "request_selector",
            "reason",
            "starts_at",
            "ends_at",
            "created_at",
        )
        read_only_fields = ("id", "created_at")


class AffinityFilters(MarkFilters):
    class Meta:
        model = Affinity
        columns = ("id", "kind", "weight", "reason", "starts_at", "ends_at", "created_at")
        paths = {"idc": "idc__code", "region": "idc__region__code"}
        searched = ("reason", "idc__code", "idc__name")


class AffinityViewSet(Scoped):
    """Rules that draw requests to IDCs or keep them off; a selector also covers IDCs that match later."""

    capability = "write_affinities"
    noun = "affinity"
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"
    queryset = Affinity.objects.select_related("idc__region")
    serializer_class = AffinitySerializer
    filterset_class = AffinityFilters
    ordering_fields = ("id", "kind", "weight", "created_at")
    create_service = staticmethod(services.affinity_create)
    create_many_service = staticmethod(services.affinities_create)
    update_service = staticmethod(services.affinity_update)
    delete_service = staticmethod(services.affinity_delete)
