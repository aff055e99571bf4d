"""`Idempotency-Key`: a POST that is sent again gets the first answer, and its work is not done again.

Every view that takes a caller's POST is `Idempotent`. Kept is every answer but those that may be another one soon: 5xx,
and refusals of a name that nobody has created yet. With the header, the view's work and its kept answer are one
transaction (`accounts.services.idempotency` says why); without the header there is no cost.
"""

import re
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Any, ClassVar, Final

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from idcsched.accounts.services import (
    Busy,
    KeptAnswer,
    KeyReused,
    idempotency_answer,
)
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.scheduling.unknown_names import UNKNOWN_NAMES

from .permissions import principal_of_request

__all__ = ["HEADER", "REPLAYED", "Idempotent"]

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
KEPT_HEADERS: Final = ("Content-Type", "Location", "ETag")
BUSY_SECONDS: Final = 1


class UsedForAnother(APIException):
    """The key was used for another request."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "idempotency_key_reused"
    default_detail = gettext_lazy("this key was used for another request")


class StillWorking(APIException):
    """The first request with this key has no answer yet."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "idempotency_key_busy"
    default_detail = gettext_lazy("the request with this key is still being worked on")
    wait = BUSY_SECONDS


class Idempotent(APIView):
    """A view whose POST honours `Idempotency-Key`."""

    secret_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields of the answer that are never kept: they are null where the answer is given again."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        handler = getattr(self, "post", None)
        if request.method == "POST" and HEADER in request.headers and handler is not None:
            setattr(self, "post", partial(self._answer_once, handler))  # noqa: B010  # DRF looks `post` up after this

    def _answer_once(self, handler: Callable[..., Any], request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the handler's answer, or the kept answer to the same request under the same key."""
        responses: list[HttpResponse] = []

        def work() -> KeptAnswer | None:
            response = self._rendered(partial(handler, request, *args, **kwargs), request)
            responses.append(response)
            final = response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and not _names_something_unknown(response)
            return self._to_keep(response) if final else None

        try:
            earlier = idempotency_answer(
                user_id=principal_of_request(request).user_id,
                key=_key(request),
                fingerprint=_fingerprint(request),
                now=timezone.now(),
                work=work,
            )
        except KeyReused:
            raise UsedForAnother from None
        except Busy:
            raise StillWorking from None
        return responses[0] if earlier is None else _replayed(earlier)  # None: the work was done now

    def _rendered(self, handle: Callable[[], Any], request: Request) -> HttpResponse:
        """Return the response as it will be sent; an error of the handler becomes a response here, too.

        Raised any further, a refusal would undo what the handler's services have finished, since the key's transaction
        encloses them. Without the header that work stays, because each service commits by itself.
        """
        try:
            answer = handle()
        except Exception as error:  # noqa: BLE001  # `handle_exception` raises an unknown exception again
            answer = self.handle_exception(error)
        response: Any = self.finalize_response(request, answer)
        return response.render() if isinstance(response, Response) else response

    def _to_keep(self, response: HttpResponse) -> KeptAnswer:
        headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
        body: Any = response.content
        if self.secret_fields and isinstance(response, Response) and isinstance(response.data, dict | list):
            body = response.accepted_renderer.render(self._without_secrets(response.data))
        return KeptAnswer(status=response.status_code, headers=headers, body=body)

    def _without_secrets(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self._without_secrets(item) for item in data]
        return {name: None if name in self.secret_fields else value for name, value in data.items()}


def _names_something_unknown(response: HttpResponse) -> bool:
    """Return whether a request was refused for a name that may exist when the request is sent again."""
    if response.status_code != HTTPStatus.BAD_REQUEST or not isinstance(response, Response):
        return False
    return any(error["code"] in UNKNOWN_NAMES for error in response.data["errors"])


def _key(request: Request) -> str:
    key = request.headers[HEADER]
    if not KEY.fullmatch(key):
        detail = _("the header {name} holds 1 to 255 visible ASCII characters, such as a UUID")
        raise Invalid("invalid_idempotency_key", detail, name=HEADER)
    return key


def _fingerprint(request: Request) -> str:
    """Hash the request and its tenant, since one user's tokens may act for several tenants."""
    head = f"{request.method} {request.get_full_path()}\n{principal_of_request(request).tenant or ''}\n"
    return sha256(head.encode("utf-8", "surrogatepass") + request._request.body).hexdigest()  # noqa: SLF001  # the raw body


def _replayed(answer: KeptAnswer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))
    response.headers[REPLAYED] = "true"
    return response
