"""The admin's pages for profiles and decisions: every save is a new revision, and what was decided can only be read."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import user_create
from idcsched.audit.models import Change
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.services import profile_create

pytestmark = pytest.mark.usefixtures("db")

BODY: dict[str, Any] = {"plugins": [{"name": "taint", "plugin": "taint", "weight": 5}]}


def login(client: Client, role: str) -> Client:
    client.force_login(user_create(username=f"the-{role}", role=role))
    return client


@pytest.fixture
def operator(client: Client) -> Client:
    return login(client, "operator")


def form(body: Any, **fields: str) -> dict[str, Any]:
    management = {"revisions-TOTAL_FORMS": 0, "revisions-INITIAL_FORMS": 0}
    return {"code": "p", "name": "P", "message": "", "body": json.dumps(body), **management, **fields}


def page(profile: Profile) -> str:
    return f"/admin/scheduling/profile/{profile.pk}/change/"


def test_it_works(operator: Client) -> None:
    """A profile is made and then changed in the browser, and each save becomes a revision with its reason."""
    made = operator.post("/admin/scheduling/profile/add/", form(BODY, message="first"))
    assert made.status_code == 302
    profile = Profile.objects.get(code="p")

    heavier = {"plugins": [{"name": "taint", "plugin": "taint", "weight": 9}]}
    assert operator.post(page(profile), form(heavier, message="heavier")).status_code == 302

    assert list(profile.revisions.values_list("number", "message", "created_by")) == [
        (2, "heavier", "the-operator"),
        (1, "first", "the-operator"),
    ]
    assert {change.via for change in Change.objects.filter(kind="profile", key="p")} == {"admin"}
    shown = operator.get(page(profile)).content.decode()
    assert "heavier" in shown
    assert "first" in shown


def test_a_mistake_is_shown_in_place_and_changes_nothing(operator: Client) -> None:
    profile = profile_create(code="p", body=BODY)
    wrong = {"plugins": [{"name": "taint", "plugin": "tain"}]}

    shown = operator.post(page(profile), form(wrong))

    assert shown.status_code == 200
    assert "there is no plugin tain" in shown.content.decode()
    assert profile.revisions.count() == 1


@pytest.mark.parametrize("body", ["{", '{"plugins": 5}', "[]"])
def test_nonsense_is_refused(operator: Client, body: str) -> None:
    shown = operator.post("/admin/scheduling/profile/add/", {**form({}), "body": body})

    assert shown.status_code == 200
    assert not Profile.objects.filter(code="p").exists()


def test_a_viewer_only_reads(client: Client) -> None:
    profile = profile_create(code="p", body=BODY)
    login(client, "viewer")

    assert client.get(page(profile)).status_code == 200
    assert client.post(page(profile), form({"plugins": []})).status_code == 403
    assert profile.revisions.count() == 1


def test_decisions_are_shown_and_stay_as_they_are(operator: Client) -> None:
    decision = Decision.objects.create(
        created_at=timezone.now(),
        result="unschedulable",
        profile="p",
        profile_revision=1,
        request={"region": "A"},
        answer={"summary": "0/1 IDCs fit: 1 offline <b>"},
    )

    listed = operator.get("/admin/scheduling/decision/").content.decode()
    shown = operator.get(f"/admin/scheduling/decision/{decision.pk}/change/").content.decode()

    assert "0/1 IDCs fit: 1 offline &lt;b&gt;" in listed
    assert "&quot;region&quot;" in shown
    assert operator.post(f"/admin/scheduling/decision/{decision.pk}/delete/", {"post": "yes"}).status_code == 403
