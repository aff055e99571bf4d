"""docs/settings.md has every setting, as the source declares it."""

import pytest
from django.conf import settings

from deploy.docs.settings_table import settings_page
from tests.architecture.repository import ROOT

PAGE = ROOT / "docs" / "settings.md"


def test_it_works() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == settings_page(page, settings.ENVIRONMENT.declared), "run `make pages`"
    assert all(f"| `{variable.name}` |" in page for variable in settings.ENVIRONMENT.declared)


def test_only_the_table_is_made_anew() -> None:
    page = "# Settings\n\n| variable | old |\n|---|---|\n| `X` | y |\n\nAfter.\n"
    made = settings_page(page, settings.ENVIRONMENT.declared)
    assert made.startswith("# Settings\n\n| variable | value |")
    assert "| `X` |" not in made
    assert made.endswith(" |\n\nAfter.\n")


def test_a_page_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no table"):
        settings_page("# Settings\n", settings.ENVIRONMENT.declared)
