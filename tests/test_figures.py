"""Numbers as people write them, in lists, on pages and in forms."""

import re

import pytest
from django.test import Client

from idcsched.accounts.services import user_create
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.language.figures import figure_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (30000.0, "30000"),
        (0.0, "0"),
        (786.7210083007812, "786.721"),
        (6013.94677734375, "6013.95"),
        (0.015, "0.015"),
        (1e12, "1000000000000"),
        (0.0000001, "0.0000001"),
        (-20.0, "-20"),
    ],
)
def test_it_works(value: float, text: str) -> None:
    assert figure_text(value) == text


@pytest.fixture
def line(db: None) -> Line:
    region_create(code="A")
    isp_create(code="ct")
    lines = [{"isp": "ct", "purchased_mbps": 30000, "price_per_mbps": 12.5}]
    return idc_create(code="gz-ct-01", region="A", lines=lines).lines.get()


def shown(client: Client, role: str, page: str) -> str:
    client.force_login(user_create(username=role, role=role), backend="django.contrib.auth.backends.ModelBackend")
    return re.sub(r"\s+", " ", client.get(page).content.decode())


@pytest.mark.parametrize("role", ["admin", "viewer"])
@pytest.mark.parametrize("page", ["line/", "line/{line}/change/", "idc/{idc}/change/"])
def test_no_page_shows_decimals_that_are_none(client: Client, line: Line, role: str, page: str) -> None:
    text = shown(client, role, f"/admin/inventory/{page}".format(line=line.pk, idc=line.idc_id))
    assert re.search(r">\s*30000\s*<|value=\"30000\"", text)
    assert "12.5" in text
    assert "30000.0" not in text


def test_codes_stay_whole_and_lead_to_the_row(client: Client, line: Line) -> None:
    listed = shown(client, "viewer", "/admin/inventory/line/")
    link = f'<a href="/admin/inventory/line/{line.pk}/change/"[^>]*><span class="whole">gz-ct-01</span>'
    assert re.search(link, listed)
