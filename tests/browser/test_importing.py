"""The buttons above a list, in a browser: export what it shows, take a template, bring a file."""

import json
from pathlib import Path

import openpyxl
from playwright.sync_api import expect

from tests.browser.visiting import Visitor


def test_what_the_list_shows_is_exported_and_a_template_is_at_hand(visitor: Visitor, tmp_path: Path) -> None:
    visitor.log_in("admin")
    visitor.goto("/admin/inventory/idc/?status__exact=online")
    page = visitor.page
    page.locator("a[href*='/idc/export/']").click()
    expect(page.locator("input[type=checkbox]").first).to_be_checked()
    page.get_by_label("CPU cores for sale").uncheck()
    expect(page.locator("#id_format option:checked")).to_have_text("Excel (.xlsx)")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    download.value.save_as(tmp_path / "idcs.xlsx")
    headings = [cell.value for cell in openpyxl.load_workbook(tmp_path / "idcs.xlsx")["idcs"][1]]
    assert headings[:3] == ["code", "name", "region"]
    assert "stock_cpu" not in headings

    visitor.goto("/admin/inventory/idc/")
    page.locator("a[href$='/idc/import/']").click()
    expect(page.locator("#id_kind")).to_have_value("idcs")
    with page.expect_download() as download:
        page.get_by_role("link", name="IDCs", exact=True).last.click()
    assert download.value.suggested_filename == "idcs-template.xlsx"
    page.locator("#id_file").set_input_files(
        {"name": "isps.json", "mimeType": "application/json", "buffer": json.dumps({"isps": []}).encode()}
    )
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", name="isps.json", exact=True)).to_be_visible()
