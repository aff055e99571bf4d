"""`taints/` and `affinities/`: the operators' marks on IDCs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.api.fields import SelectorField
from idcsched.api.filtering import FilterSet, flag
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, Resource, StrictModelSerializer
from idcsched.inventory import services
from idcsched.inventory.models import Affinity, Taint
from idcsched.inventory.scope import concerned, scope_check_many
from idcsched.inventory.taint_state import TaintState, in_state

__all__ = ["AffinityViewSet", "TaintViewSet"]


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
    in_force = flag("now", help_text=_("Whether it is in force now."))

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
