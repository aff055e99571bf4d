"""The router of the viewsets, and the view of all addresses that have no other."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.routers import SimpleRouter

from .problems import not_found, slash_missing

__all__ = ["Router", "nothing_here"]


class Router(SimpleRouter):
    """DRF's router with a PATCH of the collection, which changes many of its members."""

    def __init__(self) -> None:
        super().__init__()
        collection: Any = self.routes[0]
        with_patch = collection._replace(mapping={**collection.mapping, "patch": "partial_update_many"})
        self.routes = [with_patch, *self.routes[1:]]


@csrf_exempt
def nothing_here(request: HttpRequest, path: str) -> HttpResponseBase:
    """Redirect a read of an address that lacks only its closing slash; answer 404 to everything else.

    A write is not redirected: most clients would follow with a GET and lose the body.
    """
    with_slash = f"{request.path_info}/"
    if path.endswith("/") or resolve(with_slash).func is nothing_here:
        return not_found(request, Resolver404())
    if request.method in {"GET", "HEAD"}:
        query = request.META.get("QUERY_STRING", "")
        return HttpResponsePermanentRedirect(escape_uri_path(with_slash) + (f"?{query}" if query else ""))
    return slash_missing(with_slash)
