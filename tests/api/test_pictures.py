"""The picture behind several recommendations is stored once for all of them, and removed when no record names it."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from idcsched.scheduling.models import Decision, Picture
from idcsched.scheduling.snapshot_archive import pictures_expire
from tests.api.conftest import Api, recorded

pytestmark = [pytest.mark.usefixtures("db"), pytest.mark.usefixtures("seed")]

ASKED = {"region": "A", "profile": "seed-example"}
NOW = timezone.now()


def picture_of(portal: Api, **extra: Any) -> Picture:
    found = recorded(portal.schedule(**{**ASKED, **extra})["decision_id"]).picture
    assert found is not None
    return found


def test_it_works(portal: Api) -> None:
    first, again, other = (picture_of(portal, **extra) for extra in ({}, {"request_id": "o-2"}, {"profile": "default"}))

    assert first == again == other
    assert Picture.objects.count() == 1


def test_a_change_makes_another(seed: Api, portal: Api) -> None:
    before = picture_of(portal)
    seed.call("PATCH", "/idcs/d/", {"status": "offline"}, status=200)

    assert picture_of(portal) != before


def test_who_names_others_sees_more(portal: Api) -> None:
    assert picture_of(portal, exclude=["e"]) != picture_of(portal)


@pytest.mark.usefixtures("db")
def test_a_database_that_was_emptied_is_given_them_again(portal: Api) -> None:
    made = picture_of(portal)
    Decision.objects.all().delete()
    Picture.objects.all().delete()

    assert picture_of(portal) == made


def picture(number: int, age: timedelta, *, named_at: datetime | None = None) -> Picture:
    found = Picture.objects.create(id=UUID(int=number), created_at=NOW - age, data=b"")
    if named_at:
        Decision.objects.create(
            created_at=named_at, result="scheduled", idc="a", profile="p", profile_revision=1, request={}, answer={},
            picture=found,
        )  # fmt: skip
    return found


def test_what_nobody_names_goes() -> None:
    young, named = picture(1, timedelta(hours=47)), picture(2, timedelta(days=29), named_at=NOW)
    for number in (3, 4, 5):
        picture(number, timedelta(hours=49))

    assert pictures_expire(now=NOW, batch=2) == 3
    assert set(Picture.objects.all()) == {young, named}
