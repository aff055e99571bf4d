"""What is exported is imported unchanged, and a spreadsheet runs nothing of it."""

import csv
import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.demo.loading import demo_load
from idcsched.imports.cells import Number, escaped, unescaped
from idcsched.imports.exporting import table
from idcsched.imports.resources import KINDS
from idcsched.inventory.models import Affinity, Idc, Line, Region, Taint
from idcsched.inventory.services import affinity_create, idc_create, region_create, taint_create

from .filing import exported_json, exported_tables, imported

pytestmark = pytest.mark.usefixtures("db")

NASTY = ["=1+1", "+86 20", "-5", "@SUM(A1)", "'=x", "''=x", "'", "a;=cmd|'/c calc'!A0", "x\n=1", '"=1"', "\t=1", " =1"]


@pytest.fixture
def rich(idc: Idc) -> Idc:
    """An inventory with each kind of object, and with the values that are hard to write to a file."""
    for number, text in enumerate(NASTY):
        idc_create(code=f"nasty-{number}", region="440100", name=text, partition=text, labels={"k": text})
    Region.objects.filter(code="440100").update(latitude=-23.1, longitude=0.1 + 0.2)
    idc_create(code="numbers", region="south", stock_cpu=0.1 + 0.2, stock_gpu=1e12, stock_disk_gib=1e-9)
    idc_create(code="lines", region="south", lines=[{"isp": "ct", "purchased_mbps": 1.5, "max_level": 0.75}])
    for at in (None, datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, 0, 0, 0, 5, tzinfo=UTC)):
        taint_create(idc=idc, key="=k", value="-v", reason="+r", starts_at=at)
    for weight in (5, 7):
        affinity_create(idc=idc, kind="prefer", weight=weight, request_selector={"match_labels": {"b": "-1"}})
    affinity_create(selector=[{"match_expressions": [{"key": "a", "operator": "Gt", "values": ["-1"]}]}], kind="forbid")
    return idc


def unchanged(files: dict[str, str]) -> bool:
    outcome = imported(files, missing="delete")
    assert not outcome.faults
    return not outcome.changes


def test_it_works(rich):
    assert unchanged({"inventory.json": exported_json()})
    assert unchanged(exported_tables())
    document = json.loads(exported_json())
    assert list(document) == ["regions", "isps", "idcs", "taints", "affinities"]
    assert document["idcs"][0]["lines"][0] == {
        "code": "ct",
        "isp": "ct",
        "purchased_mbps": 1000.0,
        "commit_mbps": None,
        "max_level": None,
        "charge_type": "p95_month",
        "price_per_mbps": None,
        "price_per_gb": None,
    }


@pytest.mark.parametrize("form", ["json", "tables"])
def test_an_empty_installation_gets_all_of_it(rich, form):
    files = {"inventory.json": exported_json()} if form == "json" else exported_tables()
    for model in (Affinity, Taint, Line, Idc):
        model.objects.all().delete()
    Region.objects.exclude(parent=None).delete()
    imported(files)
    assert ({"inventory.json": exported_json()} if form == "json" else exported_tables()) == files


def test_the_demo_comes_back_unchanged(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    demo_load(now=datetime(2030, 1, 1, tzinfo=UTC))
    assert unchanged({"inventory.json": exported_json()})
    assert unchanged(exported_tables())


def test_no_cell_of_a_text_starts_a_formula(rich):
    for kind in KINDS:
        numbers = {name for name, field in kind.fields.items() if isinstance(field.widget, Number)}
        rows = csv.DictReader(StringIO(table(kind).removeprefix("\ufeff"), newline=""))
        for row in rows:
            texts = [value for name, value in row.items() if name not in numbers]
            assert not [text for text in texts if text.lstrip()[:1] in tuple("=+-@")]


@given(st.text(alphabet=st.sampled_from("=+-@'＝;\t\r\n \"ab,|"), max_size=12))
def test_any_text_comes_back(text):
    safe = escaped(text)
    assert unescaped(safe) == text
    assert safe.lstrip()[:1] not in tuple("=+-@＝＋－＠")


@pytest.mark.parametrize("text", ["plain", "a-b", "x=1", "'quoted'", "it's", "", "1;2", "{}"])
def test_what_is_harmless_stays_as_it_is(text):
    assert escaped(text) == unescaped(text) == text


def test_exporting_takes_few_statements(guangzhou, ct, django_assert_max_num_queries):
    for number in range(20):
        idc_create(code=f"i-{number}", region="440100", lines=[{"isp": "ct", "purchased_mbps": 1}])
    region_create(code="c", parent="440100")
    with django_assert_max_num_queries(12):
        exported_json()
    with django_assert_max_num_queries(12):
        exported_tables()
