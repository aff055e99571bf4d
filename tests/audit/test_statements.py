"""Rows that are written past the ORM are the rows that it would have written."""

from datetime import UTC, datetime
from types import SimpleNamespace
from uuid import UUID

import msgspec
import pytest
from django.db import IntegrityError, transaction

from idcsched.accounts.models import Tenant
from idcsched.audit.statements import insertion, run_together
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Picture

pytestmark = pytest.mark.usefixtures("db")

NOW = datetime(2031, 5, 5, 12, 30, 15, 250_000, tzinfo=UTC)
VALUES = {
    "actor": "Ünal 广州 'x' %s \\ ;",
    "request_id": "",
    "action": "reserve",
    "request": {"region": "广州", "ratio": 0.1, "none": None, "list": [1, "a"]},
    "state": "waiting",
    "lines": [],
    "machine_count": 3,
    "bandwidth_mbps": 1,
    "decision_id": UUID(int=7),
    "priority": -5,
    "expires_at": NOW,
    "needs_attention": True,
    "created_at": NOW,
    "changed_at": NOW,
}


@pytest.mark.both
def test_it_works() -> None:
    tenant = Tenant.objects.create(code="t")
    Placement.objects.create(pk=UUID(int=1), tenant=tenant, **VALUES)
    run_together([insertion([Placement(pk=UUID(int=2), tenant=tenant, **VALUES)])])

    columns = [field.attname for field in Placement._meta.concrete_fields if field.attname != "id"]
    by_orm, by_hand = Placement.objects.order_by("pk").values_list(*columns)
    assert by_orm == by_hand


def test_anything_with_the_columns_is_a_row() -> None:
    row = SimpleNamespace(id=UUID(int=1), created_at=NOW, data=b"x")
    run_together([insertion([row], into=Picture)])
    (found,) = Picture.objects.all()
    assert (found.pk, found.created_at, bytes(found.data)) == (UUID(int=1), NOW, b"x")


def test_documents_may_be_encoded_already() -> None:
    tenant, encoded = Tenant.objects.create(code="t"), msgspec.Raw('{"region":"广州","one":1}'.encode())
    values = {**VALUES, "request": encoded, "cures": None}
    with pytest.raises(IntegrityError, match="cures"), transaction.atomic():
        run_together([insertion([Placement(pk=UUID(int=1), tenant=tenant, **values)])])
    run_together([insertion([Placement(pk=UUID(int=1), tenant=tenant, **{**VALUES, "request": encoded})])])
    assert Placement.objects.get().request == {"region": "广州", "one": 1}


@pytest.mark.both
def test_what_is_there_already_may_stay() -> None:
    rows = [Picture(id=UUID(int=number), created_at=NOW, data=b"\x00new") for number in (1, 2)]
    Picture.objects.create(id=UUID(int=1), created_at=NOW, data=b"old")
    run_together([insertion(rows, unless_there=True)])
    assert [bytes(row.data) for row in Picture.objects.order_by("pk")] == [b"old", b"\x00new"]
