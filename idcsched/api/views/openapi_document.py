"""The OpenAPI document."""

from functools import lru_cache

from django.conf import settings
from django.http import HttpResponse
from django.utils import translation
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

__all__ = ["OpenApiDocumentView"]

RENDERERS = {"yaml": OpenApiYamlRenderer, "json": OpenApiJsonRenderer}


class OpenApiDocumentView(SpectacularAPIView):
    """The OpenAPI document, open to everybody; it is slow to make, so each process keeps it by language and format."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the document in the language that `?lang=` names, else in the reader's own."""
        requested = request.query_params.get("lang")
        language = requested if requested in dict(settings.LANGUAGES) else translation.get_language()
        renderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        return HttpResponse(
            _document(language, renderer.format),
            content_type=f"{renderer.media_type}{charset}",
            headers={"Content-Disposition": f'inline; filename="idcsched.{renderer.format}"'},
        )


@lru_cache(maxsize=8)
def _document(language: str | None, format: str) -> bytes:
    with translation.override(language):
        rendered = RENDERERS[format]().render(SchemaGenerator().get_schema(public=True), renderer_context={})
    return rendered.encode() if isinstance(rendered, str) else bytes(rendered)
