"""The page about importing: its kinds of rows and its bounds are the real ones."""

import re

from idcsched.imports.reading import MAX_BYTES, MAX_ROWS
from idcsched.imports.resources import KINDS
from tests.docs.pages import page

PAGE = page("importing.md")


def test_every_kind_is_found_by_what_the_table_says() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert {kind: tuple(re.findall(r"`(\w+)`", told)) for kind, told in rows.items()} == {
        kind.name: kind.key for kind in KINDS
    }


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"{MAX_BYTES >> 20} MiB a file and {MAX_ROWS:,} rows" in PAGE
