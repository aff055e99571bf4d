"""Makes the pages of docs/ that say what the source says: codes, built-in plugins, settings. `make pages` runs it."""

import os
from pathlib import Path
from typing import Final

from django import setup
from django.conf import settings

__all__ = ["DOCS", "pages"]

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"


def pages(docs: Path = DOCS) -> dict[str, str]:
    """Return the text of each page by its path in docs/."""
    from deploy.docs.codes_page import codes_page  # noqa: PLC0415 - Django must be set up first
    from deploy.docs.plugin_pages import plugin_pages  # noqa: PLC0415
    from deploy.docs.settings_table import settings_page  # noqa: PLC0415
    from idcsched.scheduling.plugins import registry  # noqa: PLC0415

    written = (docs / "settings.md").read_text(encoding="utf-8")
    return {
        "codes.md": codes_page(),
        "settings.md": settings_page(written, settings.ENVIRONMENT.declared),
        **{f"plugins/{name}": text for name, text in plugin_pages(registry()).items()},
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "idcsched.settings")
    setup()
    for path, text in pages().items():
        (DOCS / path).write_text(text, encoding="utf-8")
