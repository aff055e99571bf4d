"""Which method of a viewset answers which method of HTTP, and what answers where nothing is."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.routers import SimpleRouter

from .problems import not_found, slash_missing

__all__ = ["Router", "nothing_here"]


class Router(SimpleRouter):
    """DRF's, and a PATCH of the collection itself, which changes many of its members."""

    def __init__(self) -> None:
        super().__init__()
        collection: Any = self.routes[0]
        changed = collection._replace(mapping={**collection.mapping, "patch": "partial_update_many"})
        self.routes = [changed, *self.routes[1:]]


@csrf_exempt
def nothing_here(request: HttpRequest, path: str) -> HttpResponseBase:
    """An address without its closing slash, or one that nothing has.

    A reader is sent on. A writer is told: most clients would follow with a GET, and the body would be lost.
    """
    with_slash = f"{request.path_info}/"
    if path.endswith("/") or not _leads_somewhere(with_slash):
        return not_found(request, Resolver404())
    if request.method in {"GET", "HEAD"}:
        query = request.META.get("QUERY_STRING", "")
        return HttpResponsePermanentRedirect(escape_uri_path(with_slash) + (f"?{query}" if query else ""))
    return slash_missing(with_slash)


def _leads_somewhere(path: str) -> bool:
    return resolve(path).func is not nothing_here
