"""`changes/`: who changed what, from what to what, when, by which request, and why."""

from django.db.models import QuerySet
from rest_framework import serializers

from idcsched.accounts.selectors import changes_visible
from idcsched.api.fields import ObjectField
from idcsched.api.filtering import FilterSet
from idcsched.api.paging import CursorPages
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import ReadOnlyResource, StrictModelSerializer
from idcsched.audit.models import Change

__all__ = ["ChangeViewSet"]


class ChangeSerializer(StrictModelSerializer):
    before = ObjectField(allow_null=True)
    after = ObjectField(allow_null=True)
    http_request_id = serializers.CharField(source="request_id")

    class Meta:
        model = Change
        fields = ("id", "at", "actor", "via", "action", "kind", "key", "before", "after", "http_request_id", "message")


class ChangeFilters(FilterSet):
    class Meta:
        model = Change
        columns = ("id", "kind", "key", "actor", "via", "action", "message", "at")
        paths = {"http_request_id": "request_id"}
        searched = ("key", "actor", "message", "request_id")


class ChangeViewSet(ReadOnlyResource):
    """The history. Callers bound to a tenant see their own changes only; changes of accounts are for administrators."""

    queryset = Change.objects.all()
    serializer_class = ChangeSerializer
    filterset_class = ChangeFilters
    pagination_class = CursorPages
    ordering_fields = ()  # pages by cursor, the newest first
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[Change]:
        return changes_visible(principal_of_request(self.request))
