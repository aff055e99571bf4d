"""Buttons above a list of the inventory: bring a file, take one."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Final

from django.http import FileResponse, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from .exporting import json_document, table
from .sheets import SHEETS, Sheet

__all__ = ["FilesMixin"]

IN_MEMORY: Final = 1024 * 1024
"""Bytes of a file that are not worth a place on disk."""


class FilesMixin:
    """For the admin page of a model that has a sheet."""

    actions_list = ["import_file", "export_table", "export_json"]

    def _sheet(self) -> Sheet:
        return next(sheet for sheet in SHEETS if sheet.model is self.model)  # type: ignore[attr-defined]  # a ModelAdmin's

    @action(description=_("Import…"), icon="upload_file", url_path="import", permissions=["add"])
    def import_file(self, request: HttpRequest) -> HttpResponseBase:
        return HttpResponseRedirect(f"{reverse('admin:transfer_import_add')}?kind={self._sheet().name}")

    @action(description=_("Export as CSV"), icon="download", url_path="export-csv", permissions=["view"])
    def export_table(self, request: HttpRequest) -> HttpResponseBase:
        return _download(table(self._sheet()), "text/csv; charset=utf-8", f"{self._sheet().name}-{_today()}.csv")

    @action(description=_("Export as JSON"), icon="data_object", url_path="export-json", permissions=["view"])
    def export_json(self, request: HttpRequest) -> HttpResponseBase:
        name = f"{self._sheet().name}-{_today()}.json"
        return _download(json_document([self._sheet()]), "application/json", name)


def _today() -> str:
    return timezone.now().strftime("%Y-%m-%d")


def _download(lines: Iterator[str], content_type: str, name: str) -> FileResponse:
    """All of it is there before the first byte is sent: one that broke off on the way would look complete."""
    file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # the response closes it
    try:
        for line in lines:
            file.write(line.encode())
    except BaseException:
        file.close()
        raise
    file.seek(0)
    headers = {"X-Content-Type-Options": "nosniff"}
    return FileResponse(file, as_attachment=True, filename=name, content_type=content_type, headers=headers)
