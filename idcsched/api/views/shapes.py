"""`shapes/`: how the traffic of a business is spread over a week."""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from django.db.models import QuerySet

from idcsched.api.fields import ShapeField
from idcsched.api.filtering import FilterSet
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, Resource, StrictModelSerializer
from idcsched.audit.writing import below
from idcsched.framework.errors import Forbidden
from idcsched.framework.messages import _
from idcsched.scheduling import shapes
from idcsched.scheduling.models import Shape

__all__ = ["ShapeViewSet"]


class ShapeSerializer(StrictModelSerializer):
    tenant = CodeOf(required=False, allow_null=True)
    entered = ShapeField()

    class Meta:
        model = Shape
        fields = ("id", "tenant", "business", "entered", "created_at")
        read_only_fields = ("id", "created_at")


class ShapeFilters(FilterSet):
    class Meta:
        model = Shape
        columns = ("id", "business", "created_at")
        paths = {"tenant": "tenant__code"}
        searched = ("business",)


class ShapeViewSet(Resource):
    """Shapes of the traffic of a business, by which its orders are priced where a request has no `shape` of its own."""

    capability = "write_shapes"
    noun = "shape"
    fixed = ("tenant", "business")
    lookup_field = "id"
    lookup_value_regex = "[0-9]{1,18}"
    queryset = Shape.objects.select_related("tenant")
    serializer_class = ShapeSerializer
    filterset_class = ShapeFilters
    ordering_fields = ("id", "business", "created_at")
    create_service = staticmethod(shapes.shape_create)
    update_service = staticmethod(shapes.shape_update)
    delete_service = staticmethod(shapes.shape_delete)

    def get_queryset(self) -> QuerySet[Shape]:
        return shapes.shapes_visible(principal_of_request(self.request))

    def check_rows(self, rows: Sequence[Any], pointers: Iterable[str] = repeat("")) -> None:
        """Raise Forbidden for a shape of another tenant or of all tenants, for callers who are bound to a tenant."""
        principal = principal_of_request(self.request)
        for row, pointer in zip(rows, pointers, strict=False):
            if not shapes.shape_is_of(principal, row):
                with below(pointer):
                    raise Forbidden("tenant_not_allowed", _("this concerns other tenants as well"))
