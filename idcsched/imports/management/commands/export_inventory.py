from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from idcsched.imports.exporting import json_document, table
from idcsched.imports.sheets import SHEETS, sheet_of


class Command(BaseCommand):
    help = (
        "Write the inventory as one JSON document, or as CSV: one kind to the standard output or a file, or every kind "
        "to a folder. What is written here, import_inventory finds unchanged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["json", "csv"], default="json")
        parser.add_argument("--kind", choices=[sheet.name for sheet in SHEETS], help="only these rows")
        parser.add_argument("--output", type=Path, metavar="PATH", help="a file, or for all kinds as CSV a folder")

    def handle(self, *args: Any, **options: Any) -> None:
        sheet, output = sheet_of(options["kind"] or ""), options["output"]
        try:
            with transaction.atomic():
                if options["format"] == "json":
                    self._write(output, json_document(SHEETS if sheet is None else [sheet]))
                elif sheet is not None:
                    self._write(output, table(sheet))
                else:
                    self._write_all(output)
        except OSError as error:
            raise CommandError(f"cannot write {error.filename}: {error.strerror}") from error

    def _write_all(self, folder: Path | None) -> None:
        if folder is None:
            raise CommandError("name a folder with --output, or a kind with --kind")
        folder.mkdir(parents=True, exist_ok=True)
        for sheet in SHEETS:
            self._write(folder / f"{sheet.name}.csv", table(sheet))

    def _write(self, path: Path | None, lines: Iterator[str]) -> None:
        if path is None:
            for line in lines:
                self.stdout.write(line, ending="")
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
