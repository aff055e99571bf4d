"""Files into the inventory: all or nothing, by the rules of the services, errors by row and column."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils.translation import override

from idcsched.accounts.roles import Principal, Role
from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Forbidden
from idcsched.imports import reading
from idcsched.inventory.choices import Status
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from idcsched.inventory.services import affinity_create, idc_create, line_create, taint_create
from tests.inventory.recorded import changes

from .filing import faults, imported

pytestmark = pytest.mark.usefixtures("db")

FILES = {
    "regions.csv": "code,name,parent\n440100,广州,south\nsouth,South,\n",
    "isps.csv": 'code,aliases\nct,"[""telecom""]"\n',
    "idcs.csv": 'code,region,labels,stock_cpu,status\ngz-01,440100,"{""k"": ""v""}",1e3,\ngz-02,440100,,,offline\n',
    "lines.csv": "idc,isp,purchased_mbps\ngz-01,telecom,1000\ngz-02,ct,2000\n",
    "taints.csv": "idc,key,ends_at\ngz-01,maintenance,2030/5/1 8:00\n",
    "affinities.csv": 'idc,kind,weight,selector\ngz-01,prefer,10,\n,forbid,,"{""match_labels"": {""k"": ""v""}}"\n',
}
COUNTS = {"regions": 2, "isps": 1, "idcs": 2, "lines": 2, "taints": 1, "affinities": 2}


def counts(outcome: Any, action: str) -> dict[str, int]:
    return {kind: found[action] for kind, found in outcome.counts.items() if found[action]}


def test_it_works():
    outcome = imported(FILES)
    assert not outcome.faults
    assert counts(outcome, "create") == COUNTS
    idc = Idc.objects.get(code="gz-01")
    assert (idc.region.parent.code, idc.labels, idc.stock_cpu, idc.status) == ("south", {"k": "v"}, 1000, "online")
    assert list(Line.objects.order_by("idc__code").values_list("idc__code", "code", "purchased_mbps")) == [
        ("gz-01", "ct", 1000),
        ("gz-02", "ct", 2000),
    ]
    assert Taint.objects.get().ends_at == datetime(2030, 5, 1, 8, tzinfo=UTC)
    assert set(Affinity.objects.values_list("kind", "weight")) == {("prefer", 10), ("forbid", None)}
    recorded = Change.objects.filter(via="import")
    assert set(recorded.values_list("actor", "message")) == {("anna", "the new list")}
    assert recorded.count() == sum(COUNTS.values())
    assert {("inventory", "gz-01"), ("taints", "gz-01/maintenance:NoSchedule")} <= set(
        FeedEntry.objects.values_list("topic", "key")
    )


def test_the_same_again_changes_nothing():
    imported(FILES)
    before = (Change.objects.count(), FeedEntry.objects.count())
    outcome = imported(FILES)
    assert counts(outcome, "unchanged") == COUNTS
    assert not outcome.changes
    assert (Change.objects.count(), FeedEntry.objects.count()) == before


def test_a_preview_says_what_an_import_does_and_does_nothing():
    preview = imported(FILES, dry_run=True)
    assert not Region.objects.exists()
    assert not Change.objects.filter(via="import").exists()
    done = imported(FILES, expected=preview.fingerprint)
    assert done == preview


def test_what_has_changed_since_the_preview_is_not_imported(idc):
    files = {"idcs.csv": "code,name\ngz-ct-01,New\n"}
    preview = imported(files, dry_run=True)
    Idc.objects.update(name="Other")
    with pytest.raises(Conflict) as caught:
        imported(files, expected=preview.fingerprint)
    assert caught.value.code == "changed_since_preview"
    assert Idc.objects.get().name == "Other"


def test_a_row_shows_what_changes_from_what_to_what(idc):
    outcome = imported({"idcs.csv": "code,name,status,stock_cpu\ngz-ct-01,New,draining,\n"})
    (change,) = outcome.changes
    assert (change.row, change.kind, change.key, change.action) == ("2", "idcs", "gz-ct-01", "update")
    assert change.changes == {"name": ("", "New"), "status": ("online", "draining")}
    assert str(change) == 'idcs.csv 2 update idcs gz-ct-01: name "" → "New", status "online" → "draining"'
    assert changes() == [("update", "idc", "gz-ct-01")]


def test_a_column_that_is_not_there_stays_and_an_empty_cell_clears(idc):
    Idc.objects.update(name="Name", partition="live", status="draining", labels={"a": "b"}, latitude=1, longitude=2)
    imported({"idcs.csv": "code,name,status,labels,latitude,longitude\ngz-ct-01,,,,,\n"})
    found = Idc.objects.get()
    assert (found.name, found.labels, found.latitude, found.longitude) == ("", {}, None, None)
    assert (found.partition, found.status) == ("live", "draining")  # an IDC has a status in any case


def test_one_bad_row_of_many_changes_nothing_and_is_named(guangzhou, ct):
    rows = [f"i-{number},440100,{number}" for number in range(300)]
    rows[250] = "i-250,440100,-1"
    outcome = imported({"idcs.csv": "code,region,stock_cpu\n" + "\n".join(rows)})
    assert faults(outcome) == [("252", "stock_cpu", "out_of_range")]
    assert outcome.faults[0].where == "idcs.csv, 252, stock_cpu"
    assert not outcome.changes
    assert not Idc.objects.exists()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("idcs.csv", "code,colour\na,red\n", ("1", "colour", "unknown_column"), id="an unknown column"),
        pytest.param("idcs.csv", "name\na\n", ("1", "code", "column_missing"), id="a column is missing"),
        pytest.param("idcs.csv", "", ("1", "code", "column_missing"), id="an empty file"),
        pytest.param("idcs.csv", "code,code\na,b\n", ("1", "code", "column_twice"), id="a column twice"),
        pytest.param("list.csv", "code\na\n", ("", "", "unknown_kind"), id="a table of what"),
        pytest.param("idcs.csv", "code,region\na\n", ("2", "", "wrong_length"), id="too few cells"),
        pytest.param("idcs.csv", "code\na,b\n", ("2", "", "wrong_length"), id="too many cells"),
        pytest.param("idcs.csv", 'code\n"a\n', ("2", "", "malformed_csv"), id="an open quote"),
        pytest.param("idcs.csv", "code,region\na,x\n", ("2", "region", "unknown_region"), id="an unknown region"),
        pytest.param("idcs.csv", "code\na\n", ("2", "region", "required"), id="a new row without what it needs"),
        pytest.param("idcs.csv", "code,region\ngz-ct-01,\n", ("2", "region", "required"), id="cleared, but needed"),
        pytest.param("idcs.csv", "code,region\n,440100\n", ("2", "code", "required"), id="no code"),
        pytest.param("idcs.csv", "code,region\na b,440100\n", ("2", "code", "invalid_code"), id="no such code"),
        pytest.param("idcs.csv", "code,stock_cpu\ngz-ct-01,nan\n", ("2", "stock_cpu", "wrong_type"), id="not a number"),
        pytest.param("idcs.csv", 'code,stock_cpu\ngz-ct-01,"1,00"\n', ("2", "stock_cpu", "wrong_type"), id="1,00"),
        pytest.param(
            "idcs.csv", "code,stock_cpu\ngz-ct-01,75%\n", ("2", "stock_cpu", "wrong_type"), id="CPUs in percent"
        ),
        pytest.param("idcs.csv", "code,stock_cpu\ngz-ct-01,.\n", ("2", "stock_cpu", "wrong_type"), id="a dot"),
        pytest.param("idcs.csv", "code,stock_cpu\ngz-ct-01,1e99\n", ("2", "stock_cpu", "out_of_range"), id="enormous"),
        pytest.param("idcs.csv", "code,stock_cpu\ngz-ct-01,1e999\n", ("2", "stock_cpu", "not_finite"), id="infinite"),
        pytest.param("idcs.csv", "code,status\ngz-ct-01,ON\n", ("2", "status", "invalid_choice"), id="no such status"),
        pytest.param("idcs.csv", "code,labels\ngz-ct-01,k\n", ("2", "labels", "malformed_json"), id="not JSON"),
        pytest.param("idcs.csv", "code,labels\ngz-ct-01,[]\n", ("2", "labels", "wrong_type"), id="not labels"),
        pytest.param("idcs.csv", "code,latitude\ngz-ct-01,5\n", ("2", "latitude", "coordinates_incomplete"), id="half"),
        pytest.param("idcs.csv", "code,name\ngz-ct-01,a\x00b\n", ("2", "name", "invalid_text"), id="a NUL"),
        pytest.param("idcs.csv", "code\nx\ny\nx\n", ("4", "code", "row_twice"), id="a row twice"),
        pytest.param("lines.csv", "idc,isp,purchased_mbps\nx,ct,1\n", ("2", "idc", "unknown_idc"), id="unknown IDC"),
        pytest.param("lines.csv", "idc,isp\ngz-ct-01,xx\n", ("2", "isp", "unknown_isp"), id="an unknown ISP"),
        pytest.param("taints.csv", "idc,key,ends_at\ngz-ct-01,k,soon\n", ("2", "ends_at", "wrong_type"), id="no time"),
        pytest.param("taints.csv", "idc,key,ends_at\ngz-ct-01,k,2030-13-01\n", ("2", "ends_at", "wrong_type"), id="13"),
        pytest.param(
            "affinities.csv", "idc,kind\ngz-ct-01,prefer\n", ("2", "weight", "weight_by_kind"), id="no weight"
        ),
        pytest.param(
            "affinities.csv",
            "idc,kind,weight\ngz-ct-01,prefer,1.5\n",
            ("2", "weight", "wrong_type"),
            id="half a weight",
        ),
        pytest.param("isps.csv", 'code,aliases\nx,"[""ct""]"\n', ("2", "aliases", "name_taken"), id="a taken name"),
        pytest.param("regions.csv", "code,parent\nsouth,440100\n", ("2", "parent", "region_cycle"), id="a circle"),
    ],
)
def test_a_table_is_refused(idc, name, text, expected):
    before = Change.objects.count()
    outcome = imported({name: text})
    assert expected in faults(outcome)
    assert Change.objects.count() == before


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{", ("", "", "malformed_json")),
        ("[]", ("", "", "wrong_type")),
        ('{"x": []}', ("/x", "", "unknown_field")),
        ('{"idcs": {}}', ("/idcs", "", "wrong_type")),
        ('{"idcs": [5]}', ("/idcs/0", "", "wrong_type")),
        ('{"idcs": [{"code": "a", "colour": 1}]}', ("/idcs/0", "colour", "unknown_field")),
        ('{"idcs": [{"code": 5}]}', ("/idcs/0", "code", "wrong_type")),
        ('{"idcs": [{"name": "a"}]}', ("/idcs/0", "code", "required")),
        ('{"idcs": [{"code": "a", "stock": {"ram": 1}}]}', ("/idcs/0", "stock", "unknown_field")),
        ('{"idcs": [{"code": "a", "stock": 1}]}', ("/idcs/0", "stock", "wrong_type")),
        ('{"idcs": [{"code": "a", "stock": {"cpu": true}}]}', ("/idcs/0", "stock_cpu", "wrong_type")),
        ('{"idcs": [{"code": "gz-ct-01", "lines": [{"isp": "x"}]}]}', ("/idcs/0/lines/0", "isp", "unknown_isp")),
        ('{"idcs": [{"code": "gz-ct-01", "lines": 5}]}', ("/idcs/0/lines", "", "wrong_type")),
        ('{"taints": [{"idc": "gz-ct-01"}]}', ("/taints/0", "key", "required")),
        ("[" * 100_000, ("", "", "malformed_json")),
    ],
)
def test_a_document_is_refused(idc, document, expected):
    outcome = imported({"inventory.json": document})
    (row, column, code) = faults(outcome)[0]
    assert (row, column, code) == expected or (code == "too_deep" and expected[2] == "malformed_json")


WRONG = {
    "regions": [
        {"code": "east", "latitude": 91},
        {"code": "west", "parent": "wset"},
    ],
    "idcs": [
        {"code": "a", "region": "sout", "stock": {"cpu": -1}, "tier": "egde", "lines": [{"isp": "ct"}]},
        {
            "code": "b",
            "region": "south",
            "latitude": 91,
            "lines": [{"isp": "ctt", "purchased_mbps": -5, "max_level": 1.75}],
        },
        {
            "code": "c",
            "region": "east",
            "longitude": 200,
            "status": "gone",
            "lines": [{"isp": "ct", "purchased_mbps": 10}],
        },
    ],
    "lines": [{"idc": "d", "isp": "ct", "purchased_mbps": 10, "commit_mbps": -1}],
    "taints": [{"idc": "d", "key": "k", "effect": "NoShedule"}, {"idc": "a", "key": "", "effect": "NoSchedule"}],
}
ALL_WRONG = {
    ("/regions/0", "latitude"),
    ("/regions/1", "parent"),
    ("/idcs/0", "region"),
    ("/idcs/0", "stock_cpu"),
    ("/idcs/0", "tier"),
    ("/idcs/0/lines/0", "purchased_mbps"),
    ("/idcs/1", "latitude"),
    ("/idcs/1/lines/0", "isp"),
    ("/idcs/1/lines/0", "purchased_mbps"),
    ("/idcs/1/lines/0", "max_level"),
    ("/idcs/2", "longitude"),
    ("/idcs/2", "status"),
    ("/lines/0", "idc"),
    ("/lines/0", "commit_mbps"),
    ("/taints/0", "idc"),
    ("/taints/0", "effect"),
    ("/taints/1", "key"),
}


def test_faults_hide_no_others(idc):
    """The faults below a faulty IDC are reported, too, and so are those beside an unknown name."""
    found = imported({"all.json": WRONG}).faults
    assert {(fault.row, fault.column) for fault in found} == ALL_WRONG
    assert len(found) == len(ALL_WRONG)
    assert not Idc.objects.filter(code__in="abcd").exists()


def test_once_all_are_mended_there_are_no_more(idc):
    files = {
        "regions": [{"code": "east", "latitude": 9, "longitude": 20}, {"code": "west", "parent": "south"}],
        "idcs": [
            {"code": "a", "region": "south", "stock": {"cpu": 1}, "lines": [{"isp": "ct", "purchased_mbps": 1}]},
            {"code": "b", "region": "south", "lines": [{"isp": "ct", "purchased_mbps": 5, "max_level": 0.75}]},
            {"code": "c", "region": "east", "lines": [{"isp": "ct", "purchased_mbps": 10}]},
        ],
        "lines": [{"idc": "gz-ct-01", "isp": "ct", "code": "ct-2", "purchased_mbps": 10, "commit_mbps": 1}],
        "taints": [{"idc": "a", "key": "k", "effect": "NoSchedule"}],
    }
    assert not faults(imported({"all.json": files}))


@pytest.mark.parametrize("level", ["175%", "1.75", "0", "-5%"])
def test_a_level_out_of_range_is_said_in_both_ways_to_write_one(idc, level):
    (fault,) = imported({"lines.csv": f"idc,isp,max_level\ngz-ct-01,ct,{level}\n"}).faults
    assert (fault.row, fault.column, fault.error.code) == ("2", "max_level", "out_of_range")
    assert str(fault.error) == f"{level} is not above 0 and at most 100%, which is 1"


def test_all_that_is_wrong_is_said_at_once_by_row_and_column(idc):
    outcome = imported(
        {
            "idcs.csv": "code,colour,stock_cpu,labels,region\n"
            "gz-ct-01,red,x,{,440100\n"  # two cells that can't be read
            "a,red,1,,\n"  # what only the services know: a new IDC needs a region
            "b,red,y,,nowhere\n"  # both
            "c,red,-1,,440100\n"
            "d,red,1,,440100\n",
            "lines.csv": "idc,isp,purchased_mbps\na,ct,1\nb,ct,1\nd,ct,-1\nx,ct,1\nd,cx,1\n",
        }
    )
    assert [(fault.file, fault.row, fault.column, fault.error.code) for fault in outcome.faults] == [
        ("idcs.csv", "1", "colour", "unknown_column"),
        ("idcs.csv", "2", "stock_cpu", "wrong_type"),
        ("idcs.csv", "2", "labels", "malformed_json"),
        ("idcs.csv", "3", "region", "required"),
        ("idcs.csv", "4", "stock_cpu", "wrong_type"),
        ("idcs.csv", "4", "region", "unknown_region"),
        ("idcs.csv", "5", "stock_cpu", "out_of_range"),
        ("lines.csv", "4", "purchased_mbps", "out_of_range"),
        ("lines.csv", "5", "idc", "unknown_idc"),
        ("lines.csv", "6", "isp", "unknown_isp"),
    ]
    assert Idc.objects.count() == 1


def test_rows_that_name_a_row_that_could_not_be_read_are_not_blamed(idc):
    outcome = imported({"idcs.csv": "code,region\na\n", "lines.csv": "idc,isp,purchased_mbps\na,ct,1\n"})
    assert faults(outcome) == [("2", "", "wrong_length")]


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        ("stock_cpu", '"1,000"', 1000),
        ("stock_cpu", '" 12,345.5 "', 12345.5),
        ("stock_cpu", "１２", 12),
        ("stock_cpu", '"1，000"', 1000),
        ("stock_cpu", "1E+03", 1000),
        ("status", " Draining ", "draining"),
        ("status", "维护中", None),
        ("tier", "CENTER", "center"),
        ("labels", '"owner=own, disk = ssd；k="', {"owner": "own", "disk": "ssd", "k": ""}),
        ("code", " gz-ct-01 ", "gz-ct-01"),
        ("name", "'=x", "=x"),
    ],
)
def test_values_as_people_write_them(idc, column, text, expected):
    head = "code" if column == "code" else f"code,{column}"
    row = text if column == "code" else f"gz-ct-01,{text}"
    outcome = imported({"idcs.csv": f"{head}\n{row}\n"})
    if expected is None:
        assert faults(outcome) == [("2", column, "invalid_choice")]
    else:
        assert not outcome.faults
        assert getattr(Idc.objects.get(), column) == expected


def test_words_of_a_language_stand_for_the_codes(idc):
    with override("zh-hans"):
        words = [(str(Status(value).label), value) for value in ("draining", "offline")]
    for word, value in words:
        assert not imported({"idcs.csv": f"code,status\ngz-ct-01,{word}\n"}).faults
        assert Idc.objects.get().status == value


def test_shares_may_be_percentages_and_aliases_a_list(idc):
    imported({"lines.csv": "idc,isp,max_level\ngz-ct-01,ct,75%\n", "isps.csv": 'code,aliases\nct,"a, b、c"\n'})
    assert (Line.objects.get().max_level, Isp.objects.get().aliases) == (0.75, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2030-05-01", 0),
        ("2030/5/1 8:00", 8),
        ("2030.5.1 8:00:00", 8),
        ("2030年5月1日", 0),
        ("2030年5月1日 8时30分", 8),
    ],
)
def test_times_as_people_write_them(idc, text, hour):
    imported({"taints.csv": f"idc,key,ends_at\ngz-ct-01,k,{text}\n"})
    assert Taint.objects.get().ends_at.replace(minute=0) == datetime(2030, 5, 1, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    "headings", ["Code,Stock CPU", " CODE ,stock-cpu", "code,CPU cores for sale", "代码,可售 CPU 核数"]
)
def test_headings_in_any_case_and_in_both_languages(idc, headings):
    with override("zh-hans"):
        field = Idc._meta.get_field("stock_cpu")
        headings = headings.replace("可售 CPU 核数", str(field.verbose_name))
        headings = headings.replace("代码", str(Idc._meta.get_field("code").verbose_name))
    assert not imported({"idcs.csv": f"{headings}\ngz-ct-01,8\n"}).faults
    assert Idc.objects.get().stock_cpu == 8


def test_a_flood_of_errors_is_cut(idc):
    outcome = imported({"idcs.csv": "code,stock_cpu\n" + "gz-ct-01,x\n" * 5000})
    assert len(outcome.faults) == 100


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files_of_many_programs_are_read(idc, encoding, delimiter, end):
    rows = [["code", "name"], ["gz-ct-01", "广州 科学城"], ["", ""]]
    text = end.join(delimiter.join(row) for row in rows) + end
    outcome = imported({"IDCs 2030-05.csv": text.encode(encoding)})
    assert not outcome.faults
    assert Idc.objects.get().name == "广州 科学城"


def test_bytes_that_are_no_text_are_refused():
    assert faults(imported({"idcs.csv": b"code\n\xff\xff"})) == [("", "", "unknown_encoding")]


def test_files_have_bounds(monkeypatch, south):
    monkeypatch.setattr(reading, "MAX_ROWS", 3)
    assert faults(imported({"regions.csv": "code\na\nb\nc\nd\n"})) == [("", "", "too_many")]
    monkeypatch.setattr(reading, "MAX_BYTES", 10)
    assert faults(imported({"regions.csv": "code\nabcdef\n"})) == [("", "", "too_large")]


def test_lines_stand_below_their_idc_in_json(guangzhou, ct, cu):
    document = {
        "idcs": [
            {
                "code": "a",
                "region": "440100",
                "stock": {"cpu": 5},
                "lines": [{"isp": "chinanet", "purchased_mbps": 1}, {"isp": "cu", "code": "x", "purchased_mbps": 2}],
            }
        ]
    }
    outcome = imported({"inventory.json": document})
    assert counts(outcome, "create") == {"idcs": 1, "lines": 2}
    assert set(Line.objects.values_list("idc__code", "code", "isp__code")) == {("a", "ct", "ct"), ("a", "x", "cu")}
    assert counts(imported({"inventory.json": document}), "unchanged") == {"idcs": 1, "lines": 2}


def test_a_list_of_a_kind_that_is_named(south):
    assert counts(imported({"x.json": '[{"code": "a"}]'}, kind="regions"), "create") == {"regions": 1}


def test_rows_that_are_missing_stay_unless_one_asks(idc, ct):
    idc_create(code="other", region="440100")
    imported({"idcs.csv": "code\ngz-ct-01\n"})
    assert Idc.objects.count() == 2


def test_missing_idcs_are_retired_if_one_asks(idc):
    other = idc_create(code="other", region="440100")
    idc_create(code="gone", region="440100", status="retired")
    outcome = imported({"idcs.csv": "code\ngz-ct-01\n"}, missing="retire")
    assert [(change.key, change.action) for change in outcome.changes] == [("other", "retire")]
    other.refresh_from_db()
    assert other.status == "retired"
    assert Idc.objects.get(code="gz-ct-01").status == "online"


def test_missing_rows_are_deleted_if_one_asks(idc, cu):
    idc_create(code="other", region="440100", lines=[{"isp": "cu", "purchased_mbps": 1}])
    taint_create(idc="other", key="k")
    line_create(idc=idc, isp="cu", purchased_mbps=1)
    document = {"idcs": [{"code": "gz-ct-01", "lines": [{"isp": "ct"}]}]}
    preview = imported({"x.json": document}, missing="delete", dry_run=True)
    assert [(change.action, change.kind, change.key) for change in preview.changes] == [
        ("delete", "lines", "gz-ct-01/cu"),
        ("delete", "idcs", "other"),
    ]
    assert Idc.objects.count() == 2
    imported({"x.json": document}, missing="delete")
    assert list(Line.objects.values_list("idc__code", "code")) == [("gz-ct-01", "ct")]
    assert not Taint.objects.exists()
    assert Change.objects.filter(action="delete", via="import").count() == 4


def test_lines_of_an_idc_whose_lines_are_not_told_stay(idc):
    imported({"x.json": {"idcs": [{"code": "gz-ct-01"}]}}, missing="delete")
    assert Line.objects.count() == 1


def test_what_is_in_use_is_not_deleted(idc):
    outcome = imported({"regions.csv": "code\nsouth\n"}, missing="delete")
    assert faults(outcome) == [("440100", "", "in_use")]
    assert Region.objects.count() == 2


def test_regions_go_with_those_below_them(south, guangzhou):
    Region.objects.create(code="kept")
    imported({"regions.csv": "code\nkept\n"}, missing="delete")
    assert list(Region.objects.values_list("code", flat=True)) == ["kept"]


def test_isps_may_hand_over_an_alias(ct, cu):
    imported({"isps.csv": 'code,aliases\nct,[]\ncu,"[""telecom""]"\n'})
    assert Isp.objects.get(code="cu").aliases == ["telecom"]


def test_two_same_affinities_are_told_apart_by_their_order(idc):
    for weight in (1, 2):
        affinity_create(idc=idc, kind="prefer", weight=weight)
    imported({"affinities.csv": "idc,kind,weight\ngz-ct-01,prefer,1\ngz-ct-01,prefer,5\ngz-ct-01,prefer,9\n"})
    assert list(Affinity.objects.order_by("id").values_list("weight", flat=True)) == [1, 5, 9]


def operator(*regions: str) -> Principal:
    return Principal(user_id=2, username="olga", role=Role.OPERATOR, regions=regions or None)


def test_an_operator_imports_marks_and_nothing_else(idc):
    imported({"taints.csv": "idc,key\ngz-ct-01,k\n"}, principal=operator())
    assert Taint.objects.count() == 1
    with pytest.raises(Forbidden):
        imported({"idcs.csv": "code\ngz-ct-01\n"}, principal=operator())


@pytest.mark.parametrize("table", ["idc,key\ngz-ct-01,k\nn-1,k\n", "idc,kind\ngz-ct-01,forbid\nn-1,forbid\n"])
def test_an_operator_stays_in_his_regions(idc, table):
    Region.objects.create(code="north")
    idc_create(code="n-1", region="north")
    name = "taints.csv" if "key" in table else "affinities.csv"
    outcome = imported({name: table}, principal=operator("south"))
    assert faults(outcome) == [("3", "idc", "region_not_allowed")]
    assert not imported({name: table}, principal=operator("south", "north")).faults


def test_an_operator_deletes_in_his_regions_only(idc):
    Region.objects.create(code="north")
    taint_create(idc=idc_create(code="n-1", region="north"), key="theirs")
    taint_create(idc=idc, key="mine")
    imported({"taints.csv": "idc,key\n"}, principal=operator("south"), missing="delete")
    assert [taint.key for taint in Taint.objects.all()] == ["theirs"]


def test_an_affinity_to_all_idcs_is_beyond_a_region(idc):
    table = 'kind,selector\nforbid,"{""match_labels"": {""k"": ""v""}}"\n'
    assert faults(imported({"affinities.csv": table}, principal=operator("south"))) == [
        ("2", "idc", "region_not_allowed")
    ]


def test_an_affinity_about_an_unknown_fact_is_refused(idc):
    table = 'kind,selector\nforbid,"{""match_labels"": {""idc/nope"": ""x""}}"\n'
    assert faults(imported({"affinities.csv": table})) == [("2", "selector", "unknown_fact")]


def test_an_affinity_that_shuts_all_others_is_beyond_a_region(idc):
    table = "idc,kind\ngz-ct-01,forbid\ngz-ct-01,require\n"
    assert faults(imported({"affinities.csv": table}, principal=operator("south"))) == [
        ("3", "idc", "region_not_allowed")
    ]
    affinity_create(idc=idc, kind="require")
    affinity_create(idc=idc, kind="forbid")
    imported({"affinities.csv": "idc,kind\n"}, principal=operator("south"), missing="delete")
    assert [affinity.kind for affinity in Affinity.objects.all()] == ["require"]


def test_progress_goes_up_to_all(guangzhou):
    seen: list[tuple[int, int]] = []
    rows = "".join(f"i-{number},440100\n" for number in range(2500))
    imported({"idcs.csv": f"code,region\n{rows}"}, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (2500, 2500)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(seen) >= 3


def test_statements_do_not_grow_with_the_rows(guangzhou, ct, django_assert_max_num_queries):
    idcs = [{"code": f"i-{n}", "region": "440100", "lines": [{"isp": "ct", "purchased_mbps": 1}]} for n in range(400)]
    with django_assert_max_num_queries(80):
        assert not imported({"x.json": {"idcs": idcs}}).faults
    for idc in idcs:
        idc["name"] = "new"
    with django_assert_max_num_queries(80):
        assert counts(imported({"x.json": {"idcs": idcs}}), "update") == {"idcs": 400}
