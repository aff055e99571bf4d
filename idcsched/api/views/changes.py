"""`changes/`: who changed what, from what to what, when, by which request, and why."""

import django_filters
from django.db.models import QuerySet
from rest_framework import serializers

from idcsched.accounts.selectors import changes_visible
from idcsched.api.filtering import AnyOf, FilterSet
from idcsched.api.paging import CursorPages
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource
from idcsched.audit.models import Change

__all__ = ["ChangeViewSet"]


class ChangeSerializer(serializers.ModelSerializer[Change]):
    class Meta:
        model = Change
        fields = ("id", "at", "actor", "via", "action", "kind", "key", "before", "after", "request_id", "message")


class ChangeFilters(FilterSet):
    kind = AnyOf(field_name="kind")
    key = AnyOf(field_name="key")
    actor = AnyOf(field_name="actor")
    via = AnyOf(field_name="via")
    action = AnyOf(field_name="action")
    request_id = AnyOf(field_name="request_id")
    at__gte = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="gte")
    at__lte = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="lte")

    class Meta:
        model = Change
        fields = ("kind", "key", "actor", "via", "action", "request_id")
        searched = ("key", "actor", "message", "request_id")


class ChangeViewSet(ReadOnlyResource):
    """The history. Those of one tenant see what they changed; what happened to accounts is for administrators."""

    queryset = Change.objects.all()
    serializer_class = ChangeSerializer
    filterset_class = ChangeFilters
    pagination_class = CursorPages
    ordering_fields = ()  # pages by cursor, the newest first
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[Change]:
        return changes_visible(principal_of_request(self.request))
