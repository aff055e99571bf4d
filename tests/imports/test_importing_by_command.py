"""`manage.py import_inventory` and `export_inventory`."""

import json
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from idcsched.audit.models import Change
from idcsched.inventory.models import Idc, Isp, Line, Region

pytestmark = pytest.mark.usefixtures("db")


def run(*arguments: Any, **options: Any) -> tuple[str, str]:
    """What the command says: (output, errors)."""
    out, err = StringIO(), StringIO()
    call_command(*(str(argument) for argument in arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def idcs(tmp_path: Path, idc: Idc) -> Path:
    file = tmp_path / "idcs.csv"
    file.write_text("code,name,region\ngz-ct-01,New,\ngz-02,,440100\n".replace("New,", "New,440100"), "utf-8")
    return file


def test_it_works(idcs):
    said, _ = run("import_inventory", idcs, "--message", "the May list", "--actor", "olga")
    assert "idcs.csv: UTF-8, separated by ','" in said
    assert "idcs: 1 create, 1 update" in said
    assert said.endswith("Imported.\n")
    recorded = Change.objects.filter(via="import").values_list("actor", "message", "action", "key")
    assert set(recorded) == {
        ("olga", "the May list", "create", "gz-02"),
        ("olga", "the May list", "update", "gz-ct-01"),
    }


def test_a_dry_run_shows_each_change_and_makes_none(idcs):
    said, _ = run("import_inventory", idcs, "--dry-run")
    assert 'idcs.csv 2 update idcs gz-ct-01: name "" → "New"\n' in said
    assert 'idcs.csv 3 create idcs gz-02: code "gz-02", name "", region "440100"\n' in said
    assert said.endswith("Nothing was written: this was a dry run.\n")
    assert Idc.objects.count() == 1


def test_errors_name_row_and_column_and_nothing_is_imported(idcs):
    idcs.write_text("code,region,stock_cpu\nnew,440100,5\ngz-02,nowhere,-1\n", "utf-8")
    err = StringIO()
    with pytest.raises(CommandError, match="nothing was imported: 2 errors"):
        call_command("import_inventory", str(idcs), stdout=StringIO(), stderr=err)
    assert err.getvalue().splitlines() == [
        "idcs.csv, 3, region: there is no region nowhere",
        "idcs.csv, 3, stock_cpu: this must be at least 0",
    ]
    assert Idc.objects.count() == 1


def test_several_files_are_one_import(tmp_path, idcs):
    lines = tmp_path / "lines.csv"
    lines.write_text("idc,isp,purchased_mbps\ngz-02,ct,5\ngz-03,ct,5\n", "utf-8")
    with pytest.raises(CommandError):
        run("import_inventory", idcs, lines)
    assert Idc.objects.count() == 1
    lines.write_text("idc,isp,purchased_mbps\ngz-02,ct,5\n", "utf-8")
    run("import_inventory", lines, idcs)
    assert Line.objects.filter(idc__code="gz-02").exists()


def test_a_file_that_can_not_be_read(tmp_path):
    with pytest.raises(CommandError, match=r"cannot read .*none\.csv: No such file"):
        run("import_inventory", tmp_path / "none.csv")


def test_quietly(idcs):
    assert run("import_inventory", idcs, verbosity=0) == ("", "")


def test_export_and_back(idc, tmp_path):
    document, _ = run("export_inventory")
    assert json.loads(document)["idcs"][0]["code"] == "gz-ct-01"
    run("export_inventory", "--output", tmp_path / "all.json")
    assert (tmp_path / "all.json").read_text("utf-8") == document
    run("export_inventory", "--format", "csv", "--output", tmp_path / "tables")
    said, _ = run("import_inventory", tmp_path / "all.json")
    assert "idcs: 1 unchanged" in said
    said, _ = run("import_inventory", *(tmp_path / "tables").iterdir())
    assert "lines: 1 unchanged" in said
    table, _ = run("export_inventory", "--format", "csv", "--kind", "regions")
    assert table.startswith("\ufeffcode,name,parent,")


@pytest.mark.parametrize("options", [["--format", "csv"], ["--output", "/nowhere/at/all.json"]])
def test_an_export_that_can_not_be_written(options):
    with pytest.raises(CommandError, match=r"name a folder|cannot write /nowhere"):
        run("export_inventory", *options)


@pytest.fixture
def large(tmp_path: Path, db: None) -> Path:
    """10,000 IDCs with three lines each."""
    Region.objects.create(code="r")
    for code in ("ct", "cu", "cm"):
        Isp.objects.create(code=code)
    lines = [{"isp": code, "purchased_mbps": 1000, "price_per_mbps": 20} for code in ("ct", "cu", "cm")]
    idcs = [
        {"code": f"i-{number}", "name": f"机房 {number}", "region": "r", "labels": {"n": str(number)}, "lines": lines}
        for number in range(10_000)
    ]
    file = tmp_path / "large.json"
    file.write_text(json.dumps({"idcs": idcs}), "utf-8")
    return file


@pytest.mark.long
@pytest.mark.timeout(600)
def test_ten_thousand_idcs_with_three_lines_each_take_two_minutes_at_most(large):
    begun = monotonic()
    _, told = run("import_inventory", large)
    created = monotonic() - begun
    assert (Idc.objects.count(), Line.objects.count()) == (10_000, 30_000)
    assert Change.objects.filter(via="import").count() == 40_000
    assert told.splitlines()[-1] == "40,000 of 40,000 rows"
    assert len(told.splitlines()) > 5

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as PostgreSQL does by itself within a minute of such an import's end
    begun = monotonic()
    said, _ = run("import_inventory", large)
    compared = monotonic() - begun
    assert "idcs: 10,000 unchanged" in said

    large.write_text(large.read_text("utf-8").replace('"purchased_mbps": 1000', '"purchased_mbps": 2000'), "utf-8")
    begun = monotonic()
    run("import_inventory", large)
    updated = monotonic() - begun
    assert Line.objects.filter(purchased_mbps=2000).count() == 30_000
    print(f"{connection.vendor}: created {created:.1f} s, compared {compared:.1f} s, updated {updated:.1f} s")
    assert max(created, compared, updated) < 120
