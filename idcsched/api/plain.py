"""The short way to an answer, for the requests of which there are thousands a second.

What a view is asked for is the same on either way: who asks, whether they may, how often, and what its `post` makes
of it; and every exception ends in the same handler. The short way leaves out what a plain request has no use for:
negotiating a form, looking for a session, keeping the answer under an `Idempotency-Key`.
"""

from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from idcsched.at_once import may_wait

from .authentication import BearerAuthentication
from .idempotency import Idempotent

__all__ = ["PlainPost"]

ANY_FORM: Final = frozenset({"*/*", "application/json", ""})
NEGOTIATOR: Final = DefaultContentNegotiation()
"""Asked of nothing here, and the same for everybody."""


class PlainRequest(Request):
    """What DRF looks for in vain before it asks Django's request, and a plain one is asked for, is at hand."""

    def __init__(self, request: HttpRequest, authenticator: BearerAuthentication) -> None:
        super().__init__(request, authenticators=(authenticator,), negotiator=NEGOTIATOR)
        self.META, self.method = request.META, request.method


class PlainPost(Idempotent):
    """A view whose plain POSTs take the short way; all others take the ordinary one."""

    bearer = BearerAuthentication()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not _plain(request):
            may_wait()
            return super().dispatch(request, *args, **kwargs)
        self.request = asked = PlainRequest(request, self.bearer)
        try:
            if found := self.bearer.authenticate(asked):
                asked.user, asked.auth = found  # DRF finds out the same, by way of more
            self.check_permissions(asked)
            self.check_throttles(asked)
            answered: HttpResponseBase = self.post(asked, *args, **kwargs)  # type: ignore[attr-defined]
        except Exception as error:  # noqa: BLE001  # the handler of exceptions raises what it does not know
            self.headers = self.default_response_headers
            return self.finalize_response(asked, self.handle_exception(error), *args, **kwargs)
        return answered


def _plain(request: HttpRequest) -> bool:
    meta = request.META
    return (
        request.method == "POST"
        and "HTTP_AUTHORIZATION" in meta
        and "HTTP_IDEMPOTENCY_KEY" not in meta
        and meta.get("HTTP_ACCEPT", "") in ANY_FORM
    )
