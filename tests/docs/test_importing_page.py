"""The page about importing: its document is imported as it stands, its commands and bounds are the real ones."""

import json
import re

import pytest
from django.core.management import load_command_class

from idcsched.inventory.models import Line, Region
from idcsched.inventory.transfer.reading import MAX_BYTES, MAX_ROWS
from idcsched.inventory.transfer.sheets import SHEETS
from tests.docs.pages import page
from tests.inventory.filing import imported

PAGE = page("importing.md")


@pytest.mark.django_db
def test_it_works() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    document = json.loads(example)
    outcome = imported({"inventory.json": document})
    assert not outcome.faults
    assert Region.objects.get().name == "South"
    assert Line.objects.get().purchased_mbps == 40_000
    assert not imported({"inventory.json": document}).changes


@pytest.mark.django_db
def test_the_error_reads_as_shown() -> None:
    Region.objects.create(code="r")
    rows = "".join(f"i-{number},r,1\n" for number in range(250))
    (fault,) = imported({"idcs.csv": f"code,region,stock_cpu\n{rows}bad,r,-1\n"}).faults
    assert f"{fault.where}: {fault.error.detail}" in PAGE


def test_every_kind_is_found_by_what_the_table_says() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert {kind: tuple(re.findall(r"`(\w+)`", told)) for kind, told in rows.items()} == {
        sheet.name: sheet.key for sheet in SHEETS
    }


@pytest.mark.parametrize("command", ["import_inventory", "export_inventory"])
def test_the_commands_take_what_they_are_shown_with(command: str) -> None:
    parser = load_command_class("idcsched.inventory", command).create_parser("manage.py", command)
    shown = re.findall(rf"manage\.py {command} ([^#\n]*)", PAGE)
    assert shown
    for arguments in shown:
        parser.parse_args(re.sub(r'"[^"]*"', "text", arguments).split())


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"{MAX_BYTES >> 20} MiB a file and {MAX_ROWS:,} rows" in PAGE
