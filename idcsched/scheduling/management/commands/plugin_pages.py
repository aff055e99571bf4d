from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from idcsched.scheduling.plugin_pages import plugin_pages
from idcsched.scheduling.plugins import registry


class Command(BaseCommand):
    help = "Bring the pages in docs/plugins/ up to date with the built-in plugins."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, default=settings.BASE_DIR / "docs" / "plugins")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in plugin_pages(registry()).items():
            (folder / name).write_text(text, encoding="utf-8")
