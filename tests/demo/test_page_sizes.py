"""The pages of the demo stay small enough for slow connections."""

import gzip
from datetime import datetime

import pytest
from django.test import Client

from idcsched.accounts.models import User

pytestmark = pytest.mark.usefixtures("db")
LISTED, AT_MOST = 47, 40 * 1024
"""The IDCs of the demo, and bytes; it was 17 KB of 398 KB."""


def test_the_list_of_all_idcs(loaded: datetime, client: Client) -> None:
    client.force_login(User.objects.get(username="admin"))
    page = client.get("/admin/inventory/idc/", headers={"accept-encoding": "gzip, br"})
    assert page.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(page.content).count(b'name="_selected_action"') == LISTED
    assert len(page.content) <= AT_MOST
