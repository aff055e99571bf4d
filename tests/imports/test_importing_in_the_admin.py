"""Files in the admin: they are uploaded, previewed and confirmed, and every list can be exported."""

import json
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.translation import override

from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import tenant_create, user_create
from idcsched.imports import admin as pages
from idcsched.imports import exporting, services
from idcsched.imports.exporting import MARK
from idcsched.imports.models import Import
from idcsched.imports.resources import kind_named
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.services import idc_create

pytestmark = pytest.mark.usefixtures("db")

ADD = "/admin/transfer/import/add/"
MODELS = ["region", "isp", "idc", "line", "taint", "affinity"]


def login(client: Client, role: str) -> User:
    user = user_create(username=f"the-{role}", role=role)
    client.force_login(user)
    return user


@pytest.fixture
def admin(client: Client) -> Client:
    login(client, Role.ADMIN)
    return client


def bring(client: Client, name: str, content: bytes, **fields: str) -> Any:
    sent = {"file": SimpleUploadedFile(name, content), "kind": "", "missing": "keep", "message": "", **fields}
    return client.post(ADD, sent)


def text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_it_works(admin, idc):
    assert admin.get(f"{ADD}?kind=idcs").status_code == 200
    answer = bring(admin, "list.csv", b"code,name\ngz-ct-01,New\n", kind="idcs", message="the May list")
    job = Import.objects.get()
    page = f"/admin/transfer/import/{job.pk}/change/"
    assert answer["Location"] == page
    assert "import-progress" in text(admin, page)
    assert admin.get(f"/admin/transfer/import/{job.pk}/progress/").json() == {
        "state": "queued",
        "done": 0,
        "total": 0,
        "working": True,
    }
    services.import_run(import_id=job.pk)
    shown = text(admin, page)
    assert "What would be changed" in shown
    assert "name: <del></del> → <ins>New</ins>" in shown
    assert "import-progress" not in shown

    assert admin.post(f"/admin/transfer/import/{job.pk}/confirm/")["Location"] == page
    services.import_run(import_id=job.pk)
    assert "What was changed" in text(admin, page)
    assert Idc.objects.get().name == "New"
    assert "the May list" in text(admin, "/admin/transfer/import/")


def test_errors_are_shown_by_row_and_column(admin, idc):
    bring(admin, "idcs.csv", b"code,region\nx,<nowhere>\n")
    job = Import.objects.get()
    services.import_run(import_id=job.pk)
    shown = text(admin, f"/admin/transfer/import/{job.pk}/change/")
    assert "<td>2</td><td>region</td><td>there is no region &lt;nowhere&gt;</td>" in shown
    assert "_confirm" not in shown


def test_the_pages_speak_chinese(admin, idc):
    admin.cookies["django_language"] = "zh-hans"
    bring(admin, "idcs.csv", b"code,name\ngz-ct-01,New\n")
    job = Import.objects.get()
    assert job.language == "zh-hans"
    services.import_run(import_id=job.pk)
    shown = text(admin, f"/admin/transfer/import/{job.pk}/change/")
    assert "将要变更的内容" in shown
    assert "导入" in shown


def test_a_long_preview_is_a_summary_and_has_pages(admin, guangzhou):
    idc_create(code="old", region=guangzhou)
    rows = b"".join(b"i-%d,440100,\n" % number for number in range(5000))
    bring(admin, "idcs.csv", b"code,region,name\nold,440100,New\n" + rows)
    job = Import.objects.get()
    services.import_run(import_id=job.pk)
    page = f"/admin/transfer/import/{job.pk}/change/"
    shown = text(admin, page)
    assert "<td>5000</td><td>1</td>" in shown
    assert (shown.count("<th>i-"), shown.count("<th>old")) == (20, 1)
    assert "Show 1000 of them" in shown
    rest = text(admin, f"{page}?kind=idcs&action=create&p=2")
    assert (rest.count("<th>i-"), rest.count("<th>old")) == (100, 0)
    assert "<th>i-100</th>" in rest
    assert "kind=idcs&amp;action=create&amp;p=3" in rest
    assert text(admin, f"{page}?kind=x&action=x&p=y").count("<th>i-") == 20


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"missing": "burn"}, "missing"),
        ({"kind": "things"}, "kind"),
        ({"message": "x" * 501}, "message"),
        ({"file": ""}, "file"),
    ],
)
def test_a_form_is_refused(admin, fields, expected):
    answer = bring(admin, "idcs.csv", b"code\n", **fields)
    assert list(answer.context["adminform"].form.errors) == [expected]
    assert not Import.objects.exists()


def test_a_file_that_is_too_large_is_refused_before_it_is_read(admin, monkeypatch):
    monkeypatch.setattr(pages, "MAX_BYTES", 10)
    monkeypatch.setattr(pages, "FORM_BYTES", 10)
    assert bring(admin, "idcs.csv", b"x" * 100).status_code == 302
    monkeypatch.setattr(pages, "FORM_BYTES", 10_000)
    assert list(bring(admin, "idcs.csv", b"x" * 100).context["adminform"].form.errors) == ["file"]
    assert not Import.objects.exists()


def test_a_foreign_page_can_not_post_here(idc):
    strict = Client(enforce_csrf_checks=True)
    login(strict, Role.ADMIN)
    assert bring(strict, "idcs.csv", b"code\n").status_code == 403
    assert not Import.objects.exists()


def test_withdrawing(admin, idc):
    bring(admin, "idcs.csv", b"code,name\ngz-ct-01,New\n")
    job = Import.objects.get()
    services.import_run(import_id=job.pk)
    admin.post(f"/admin/transfer/import/{job.pk}/withdraw/")
    answer = admin.post(f"/admin/transfer/import/{job.pk}/confirm/", follow=True)
    assert [str(message) for message in answer.context["messages"]] == ["this import is not waiting for a go-ahead"]
    job.refresh_from_db()
    assert job.state == "withdrawn"


@pytest.mark.parametrize("page", ["change/", "progress/"])
@pytest.mark.parametrize("key", ["9", "999999999999999999", "99999999999999999999999"])
def test_an_import_that_does_not_exist(admin, key, page):
    assert admin.get(f"/admin/transfer/import/{key}/{page}").status_code in {302, 404}


def test_confirming_takes_a_post(admin):
    assert admin.get("/admin/transfer/import/1/confirm/").status_code == 405


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("operator", 200), ("admin", 200)])
def test_who_may_bring_files(client, role, status):
    login(client, role)
    assert client.get(ADD).status_code == status
    assert client.get("/admin/transfer/import/").status_code == 200


def test_an_operator_imports_taints_but_no_idcs(client, idc):
    login(client, Role.OPERATOR)
    for name, content in (("taints.csv", b"idc,key\ngz-ct-01,k\n"), ("idcs.csv", b"code,name\ngz-ct-01,New\n")):
        bring(client, name, content)
        job = Import.objects.first()
        for _ in range(2):
            services.import_run(import_id=job.pk)
            client.post(f"/admin/transfer/import/{job.pk}/confirm/")
            services.import_run(import_id=job.pk)
    assert Taint.objects.get().key == "k"
    assert Idc.objects.get().name == ""
    assert Import.objects.first().state == "refused"


@pytest.mark.parametrize(
    ("role", "of_all_tenants", "seen"),
    [("viewer", False, False), ("operator", False, False), ("viewer", True, True), ("operator", True, True)],
)
def test_users_of_a_tenant_see_their_own_imports_alone(client, idc, role, of_all_tenants, seen):
    login(client, Role.ADMIN)
    bring(client, "prices.csv", b"code,name\ngz-ct-01,Dear\n", kind="idcs", message="the rise in May")
    job = Import.objects.get()
    services.import_run(import_id=job.pk)
    reader = user_create(username="reader", role=role, tenant=None if of_all_tenants else tenant_create(code="t2"))
    client.force_login(reader)
    shown = text(client, "/admin/transfer/import/")
    assert [said in shown for said in ("prices.csv", "the rise in May", "the-admin")] == [seen] * 3
    for page in ("change", "progress"):
        assert client.get(f"/admin/transfer/import/{job.pk}/{page}/").status_code == (200 if seen else 404)
    assert (client.get(f"/admin/transfer/import/{job.pk}/history/").status_code == 200) is seen
    if role == Role.OPERATOR:
        for decision in ("confirm", "withdraw"):
            assert client.post(f"/admin/transfer/import/{job.pk}/{decision}/").status_code == (302 if seen else 404)
        bring(client, "mine.csv", b"idc,key\ngz-ct-01,k\n", kind="taints")
        mine = Import.objects.get(actor="reader")
        services.import_run(import_id=mine.pk)
        assert "mine.csv" in text(client, "/admin/transfer/import/")
        assert "What would be changed" in text(client, f"/admin/transfer/import/{mine.pk}/change/")


def kind_of(model: str) -> str:
    return {"affinity": "affinities"}.get(model, f"{model}s")


def exported(client: Client, address: str, file_format: int, **chosen: str) -> Any:
    form = client.get(address).context["form"]
    columns = {name: "on" for name in form.fields if getattr(form.fields[name], "is_selectable_field", False)}
    return client.post(address, {"resource": "", "format": str(file_format), **(chosen or columns)})


@pytest.mark.parametrize("model", MODELS)
def test_every_list_has_its_buttons(admin, idc, model):
    shown = text(admin, f"/admin/inventory/{model}/")
    for button in ("import", "template", "export-json", "export"):
        assert f"/admin/inventory/{model}/{button}" in shown
    name = kind_of(model)
    assert admin.get(f"/admin/inventory/{model}/import/")["Location"] == f"{ADD}?kind={name}"
    book = exported(admin, f"/admin/inventory/{model}/export/", 0)
    assert book["Content-Disposition"].startswith(f'attachment; filename="{name}-')
    assert openpyxl.load_workbook(BytesIO(book.content)).sheetnames == [name]
    table = exported(admin, f"/admin/inventory/{model}/export/", 1)
    assert table.content.decode() == exporting.table(kind_named(name))
    assert list(json.loads(admin.get(f"/admin/inventory/{model}/export-json/").content)) == [name]


def test_what_the_list_shows_is_exported_with_the_columns_that_were_chosen(admin, idc):
    idc_create(code="other", region="440100", status="offline")
    shown = text(admin, "/admin/inventory/idc/?status__exact=offline")
    assert "/admin/inventory/idc/export/?status__exact=offline" in shown
    chosen = {"idcs_code": "on", "idcs_status": "on"}
    answer = exported(admin, "/admin/inventory/idc/export/?status__exact=offline", 1, **chosen)
    assert answer.content.decode("utf-8-sig") == "code,status\r\nother,offline\r\n"
    nothing = admin.post("/admin/inventory/idc/export/", {"resource": "", "format": "1"})
    assert nothing.context["form"].errors


@pytest.mark.parametrize("query", ["nonsense=1", "status__exact=%00", "region__id__exact=x", "_changelist_filters=q"])
def test_a_list_that_does_not_exist_is_not_exported(admin, idc, query):
    assert exported_status(admin, f"/admin/inventory/idc/export/?{query}") < 500


def exported_status(client: Client, address: str) -> int:
    return client.post(address, {"resource": "", "format": "1", "idcs_code": "on"}).status_code


@pytest.mark.parametrize("model", MODELS)
def test_a_template_is_imported_as_it_is(admin, idc, model):
    """Its example is a real row: with what it refers to, it can be imported."""
    name = kind_of(model)
    answer = admin.get(f"/admin/transfer/import/template/{name}/")
    assert answer["Content-Disposition"] == f'attachment; filename="{name}-template.xlsx"'
    bring(admin, f"{name}.xlsx", answer.content)
    job = Import.objects.get()
    services.import_run(import_id=job.pk)
    job.refresh_from_db()
    assert job.faults == []
    assert sum(job.counts[name].values()) == 1
    assert f"/admin/transfer/import/template/{name}/" in text(admin, ADD)


def test_the_export_page_speaks_chinese(admin, idc):
    admin.cookies["django_language"] = "zh-hans"
    shown = text(admin, "/admin/inventory/idc/export/")
    with override("zh-hans"):
        assert f"{Idc._meta.get_field('stock_cpu').verbose_name} (stock_cpu)" in shown
    assert "Select format" not in shown


def test_a_template_of_nothing(admin):
    assert admin.get("/admin/transfer/import/template/things/").status_code == 404


def test_a_viewer_exports_and_does_not_import(client, idc):
    login(client, Role.VIEWER)
    assert exported(client, "/admin/inventory/idc/export/", 1).content.startswith(MARK.encode() + b"code,")
    assert client.get("/admin/inventory/idc/import/").status_code == 403
    assert "/admin/inventory/idc/import" not in text(client, "/admin/inventory/idc/")


def test_nobody_exports_without_logging_in(client, idc):
    assert client.get("/admin/inventory/idc/export/").status_code == 302
    assert client.get("/admin/transfer/import/template/idcs/").status_code == 302
