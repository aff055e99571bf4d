"""The list of IDCs: how full each is and what keeps orders off, narrowed by the overview's filters."""

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
