"""The list of IDCs: how full each is and what keeps orders off, narrowed by the overview's filters."""

import re

import pytest
from django.test import Client

from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create
from tests.console.test_overview import idcs, shown, text_of  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("db")
PAGE = "/console/idcs/"


def test_it_works(client: Client, idcs: dict[str, Idc]) -> None:  # noqa: F811
    idc_create(code="empty-1", region="gz")
    page = shown(client, PAGE)
    assert '<a href="/console/idcs/" data-go="i" aria-current="page">' in page
    assert page.index('href="/console/idcs/gz-1/"') < page.index('href="/console/idcs/sz-1/"'), "the fullest first"
    assert "Without lines: <a" in page
    assert "empty-1" in page
    assert "old-1" not in page
    narrowed = text_of(client, f"{PAGE}?mark=draining")
    assert ("/console/idcs/sz-1/" in narrowed, "/console/idcs/gz-1/" in narrowed) == (True, False)
    assert "No IDC matches" in text_of(client, f"{PAGE}?region=sz&isp=ct")


@pytest.fixture
def third(idcs: dict[str, Idc]) -> None:  # noqa: F811
    """Beside `gz-1`, at 95 %, and `sz-1`, at 30 % and stale, one whose line was never measured."""
    isp = {"isp": "cu", "purchased_mbps": 1000}
    idc_create(code="an-1", region="sz", lines=[isp])


@pytest.mark.parametrize("page", [PAGE, "/console/?view=table"])
@pytest.mark.parametrize(
    ("ordering", "order", "sort"),
    [
        ("", "gz-1 sz-1 an-1", []),
        ("idc", "an-1 gz-1 sz-1", [("IDC", "ascending")]),
        ("-idc", "sz-1 gz-1 an-1", [("IDC", "descending")]),
        ("-region", "sz-1 an-1 gz-1", [("region", "descending")]),
        ("level", "sz-1 gz-1 an-1", [("level", "ascending")]),
        ("-level", "gz-1 sz-1 an-1", [("level", "descending")]),
        ("-free", "gz-1 sz-1 an-1", [("Mbps free", "descending")]),
    ],
)
def test_the_address_names_the_order(
    client: Client, third: None, page: str, ordering: str, order: str, sort: list[tuple[str, str]]
) -> None:
    """What is not known is last in either direction."""
    text = shown(client, f"{page}{'&' if '?' in page else '?'}ordering={ordering}")
    assert re.findall(r'<tr id="i-([^"]*)"', text) == order.split()
    assert re.findall(r'aria-sort="(\w+)"><a [^>]*>([^<]*)</a>', text) == [(way, label) for label, way in sort]


def test_a_head_keeps_the_filters_and_turns_the_order_round(client: Client, third: None) -> None:
    page = shown(client, f"{PAGE}?region=sz&ordering=-level")
    heads = dict(re.findall(r'<th [^>]*><a href="([^"]*)">([^<]*)</a>', page))
    addresses = {label: address.replace("&amp;", "&") for address, label in heads.items()}
    assert addresses["level"] == f"{PAGE}?region=sz&ordering=level#idcs"
    assert addresses["Mbps free"] == f"{PAGE}?region=sz&ordering=-free#idcs"
    turned = text_of(client, addresses["level"])
    assert re.findall(r'<tr id="i-([^"]*)"', turned) == ["sz-1", "an-1"]
    assert '<option value="sz" selected>' in turned


def test_the_filters_keep_the_order(client: Client, third: None) -> None:
    page = shown(client, f"{PAGE}?ordering=idc")
    form = page.partition('<form class="filters"')[2].partition("</form>")[0]
    assert '<input type="hidden" name="ordering" value="idc">' in form


def test_an_order_that_there_is_not_is_reported(client: Client, third: None) -> None:
    page = shown(client, f"{PAGE}?ordering=colour")
    assert "The table can&#x27;t be sorted by colour." in page
    assert "aria-sort" not in page
