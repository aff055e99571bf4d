"""`/api/v1/profiles/`: the profiles as versioned documents."""

from functools import partial
from typing import Annotated, Any, Final

import msgspec
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.filtering import FilterSet
from idcsched.api.openapi import list_of, paged
from idcsched.api.paging import Pages
from idcsched.api.parameters import pointer_to, refuse_unknown_parameters
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import Resource, page_response, struct_response
from idcsched.audit.writing import below
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.profile import PluginEntry, ProfileBody
from idcsched.framework.request import Hypothetical
from idcsched.planning.recorded import MOST_DAYS
from idcsched.planning.services import backtest_create
from idcsched.scheduling.differences import Difference as BodyDifference
from idcsched.scheduling.differences import differences
from idcsched.scheduling.models import Profile, ProfileRevision
from idcsched.scheduling.preview import Preview, preview, what_if_check
from idcsched.scheduling.selectors import revision_named
from idcsched.scheduling.services import profile_activate, profile_create, profile_delete, profile_revise

from .backtests import BacktestDocument, backtest_document

__all__ = ["ProfileViewSet"]


TO = OpenApiParameter(
    "to",
    {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    description="Differences from the path's revision to this one; without it, from the active revision to the path's.",
)
EXAMPLE: Final = {
    "plugins": [
        {"name": "available", "plugin": "available"},
        {"name": "taint", "plugin": "taint", "weight": 20},
        {"name": "network_flow", "plugin": "network_flow", "weight": 10, "on_missing": {"filter": "reject"}},
        {"name": "bill", "plugin": "billing_cost", "weight": 80, "args": {"scarcity": 0.7}},
        {
            "name": "latency",
            "plugin": "metric",
            "weight": 15,
            "args": {"metric": "rtt_ms", "at_most": 80},
            "normalizer": {"kind": "fixed", "low": 0, "high": 100},
        },
    ],
    "tie_breakers": ["affinity", "headroom"],
    "fallback": [
        {"match_labels": {"owner": "own"}},
        {"match_expressions": [{"key": "idc/code", "operator": "Exists"}]},
    ],
    "pick": {"kind": "near_best", "epsilon": 50},
    "message": "Latency counts, our own IDCs come first",
}
WRITTEN: Final = OpenApiExample(
    "Bills and latency, our own IDCs first", value={"code": "live", "name": "Live", **EXAMPLE}, request_only=True
)
DRAFTED: Final = OpenApiExample("Tried before it is in force", value=EXAMPLE, request_only=True)
BACKTESTED: Final = OpenApiExample(
    "What others would have cost", value={"days": 30, "profiles": ["cost-first"]}, request_only=True
)
PREVIEWED: Final = OpenApiExample("What a draft would change", value={"body": EXAMPLE, "last": 100}, request_only=True)


class ProfileDocument(ProfileBody, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A profile as clients write it."""

    code: str
    name: str | None = None
    message: str | None = None


# For the OpenAPI document only: `ProfileViewSet.change` adds the address's code, and merges a change into the active
# revision, before either is checked.
class ProfileReplacement(ProfileDocument, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A whole profile in place of the one that the address names; its code may be left out."""

    code: str | None = None  # type: ignore[assignment]


class ProfilePatch(ProfileReplacement, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change of a profile: any of its fields."""

    plugins: Annotated[tuple[PluginEntry, ...], msgspec.Meta(max_length=200)] | None = None  # type: ignore[assignment]


class ProfileMember(ProfilePatch, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change of one of many profiles, which `code` names."""

    code: str


class ShownProfile(ProfileBody, frozen=True, kw_only=True, omit_defaults=True):
    """A profile with its active revision."""

    code: str
    name: str
    revision: int
    created_at: str
    message: str


class Draft(ProfileBody, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A profile's document without code and name: a revision to try or to add; `message` says why it was made."""

    message: str | None = None


class BacktestRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which orders to decide again: those of the last `days`; and by what beside the profile that is in force.

    With `optimum` also the cheapest course is searched, for a minute.
    """

    days: Annotated[int, msgspec.Meta(ge=1, le=MOST_DAYS)] = 30
    body: dict[str, Any] | None = None
    revision: Annotated[int, msgspec.Meta(ge=1)] | None = None
    profiles: Annotated[tuple[str, ...], msgspec.Meta(max_length=10)] = ()
    optimum: bool = False


class ShownRevision(ProfileBody, frozen=True, kw_only=True, omit_defaults=True):
    """One revision of a profile."""

    revision: int
    active: bool
    created_at: str
    created_by: str
    message: str


class PreviewRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A draft or a revision, something that is supposed, or both; and how many of the last decisions to look at.

    Without a draft or revision what is supposed is tried under the one in force.
    """

    body: dict[str, Any] | None = None
    revision: Annotated[int, msgspec.Meta(ge=1)] | None = None
    hypothetical: Hypothetical | None = None
    last: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class Difference(msgspec.Struct, frozen=True):
    """One value that differs; null where there is none."""

    pointer: str
    before: Any
    after: Any


class ProfileSerializer(serializers.BaseSerializer[Profile]):
    """The active revision's document, with the profile's code and name."""

    def to_representation(self, instance: Profile) -> dict[str, Any]:
        active = instance.active
        return {
            "code": instance.code,
            "name": instance.name,
            **(active.body if active else {}),
            "revision": active.number if active else None,
            "created_at": serializers.DateTimeField().to_representation(active.created_at) if active else None,
            "message": active.message if active else "",
        }


class ProfileFilters(FilterSet):
    class Meta:
        model = Profile
        columns = ("code", "name")
        searched = ("code", "name")


@extend_schema_view(
    list=extend_schema(responses=ShownProfile),
    retrieve=extend_schema(responses=ShownProfile),
    create=extend_schema(request=ProfileDocument, responses={201: ShownProfile}, examples=[WRITTEN]),
    update=extend_schema(request=ProfileReplacement, responses=ShownProfile, examples=[WRITTEN]),
    partial_update=extend_schema(request=ProfilePatch, responses=ShownProfile),
)
class ProfileViewSet(Resource):
    """Every change of a profile's document makes a new active revision; decisions name the revision that they used.

    A new name, or the same document again, makes no revision. Deleting takes the profile out of force; its revisions
    stay for the decisions that name them.
    """

    capability = "write_profiles"
    conditional_actions = ("revisions", "activate")
    noun = "profile"
    queryset = Profile.objects.select_related("active")
    serializer_class = ProfileSerializer
    filterset_class = ProfileFilters
    ordering_fields = ("code", "name")
    delete_service = staticmethod(profile_delete)

    def make(self, document: Any) -> Profile:
        parsed = convert(document, ProfileDocument)
        return profile_create(
            code=parsed.code, name=parsed.name or "", body=_body(parsed), message=parsed.message or ""
        )

    def change(self, row: Profile, document: Any, *, partial: bool) -> Profile:
        base = row.active.body if partial and row.active else {}
        merged = {"code": row.code, **base, **document} if isinstance(document, dict) else document
        parsed = convert(merged, ProfileDocument)
        if parsed.code != row.code:
            raise Invalid("read_only", _("a profile keeps its code"), "/code")
        profile_revise(profile=row, body=_body(parsed), name=parsed.name, message=parsed.message or "")
        return row

    @extend_schema(
        operation_id="profiles_partial_update_many",
        request=list_of(ProfileMember),
        responses=list_of(ShownProfile),
    )
    def partial_update_many(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().partial_update_many(request, *args, **kwargs)

    @paged(ShownRevision, methods=["GET"], operation_id="profile_revisions_list")
    @extend_schema(
        methods=["POST"],
        operation_id="profile_revisions_create",
        request=Draft,
        responses={201: ShownRevision},
        examples=[DRAFTED],
    )
    @action(detail=True, methods=["get", "post"])
    def revisions(self, request: Request, code: str) -> HttpResponse:
        """The revisions of the profile, the latest first; a POST adds one that is not in force yet."""
        profile: Profile = self.get_object()
        if request.method == "GET":
            return page_response(request, profile.revisions.all(), partial(_revision, profile))
        draft = convert(request.data, Draft)
        revision = self.edited_object(
            lambda row: profile_revise(profile=row, body=_body(draft), message=draft.message or "", activate=False)
        )
        return Response(_revision(profile, revision), status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="profile_revisions_activate", request=None, responses=ShownRevision)
    @action(detail=True, methods=["post"], url_path=r"revisions/(?P<number>[0-9]{1,9})/activate")
    def activate(self, request: Request, code: str, number: str) -> Response:
        """Put a revision in force, which may be an earlier one."""
        self.edited_object(lambda row: profile_activate(profile=row, number=int(number)))
        profile: Profile = self.get_object()
        return Response(_revision(profile, profile.revisions.get(number=int(number))))

    @paged(Difference, operation_id="profile_revisions_diff", parameters=[TO])
    @action(detail=True, methods=["get"], url_path=r"revisions/(?P<number>[0-9]{1,9})/diff")
    def diff(self, request: Request, code: str, number: str) -> HttpResponse:
        """What changes from the active revision to this one; with `to`, from this one to that one."""
        profile: Profile = self.get_object()
        known = ("to", *Pages.parameters)
        refuse_unknown_parameters(request, known, at_most_once=known)
        named, to = revision_named(profile, int(number)), request.query_params.get("to")
        if to is None:
            before, after = profile.active, named
        else:
            before, after = named, revision_named(profile, _whole_number(to, pointer_to("to")))
        changes = list(differences(before.body if before else {}, after.body))
        return page_response(request, changes, _difference, own_parameters=("to",))

    @extend_schema(operation_id="profile_preview", request=PreviewRequest, responses=Preview, examples=[PREVIEWED])
    @action(detail=True, methods=["post"])
    def preview(self, request: Request, code: str) -> HttpResponse:
        """Which of the last decisions would have gone otherwise under a draft or revision, or with what is supposed."""
        profile: Profile = self.get_object()
        question = convert(request.data, PreviewRequest)
        given = [part for part in (question.body, question.revision) if part is not None]
        if len(given) > 1 or not (given or question.hypothetical):
            raise Invalid("body_or_revision", _("give either a body or the number of a revision"), "/body")
        if question.hypothetical is not None:
            what_if_check(question.hypothetical)
        examined = partial(
            preview,
            profile=profile,
            last=question.last,
            principal=principal_of_request(request),
            what_if=question.hypothetical,
        )
        if question.body is not None:
            with below("/body"):
                return struct_response(examined(body=_body(convert(question.body, Draft))))
        if question.revision is None:
            return struct_response(examined(body=profile.active.body if profile.active else {}))
        return struct_response(examined(body=revision_named(profile, question.revision, "/revision").body))

    @extend_schema(
        operation_id="profile_backtest",
        request=BacktestRequest,
        responses={202: BacktestDocument},
        examples=[BACKTESTED],
    )
    @action(detail=True, methods=["post"])
    def backtest(self, request: Request, code: str) -> HttpResponse:
        """What the orders of the last days would have cost under the profile, a draft or revision of it, and others.

        A worker computes that; `GET backtests/{id}/` shows how far it is, and the result.
        """
        profile: Profile = self.get_object()
        question = convert(request.data, BacktestRequest)
        if question.body is not None and question.revision is not None:
            raise Invalid("body_or_revision", _("give either a body or the number of a revision"), "/body")
        ask = partial(
            backtest_create,
            profile=profile,
            days=question.days,
            principal=principal_of_request(request),
            others=question.profiles,
            optimum=question.optimum,
        )
        if question.body is not None:
            with below("/body"):
                body = _body(convert(question.body, Draft))
            row = ask(body=body)
        elif question.revision is not None:
            row = ask(body=revision_named(profile, question.revision, "/revision").body)
        else:
            row = ask()
        response = struct_response(backtest_document(row), status.HTTP_202_ACCEPTED)
        response["Location"] = reverse("backtest-detail", args=[row.pk])
        return response


def _difference(difference: BodyDifference) -> Difference:
    return Difference(difference.pointer, difference.before, difference.after)


def _revision(profile: Profile, revision: ProfileRevision) -> dict[str, Any]:
    return {
        **revision.body,
        "revision": revision.number,
        "active": profile.active_id == revision.pk,
        "created_at": serializers.DateTimeField().to_representation(revision.created_at),
        "created_by": revision.created_by,
        "message": revision.message,
    }


def _whole_number(text: str, pointer: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):  # noqa: PLR2004  # what fits 32 bits
        raise Invalid("wrong_type", _("this must be a whole number"), pointer)
    return int(text)


def _body(document: ProfileBody) -> dict[str, Any]:
    """Return the part of the document that a revision keeps."""
    fields = {name: getattr(document, name) for name in ProfileBody.__struct_fields__}
    body: dict[str, Any] = msgspec.to_builtins(ProfileBody(**fields))
    return body
