"""Profiles are immutable revisions; the active one decides."""

from typing import Any

import pytest

from idcsched.accounts.services import tenant_create
from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.scheduling.models import Profile, ProfileRevision
from idcsched.scheduling.services import profile_activate, profile_create, profile_delete, profile_revise

pytestmark = pytest.mark.usefixtures("db")

FIRST: dict[str, Any] = {"plugins": [{"name": "taint", "plugin": "taint"}]}
SECOND: dict[str, Any] = {"plugins": [{"name": "taint", "plugin": "taint", "weight": 5.0}]}


def active(profile: Profile) -> tuple[int, Any]:
    revision = ProfileRevision.objects.get(active_of=profile)
    return revision.number, revision.body


def test_it_works() -> None:
    profile = profile_create(code="p", name="P", body=FIRST, message="first")
    profile_revise(profile=profile, body=SECOND, message="second")

    assert active(profile) == (2, SECOND)
    assert list(profile.revisions.values_list("number", "message")) == [(2, "second"), (1, "first")]
    assert [change.action for change in Change.objects.filter(kind="profile", key="p")] == ["update", "create"]


def test_an_earlier_revision_can_be_put_in_force_again() -> None:
    profile = profile_create(code="p", body=FIRST)
    profile_revise(profile=profile, body=SECOND)

    profile_activate(profile=profile, number=1)

    assert active(profile) == (1, FIRST)


def test_a_draft_is_not_in_force() -> None:
    profile = profile_create(code="p", body=FIRST)

    draft = profile_revise(profile=profile, body=SECOND, activate=False)

    assert (draft.number, active(profile)) == (2, (1, FIRST))


def test_a_revision_that_is_not_there() -> None:
    with pytest.raises(NotFound):
        profile_activate(profile=profile_create(code="p", body=FIRST), number=7)


def test_a_code_that_is_taken() -> None:
    profile_create(code="p", body=FIRST)

    with pytest.raises(Conflict, match="already"):
        profile_create(code="p", body=SECOND)


def test_a_code_that_means_a_draft_in_backtests() -> None:
    with pytest.raises(Invalid) as refusal:
        profile_create(code="draft", body=FIRST)
    assert [(error.pointer, error.code) for error in refusal.value.errors] == [("/code", "reserved_code")]


def test_a_body_that_cannot_run_changes_nothing() -> None:
    profile = profile_create(code="p", body=FIRST)

    with pytest.raises(Invalid):
        profile_revise(profile=profile, body={"plugins": [{"name": "x", "plugin": "nope"}]})

    assert active(profile) == (1, FIRST)
    assert profile.revisions.count() == 1


def test_a_profile_that_a_tenant_uses_stays() -> None:
    profile = profile_create(code="p", body=FIRST)
    tenant_create(code="t", default_profile="p")

    with pytest.raises(Conflict, match="in use"):
        profile_delete(profile=profile)


def test_a_profile_that_nobody_uses_goes() -> None:
    profile_delete(profile=profile_create(code="p", body=FIRST))

    assert not Profile.objects.filter(code="p").exists()
    assert Change.objects.filter(kind="profile", key="p", action="delete").exists()
