"""docs/admin.md names the buttons, fields and lists that there are."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client

from idcsched.accounts.roles import Role
from idcsched.accounts.services import token_issue, user_create
from idcsched.inventory.services import idc_create, region_create
from metrics_ingest.services import source_create
from tests.docs.pages import page

PAGE = page("admin.md")
QUOTED = sorted({" ".join(found.split()) for found in re.findall(r"(?<![*\w])\*([^*]+)\*(?!\*)", PAGE)})


@pytest.fixture
def shown(client: Client, db: None) -> str:
    """The texts of the pages that the guide leads through, as an administrator sees them."""
    root = user_create(username="root", role=Role.ADMIN)
    client.force_login(root)
    region_create(code="A")
    idc = idc_create(code="a", region="A")
    token = token_issue(user=root, name="t").token
    mapping = {"idc": "site", "values": {"cpu_load": "cpu"}}
    source = source_create(code="s", kind="csv", schedule="60", config={"file": "s.csv"}, mapping=mapping)
    scheduling = apps.get_model("scheduling", "Profile").objects.first()
    addresses = [
        "",
        "inventory/idc/",
        f"inventory/idc/{idc.pk}/change/",
        "inventory/taint/add/",
        "inventory/taint/",
        "inventory/affinity/add/",
        "metrics_ingest/source/",
        f"metrics_ingest/source/{source.pk}/change/",
        "accounts/apitoken/",
        f"accounts/apitoken/{token.pk}/change/",
        f"scheduling/profile/{scheduling.pk}/change/",
        "transfer/import/",
    ]
    pages = [client.get(f"/admin/{address}") for address in addresses]
    assert {address: answer.status_code for address, answer in zip(addresses, pages, strict=True)} == dict.fromkeys(
        addresses, 200
    )
    return " ".join(" ".join(answer.content.decode() for answer in pages).split()).lower()


def test_it_works() -> None:
    assert {"Taint IDCs…", "Ask once, and show what would be stored", "why"} <= set(QUOTED)


def test_what_it_names_is_there(shown: str) -> None:
    models = {str(model._meta.verbose_name_plural).lower() for model in admin.site._registry}
    missing = [text for text in QUOTED if text.lower() not in shown and text.lower() not in models]
    assert not missing
