"""`csv`: a table, from an address or from a file of the source folder: cost sheets, contracts, readings.

A record is one row: its values by the headings of their columns. Empty cells and cells without a heading are left out.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from django.conf import settings

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from metrics_ingest.collector import MAX_BYTES, Ask, Collector, Record
from metrics_ingest.collectors.web import WebConfig, web_check, web_fetch

__all__ = ["Csv", "CsvConfig"]

NAME = r"^[^/\\\x00-\x1f]+(/[^/\\\x00-\x1f]+)*$"


class CsvConfig(WebConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Either `url` or `file`, a path below the source folder. `skip_lines` stand above the headings."""

    url: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    file: Annotated[str, msgspec.Meta(pattern=NAME, max_length=500)] | None = None
    delimiter: Literal[",", ";", "\t", "|"] = ","
    encoding: Literal["utf-8", "gb18030", "utf-16", "latin-1"] = "utf-8"
    skip_lines: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0


class Csv(Collector):
    """Reads a table of comma-separated values."""

    kind = "csv"
    Config = CsvConfig
    config: CsvConfig

    def check(self) -> Iterable[FieldError]:
        if bool(self.config.url) == (self.config.file is not None):
            yield FieldError("/url", "url_or_file", _("give either `url` or `file`"))
        elif self.config.file is None:
            yield from web_check(self.config)
        elif ".." in self.config.file.split("/"):
            yield FieldError("/file", "outside_folder", _("this must lie in the source folder"))

    def collect(self, ask: Ask) -> Iterator[Record]:
        if self.config.file is None:
            content = web_fetch(ask, self.config, self.config.url, accept="text/csv, text/plain, */*;q=0.1").content
        else:
            content = _read(self.config.file)
        yield from self._rows(self._text(content))

    def _text(self, content: bytes) -> str:
        try:
            return content.decode("utf-8-sig" if self.config.encoding == "utf-8" else self.config.encoding)
        except UnicodeDecodeError as error:
            detail = _("the table is not {encoding} text: {reason}")
            raise Unavailable("bad_encoding", detail, encoding=self.config.encoding, reason=str(error)) from None

    def _rows(self, text: str) -> Iterator[Record]:
        lines = text.splitlines(keepends=True)[self.config.skip_lines :]
        reader = csv.DictReader(lines, delimiter=self.config.delimiter, strict=True)
        try:
            headings = [name.strip() for name in reader.fieldnames or ()]
            if len(set(headings)) < len(headings):
                raise Unavailable("bad_table", _("two columns have the same heading"))
            for row in reader:
                cells = {name.strip(): (value or "").strip() for name, value in row.items() if isinstance(name, str)}
                yield {name: value for name, value in cells.items() if value}
        except csv.Error as error:
            detail = _("line {line} of the table can't be read: {reason}")
            raise Unavailable("bad_table", detail, line=reader.line_num, reason=str(error)) from None


def _read(name: str) -> bytes:
    """Read a file of the source folder; raises Unavailable, also for one that links lead outside of the folder."""
    folder = Path(settings.SOURCE_FOLDER).resolve()
    file = (folder / name).resolve()
    if not file.is_relative_to(folder):
        raise Unavailable("outside_folder", _("{name} lies outside of the source folder"), name=name)
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unavailable(
            "no_file", _("{name} can't be read: {reason}"), name=name, reason=str(error.strerror)
        ) from None
    if len(content) > MAX_BYTES:
        raise Unavailable("too_large", _("{name} has more than {limit} bytes"), name=name, limit=MAX_BYTES)
    return content
