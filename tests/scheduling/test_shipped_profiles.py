"""Every installation starts with the shipped profiles, and updates never undo what operators changed in them."""

import json
from importlib.resources import files
from typing import Any

import pytest
from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS

from idcsched.framework.decoding import convert
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.scheduling.models import Profile, ProfileRevision
from idcsched.scheduling.plugins import registry
from idcsched.scheduling.services import profile_activate, profile_delete, profile_revise
from idcsched.scheduling.shipped import SHIPPED, shipped_profiles_ensure, shipped_profiles_refresh

WEIGHTS = {
    "default": {
        "billing_cost": 90,
        "network_flow": 5,
        "resource": 5,
        "affinity": 30,
        "taint": 20,
        "locality": 20,
    },
    "cost-first": {"billing_cost": 100, "network_flow": 2},
}


def document(code: str) -> dict[str, Any]:
    text = files("idcsched.scheduling").joinpath("shipped_profiles", f"{code}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def ensure() -> None:
    shipped_profiles_ensure(using=DEFAULT_DB_ALIAS, sender=apps.get_app_config("scheduling"))


@pytest.mark.usefixtures("db")
def test_it_works() -> None:
    assert set(Profile.objects.values_list("code", flat=True)) == set(SHIPPED)
    for profile in Profile.objects.select_related("active"):
        assert profile.active is not None
        assert profile.active.number == 1
        assert len(profile.active.message) > 100


@pytest.mark.parametrize("code", SHIPPED)
def test_each_runs_filters_what_must_be_filtered_and_says_why_it_is_so(code: str) -> None:
    told = document(code)
    assert told.pop("code") == code
    assert told.pop("name")
    assert told.pop("message").endswith(".")
    profile = compile_profile(convert(told, ProfileBody), registry(), code=code, revision=1)

    listed = {entry.plugin.name for entry in profile.entries}
    assert listed >= {"available", "isp", "network_flow", "taint", "resource", "affinity"}


@pytest.mark.parametrize("code", WEIGHTS)
def test_weights_are_those_of_the_specification(code: str) -> None:
    weights = {each["name"]: each["weight"] for each in document(code)["plugins"] if "weight" in each}

    assert weights == WEIGHTS[code]


@pytest.mark.usefixtures("db")
def test_what_operators_changed_or_deleted_stays_so() -> None:
    changed = Profile.objects.get(code="even")
    profile_revise(profile=changed, body={"plugins": [{"name": "available", "plugin": "available"}]})
    profile_delete(profile=Profile.objects.get(code="cost-first"))
    ensure()

    assert Profile.objects.get(code="even").revisions.count() == 2
    assert not Profile.objects.filter(code="cost-first").exists()


@pytest.mark.usefixtures("db")
def test_a_flushed_database_has_them_again() -> None:
    Profile.objects.all().update(active=None)
    Profile.objects.all().delete()
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")  # as `manage.py flush` ends

    assert set(Profile.objects.values_list("code", flat=True)) == set(SHIPPED)


@pytest.mark.usefixtures("db")
def test_another_database_is_none_of_its_business() -> None:
    Profile.objects.all().update(active=None)
    Profile.objects.all().delete()
    shipped_profiles_ensure(using="other")

    assert not Profile.objects.exists()


OLD = {"plugins": [{"name": "available", "plugin": "available"}]}


def shipped_otherwise(code: str) -> Profile:
    """The profile, as if an earlier release had shipped it with another content."""
    profile = Profile.objects.get(code=code)
    ProfileRevision.objects.filter(pk=profile.active_id).update(body=OLD)
    return profile


@pytest.mark.usefixtures("db")
def test_an_upgrade_refreshes_those_that_nobody_has_changed() -> None:
    for code in SHIPPED:
        shipped_otherwise(code)
    profile_delete(profile=Profile.objects.get(code="cost-first"))
    revised, reset = Profile.objects.get(code="even"), Profile.objects.get(code="bandwidth-first")
    profile_revise(profile=revised, body=OLD, activate=False)

    assert shipped_profiles_refresh() == {"default": 2, "bandwidth-first": 2}
    assert shipped_profiles_refresh() == {}
    active = Profile.objects.get(code="default").active
    assert active is not None
    assert active.body["plugins"] == document("default")["plugins"]
    assert not Profile.objects.filter(code="cost-first").exists()

    profile_activate(profile=reset, number=1)
    assert shipped_profiles_refresh() == {}


@pytest.mark.usefixtures("db")
def test_an_upgrade_creates_those_that_are_new() -> None:
    Profile.objects.filter(code="even").update(active=None)
    Profile.with_deleted.get(code="even").delete()
    assert shipped_profiles_refresh() == {"even": 1}
