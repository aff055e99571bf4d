"""`POST /api/v1/schedule/batch/`: many scheduling requests at once."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Literal, get_args

import msgspec
from django.http import HttpResponse
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request as HttpRequest

from idcsched.api.bodies import body_bytes
from idcsched.api.idempotency import Idempotent
from idcsched.api.middleware import request_id_of
from idcsched.api.origin import caller_origin
from idcsched.api.permissions import principal_of_request
from idcsched.api.problems import CONTENT_TYPE, problem, problem_of
from idcsched.api.resources import encoded
from idcsched.api.views.placements import status_of_order
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.framework.request import Request
from idcsched.placement.batching import Batch, Outcome
from idcsched.placement.documents import PlacementDocument, placement_documents, with_details
from idcsched.placement.models import Placement
from idcsched.placement.services import batch_answer, gang_place
from idcsched.planning.batches import Plan, batch_by_bill
from idcsched.planning.optimum import Status
from idcsched.scheduling.request_checks import request_check

__all__ = ["BatchView"]

Mode = Literal["independent", "gang"]
Objective = Literal["score", "bill"]
BatchSize = msgspec.Meta(min_length=1, max_length=1000)


class ScheduleBatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`independent`: each request in order, given what the requests before it left; `gang`: all of them or none.

    With the objective `score` each request goes where it scores best; with `bill` all of them are assigned together,
    for the smallest bill.
    """

    requests: Annotated[tuple[Request, ...], BatchSize]
    mode: Mode = "independent"
    objective: Objective = "score"


class UndecodedBatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ScheduleBatch whose requests are not yet decoded, so that a malformed one does not spoil the others."""

    requests: Annotated[tuple[msgspec.Raw, ...], BatchSize]
    mode: Mode | None = None
    objective: Objective | None = None


EXAMPLE = {
    "mode": "gang",
    "requests": [
        {
            "request_id": "web",
            "region": "A",
            "profile": "seed-example",
            "action": "reserve",
            "machines": [{"count": 2}],
        },
        {"request_id": "db", "region": "A", "profile": "seed-example", "action": "reserve", "machines": [{"count": 1}]},
    ],
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "description": "In the order of the requests: what `schedule/` would have answered, with its `status`.",
    "required": ["result", "results"],
    "properties": {
        "result": {"type": "string", "enum": ["all", "some", "none"]},
        "results": {"type": "array", "items": {"type": "object", "additionalProperties": True}},
        "plan": {
            "type": "object",
            "description": "With the objective `bill`: what the requests add to the bills of all lines per month, "
            "assigned together and one after the other.",
            "required": list(Plan.__struct_fields__),
            "properties": {
                "objective": {"type": "string", "enum": ["bill"]},
                "status": {"type": "string", "enum": list(get_args(Status))},
                **{name: {"type": "integer"} for name in ("placed", "greedy_placed")},
                **{name: {"type": "number"} for name in ("bill", "bound", "gap", "seconds", "greedy_bill")},
                "currency": {"type": "string"},
                "not_as_planned": {"type": "array", "items": {"type": "integer"}},
            },
        },
    },
}


class BatchView(Idempotent):
    """Many requests in one."""

    capability = "schedule"

    @extend_schema(
        operation_id="schedule_batch",
        request=ScheduleBatch,
        responses={200: ANSWER},
        examples=[OpenApiExample("Together or not at all", value=EXAMPLE, request_only=True)],
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        """Each request is decided given what the requests before it left.

        A gang is placed as a whole or not at all: 409 with the `results`. With the objective `bill` all requests are
        assigned together first; `plan` says what that saves.
        """
        undecoded = decode_json(body_bytes(request), UndecodedBatch)
        decide_all = gang_place if undecoded.mode == "gang" else batch_answer
        fields: dict[str, Any] = {
            "requests": [_read(raw) for raw in undecoded.requests],
            "principal": principal_of_request(request),
            "http_request_id": request_id_of(request),
        }
        with caller_origin(request):
            if undecoded.objective == "bill":
                return _response(*batch_by_bill(serve=decide_all, **fields))
            return _response(decide_all(**fields))


def _read(raw: msgspec.Raw) -> Request | Invalid:
    try:
        request = decode_json(bytes(raw), Request)
        request_check(request)
    except Invalid as refusal:
        return refusal
    return request


def _response(batch: Batch, plan: Plan | None = None) -> HttpResponse:
    body: dict[str, Any] = {"result": batch.result, "results": _results(batch.outcomes)}
    if plan is not None:
        body["plan"] = plan
    if not batch.together or batch.result == "all":  # `together`: the batch is a gang
        return encoded(body)
    detail = gettext("not all of them can be placed, so none is")
    response = encoded(problem(HTTPStatus.CONFLICT, "gang_not_placed", detail, **body))
    response.status_code, response["Content-Type"] = HTTPStatus.CONFLICT, CONTENT_TYPE
    return response


def _results(outcomes: Sequence[Outcome]) -> list[Any]:
    documents = _documents([outcome for outcome in outcomes if isinstance(outcome, Placement)])
    return [_result(outcome, documents) for outcome in outcomes]


def _result(outcome: Outcome, documents: Mapping[str, PlacementDocument]) -> Any:
    """Return what `schedule/` would have answered, with its status as one of the fields."""
    if isinstance(outcome, IdcschedError):
        return problem_of(outcome)
    if isinstance(outcome, Placement):
        return {"status": status_of_order(outcome), **msgspec.to_builtins(documents[str(outcome.pk)])}
    return {"status": HTTPStatus.OK, **msgspec.to_builtins(outcome)}


def _documents(placements: Sequence[Placement]) -> dict[str, PlacementDocument]:
    """Return the placements' documents by id, as they stand now, in a fixed number of queries."""
    if not placements:
        return {}
    rows = with_details(Placement.objects.filter(pk__in=[placement.pk for placement in placements]))
    return {document.id: document for document in placement_documents(list(rows))}
