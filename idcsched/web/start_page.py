"""The address `/`, which leads people to the console and programs to the documentation of the API."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import patch_vary_headers

from idcsched.web.error_pages import wants_page

__all__ = ["start"]


def start(request: HttpRequest) -> HttpResponse:
    response = redirect("console:overview" if wants_page(request) else "docs")
    patch_vary_headers(response, ["Accept"])
    return response
