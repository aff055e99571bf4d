"""The table of docs/settings.md, from the settings that are declared."""

import re
from collections.abc import Iterable
from typing import Final

from idcsched.config.env import Variable

__all__ = ["settings_page"]

TABLE: Final = re.compile(r"^\| variable \|.*\n(\|.*\n)+", re.MULTILINE)
HEAD: Final = "| variable | value | default | what it does |\n|---|---|---|---|\n"


def settings_page(page: str, declared: Iterable[Variable]) -> str:
    """Return the page with its table made anew; raises ValueError if it has none."""
    rows = [f"| `{item.name}` | {item.expects} | {item.default} | {item.help} |\n" for item in declared]
    text, count = TABLE.subn(lambda _: HEAD + "".join(rows), page, count=1)
    if not count:
        raise ValueError("the page has no table of settings")
    return text
