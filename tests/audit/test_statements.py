"""Rows that are written past the ORM are the rows that it would have written."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from idcsched.accounts.models import Tenant
from idcsched.audit.statements import insertion, run_together
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Picture

pytestmark = pytest.mark.django_db

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


def test_it_works() -> None:
    tenant = Tenant.objects.create(code="t")
    Placement.objects.create(pk=UUID(int=1), tenant=tenant, **VALUES)
    run_together([insertion([Placement(pk=UUID(int=2), tenant=tenant, **VALUES)])])

    columns = [field.attname for field in Placement._meta.concrete_fields if field.attname != "id"]
    by_orm, by_hand = Placement.objects.order_by("pk").values_list(*columns)
    assert by_orm == by_hand


def test_what_is_there_already_may_stay() -> None:
    rows = [Picture(id=UUID(int=number), created_at=NOW, data=b"\x00new") for number in (1, 2)]
    Picture.objects.create(id=UUID(int=1), created_at=NOW, data=b"old")
    run_together([insertion(rows, unless_there=True)])
    assert [bytes(row.data) for row in Picture.objects.order_by("pk")] == [b"old", b"\x00new"]
