"""The addresses of static files, which change with the files, so that browsers may keep them for good."""

from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static

__all__ = ["moved", "static_version"]

PACKAGES: Final = ("django", "django-unfold", "djangorestframework", "drf-spectacular-sidecar", "django-celery-beat")
"""The packages whose static files the pages load, beside the project's own."""


def static_version(folder: Path) -> str:
    """Return a short name for the state of the static files in `folder` and in the packages."""
    digest = blake2b(" ".join(version(package) for package in PACKAGES).encode(), digest_size=5)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def moved(request: HttpRequest, version: str, path: str) -> HttpResponse:
    """Redirect a request for another version's file, which a page of a process that is being replaced has sent."""
    if settings.STATIC_URL.endswith(f"/{version}/"):
        raise Http404
    return HttpResponseRedirect(static(path))
