from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from idcsched.imports.exporting import json_document, table, workbook
from idcsched.imports.resources import KINDS, kind_named


class Command(BaseCommand):
    help = (
        "Write the inventory as one JSON document, as an Excel workbook, or as CSV: one kind to the standard output or "
        "a file, or every kind to a folder. What is written here, import_inventory finds unchanged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["json", "xlsx", "csv"], default="json")
        parser.add_argument("--kind", choices=[kind.name for kind in KINDS], help="only these rows")
        parser.add_argument("--output", type=Path, metavar="PATH", help="a file, or for all kinds as CSV a folder")

    def handle(self, *args: Any, **options: Any) -> None:
        kind, output = kind_named(options["kind"] or ""), options["output"]
        kinds = KINDS if kind is None else [kind]
        try:
            with transaction.atomic():
                if options["format"] == "json":
                    self._write(output, "".join(json_document(kinds)))
                elif options["format"] == "xlsx":
                    self._write_workbook(output, workbook(kinds))
                elif kind is not None:
                    self._write(output, table(kind))
                else:
                    self._write_all(output)
        except OSError as error:
            raise CommandError(f"cannot write {error.filename}: {error.strerror}") from error

    def _write_all(self, folder: Path | None) -> None:
        if folder is None:
            raise CommandError("name a folder with --output, or a kind with --kind")
        folder.mkdir(parents=True, exist_ok=True)
        for kind in KINDS:
            self._write(folder / f"{kind.name}.csv", table(kind))

    def _write_workbook(self, path: Path | None, content: bytes) -> None:
        if path is None:
            raise CommandError("name a file with --output")
        path.write_bytes(content)

    def _write(self, path: Path | None, text: str) -> None:
        if path is None:
            self.stdout.write(text, ending="")
        else:
            path.write_text(text, encoding="utf-8", newline="")
