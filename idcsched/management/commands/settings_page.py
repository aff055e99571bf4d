import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from idcsched.config.env import table

TABLE = re.compile(r"^\| variable \|.*\n(\|.*\n)+", re.MULTILINE)


class Command(BaseCommand):
    help = "Bring the table in docs/settings.md up to date with the settings that are declared."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("page", nargs="?", type=Path, default=settings.BASE_DIR / "docs" / "settings.md")

    def handle(self, *args: Any, page: Path, **options: Any) -> None:
        text, count = TABLE.subn(
            lambda _: table(settings.ENVIRONMENT.declared), page.read_text(encoding="utf-8"), count=1
        )
        if not count:
            raise CommandError(f"{page} has no table of settings to replace.")
        page.write_text(text, encoding="utf-8")
