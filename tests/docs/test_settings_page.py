"""docs/settings.md has every setting, as the source declares it."""

import pytest
from django.conf import settings

from deploy.docs.settings_table import settings_page
from idcsched.config import env as environment
from idcsched.config.env import Environment
from tests.architecture.repository import ROOT

PAGE = ROOT / "docs" / "settings.md"


def test_it_works() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == settings_page(page, settings.ENVIRONMENT.declared), "run `make pages`"
    assert all(f"| `{variable.name}` |" in page for variable in settings.ENVIRONMENT.declared)


def test_only_the_table_is_made_anew() -> None:
    env = Environment({})
    env.read("DEBUG", environment.flag, default=False, help="Debug.")
    env.read("HOSTS", environment.listing, default=[], help="Hosts.")
    env.read("KEY", environment.secret, default="", shown="made once", help="Key.")
    page = "# Settings\n\n| variable | old |\n|---|---|\n| `X` | y |\n\nAfter.\n"
    assert settings_page(page, env.declared).splitlines() == [
        "# Settings",
        "",
        "| variable | value | default | what it does |",
        "|---|---|---|---|",
        "| `DEBUG` | `on` or `off` | `off` | Debug. |",
        "| `HOSTS` | a list, separated by commas | – | Hosts. |",
        "| `KEY` | random text, 50 characters or more | made once | Key. |",
        "",
        "After.",
    ]


def test_a_page_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no table"):
        settings_page("# Settings\n", settings.ENVIRONMENT.declared)
