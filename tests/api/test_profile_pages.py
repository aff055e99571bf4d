"""Profiles in the admin: revisions side by side, roll-back, and what a draft would have changed."""

import json
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.models import Change
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_revise
from tests.api.conftest import Api

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def profile(seed: Api) -> Profile:
    return Profile.objects.select_related("active").get(code="seed-example")


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(user_create(username="olga", role="operator"))
    return client


def address(profile: Profile, page: str = "change") -> str:
    return f"/admin/scheduling/profile/{profile.pk}/{page}/"


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def lighter(profile: Profile) -> dict[str, Any]:
    """Return the active revision's document with the weight of `y` set to 1."""
    assert profile.active is not None
    body: dict[str, Any] = json.loads(json.dumps(profile.active.body))
    next(entry for entry in body["plugins"] if entry["name"] == "y")["weight"] = 1
    return body


def test_it_works(operator: Client, profile: Profile) -> None:
    """A new revision shows what it changed; the earlier one is put in force again, with a reason."""
    profile_revise(profile=profile, body=lighter(profile), message="y counts less")
    shown = text(operator.get(address(profile)))
    assert "y counts less" in shown
    assert "/plugins/y/weight" in shown
    assert "<del>100</del> → <ins>1</ins>" in shown.replace("100.0", "100").replace("1.0", "1")

    done = operator.post(address(profile, "activate/1"), {"message": "it was right before"}, follow=True)
    assert "Revision 1 is in force." in text(done)
    profile.refresh_from_db()
    assert profile.active is not None and profile.active.number == 1  # noqa: PT018
    change = Change.objects.latest("id")
    assert (change.actor, change.via, change.message) == ("olga", "admin", "it was right before")
    assert "it was right before" in text(operator.get(address(profile, "history")))


def test_a_draft_shows_which_decisions_would_have_gone_elsewhere(
    operator: Client, profile: Profile, portal: Api
) -> None:
    """Without the taint filter, c would have won."""
    answer = portal.schedule(request_id="order-1", region="A", profile="seed-example")
    recorder.settle()
    assert profile.active is not None
    draft = {**profile.active.body, "plugins": [e for e in profile.active.body["plugins"] if e["plugin"] != "taint"]}
    revisions = profile.revisions.count()

    shown = text(operator.post(address(profile, "preview"), {"body": json.dumps(draft)}))

    assert "1 of the last 1 decisions would have gone elsewhere." in shown
    assert (
        f'/admin/scheduling/decision/{answer["decision_id"]}/change/">order-1</a></th> <td>d (220) </td>'
        in shown.replace("(220)", "(220) ").replace("  ", " ")
    )
    assert "<td>c (330)" in shown
    assert "/plugins/taint" in shown
    assert profile.revisions.count() == revisions


def test_a_revision_is_previewed_by_its_number(operator: Client, profile: Profile, portal: Api) -> None:
    portal.schedule(region="A", profile="seed-example")
    recorder.settle()
    profile_revise(profile=profile, body=lighter(profile), activate=False)
    assert "0 of the last 1 decisions" in text(operator.get(address(profile, "preview") + "?revision=2"))
    assert "0 of the last 1 decisions" in text(operator.get(address(profile, "preview")))


@pytest.mark.parametrize(("code", "seen"), [("live-cn", 1), ("other", 0)], ids=["of its own tenant", "of another"])
def test_a_preview_looks_only_at_what_its_reader_may_see(
    client: Client, profile: Profile, portal: Api, code: str, seen: int
) -> None:
    portal.schedule(region="A", profile="seed-example")
    recorder.settle()
    home = Tenant.objects.filter(code=code).first() or tenant_create(code=code)
    client.force_login(user_create(username="vera", role="viewer", tenant=home))
    assert client.get(address(profile, "preview")).context["result"].examined == seen


def test_what_can_not_be_examined_is_counted(operator: Client, profile: Profile, portal: Api) -> None:
    portal.schedule(region="A", profile="seed-example")
    recorder.settle()
    Decision.objects.update(inputs=None)
    assert "1 could not be examined" in text(operator.get(address(profile, "preview")))


DRAFTS = {
    "no JSON": ("{", "this is no JSON"),
    "no object": ("[]", "a profile is a JSON object"),
    "an unknown plugin": ('{"plugins": [{"name": "x", "plugin": "nope"}]}', "there is no plugin nope"),
    "an unknown field": ('{"plugins": [], "colour": 1}', "colour"),
}


@pytest.mark.parametrize(("draft", "said"), DRAFTS.values(), ids=DRAFTS)
def test_a_draft_that_is_none_is_refused_in_place(operator: Client, profile: Profile, draft: str, said: str) -> None:
    answer = operator.post(address(profile, "preview"), {"body": draft})
    assert answer.status_code == 200
    assert said in text(answer)


def test_a_draft_is_kept_with_its_preview_and_saved_from_there(operator: Client, profile: Profile) -> None:
    posted = {"name": "", "message": "less of y", "body": json.dumps(lighter(profile))}
    kept = operator.post(address(profile, "preview"), posted).context["form"]
    assert {field: kept[field].value() for field in ("name", "message")} == {"name": "", "message": "less of y"}
    assert json.loads(kept["body"].value()) == lighter(profile)

    operator.post(address(profile), {field: kept[field].value() for field in posted})
    profile.refresh_from_db()
    assert profile.active is not None
    assert (profile.active.number, profile.active.body, profile.active.message) == (2, lighter(profile), "less of y")


@pytest.mark.parametrize("number", ["7", "nonsense", "99999999999", "٣"])
def test_a_revision_that_is_not_there(operator: Client, profile: Profile, number: str) -> None:
    assert operator.get(address(profile, "preview"), {"revision": number}).status_code == 200


def test_what_is_wrong_is_said_with_its_place_in_the_document(operator: Client, profile: Profile) -> None:
    assert profile.active is not None
    body = {"plugins": [*profile.active.body["plugins"], {"name": "z", "plugin": "metric", "args": {"metric": "nope"}}]}
    sent = {"name": "", "message": "", "body": json.dumps(body)}
    page = operator.post(address(profile), sent)
    (said,) = page.context["adminform"].form.errors["body"]
    assert said == f"plugins/{len(body['plugins']) - 1}/args/metric: there is no metric nope"
    assert json.loads(page.context["adminform"].form["body"].value()) == body


def test_a_viewer_reads_and_previews_and_puts_nothing_in_force(client: Client, profile: Profile) -> None:
    profile_revise(profile=profile, body=lighter(profile))
    client.force_login(user_create(username="vera", role="viewer"))
    shown = text(client.get(address(profile)))
    assert "/plugins/y/weight" in shown
    assert "Put in force" not in shown
    assert client.get(address(profile, "preview")).status_code == 200
    assert client.post(address(profile, "activate/1")).status_code == 403
    profile.refresh_from_db()
    assert profile.active is not None and profile.active.number == 2  # noqa: PT018


def test_a_link_puts_nothing_in_force(operator: Client, profile: Profile) -> None:
    assert operator.get(address(profile, "activate/1")).status_code == 405


def test_what_is_not_there_is_not_put_in_force(operator: Client, profile: Profile) -> None:
    done = operator.post(address(profile, "activate/99"), follow=True)
    assert "profile seed-example has no revision 99" in text(done)
    assert operator.post("/admin/scheduling/profile/4711/activate/1/").status_code == 404
    assert operator.get("/admin/scheduling/profile/4711/preview/").status_code == 404
