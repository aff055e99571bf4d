"""`shapes/`: how the traffic of a business is spread over a week."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import msgspec
from django.db.models import QuerySet

from idcsched.api.fields import DocumentField, ShapeField
from idcsched.api.filtering import FilterSet
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import CodeOf, OneOf, Resource, StrictModelSerializer
from idcsched.audit.writing import below
from idcsched.framework.errors import Forbidden
from idcsched.framework.messages import _
from idcsched.scheduling import shapes
from idcsched.scheduling.models import Shape, ShapeSource, ShapeVerdict

__all__ = ["ShapeViewSet"]


class ShownLearntShape(msgspec.Struct, frozen=True, kw_only=True):
    """The last shape that was learnt and trusted, by the hours of a week, and what it rests on.

    `lines` counts a line that tells little as a part of one. `error` is the mean difference from the truth that is to
    be expected, as a share of the shape's mean. `use` is how many Mbps flow in the busiest hour per ordered Mbps.
    """

    hours: list[float]
    at: datetime
    days: float
    lines: float
    error: float
    use: float


class ShownAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """The last attempt to learn the shape; `reason` says why its result was not trusted, and is null where it was."""

    at: datetime
    verdict: str
    reason: str | None
    days: float
    lines: float
    error: float | None


class LearntField(DocumentField):
    kind = ShownLearntShape | None

    def to_representation(self, value: Any) -> Any:
        if value.learnt is None:
            return None
        shown = {name: getattr(value, f"learnt_{name}") for name in ("at", "days", "lines", "error", "use")}
        return msgspec.to_builtins(ShownLearntShape(hours=value.learnt, **shown))


class AttemptField(DocumentField):
    kind = ShownAttempt | None

    def to_representation(self, value: Any) -> Any:
        if value.tried_at is None:
            return None
        trusted = value.verdict == ShapeVerdict.TRUSTED
        shown = {name: getattr(value, f"tried_{name}") for name in ("at", "days", "lines", "error")}
        reason = None if trusted else str(value.get_verdict_display())
        return msgspec.to_builtins(ShownAttempt(verdict=value.verdict, reason=reason, **shown))


class ShapeSerializer(StrictModelSerializer):
    tenant = CodeOf(required=False, allow_null=True)
    entered = ShapeField(allow_null=True)
    in_force = OneOf(
        choices=ShapeSource.choices,
        read_only=True,
        allow_null=True,
        help_text="By which of the two orders are priced; null: by neither, or by what was entered for all tenants.",
    )
    learnt = LearntField(source="*", read_only=True, allow_null=True)
    last_attempt = AttemptField(source="*", read_only=True, allow_null=True)

    class Meta:
        model = Shape
        fields = ("id", "tenant", "business", "entered", "in_force", "learnt", "last_attempt", "created_at")
        read_only_fields = ("id", "created_at")


class ShapeFilters(FilterSet):
    class Meta:
        model = Shape
        columns = ("id", "business", "verdict", "created_at")
        paths = {"tenant": "tenant__code"}
        searched = ("business",)


class ShapeViewSet(Resource):
    """Shapes of the traffic of a business, by which its orders are priced where a request has no `shape` of its own.

    Operators enter them; each night others are learnt. DELETE takes what was entered away, and leaves what was learnt
    in force; where nothing was entered, it deletes the row, which may be learnt anew.
    """

    capability = "write_shapes"
    noun = "shape"
    fixed = ("tenant", "business")
    moving_fields = frozenset({"in_force", "learnt", "last_attempt"})
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
