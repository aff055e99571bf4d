"""The console's profiles: what is in force, a form made from the plugins' arguments, a preview, and revisions."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from idcsched.accounts.models import User
from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.models import Change
from idcsched.console import profiles
from idcsched.console.scorers import SUMMARIES
from idcsched.framework.registry import load_registry
from idcsched.inventory.services import region_create, region_scope_create
from idcsched.language.wording import say
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Profile
from idcsched.scheduling.plugin_descriptions import summary_of
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.revisions import differing
from idcsched.scheduling.services import profile_activate, profile_create, profile_revise
from tests.placement.conftest import POLICY, fleet, recommend  # noqa: F401 - fixtures, used by name

pytestmark = pytest.mark.usefixtures("db")
PAGE = "/console/profiles/live/"
BODY: dict[str, Any] = {
    "plugins": [
        {"name": "available", "plugin": "available"},
        {"name": "resource", "plugin": "resource", "weight": 5, "args": {"cpu": 0.8}},
        {"name": "near", "plugin": "locality", "weight": 20, "normalizer": {"kind": "fixed", "low": 0, "high": 900}},
    ]
}


@pytest.fixture
def profile() -> Profile:
    return profile_create(code="live", name="Live", body=BODY, message="to begin with")


@pytest.fixture
def operator(client: Client) -> User:
    return logged_in(client, "operator")


def logged_in(client: Client, role: str, **fields: Any) -> User:
    user = user_create(username=f"the-{role}", role=role, **fields)
    client.force_login(user)
    return user


def text_of(response: Any) -> str:
    assert response.status_code == 200
    return unescape(" ".join(response.content.decode().split()))


def posted(client: Client, action: str, body: Any = BODY, *, edit: str = "form", **fields: str) -> str:
    document = body if isinstance(body, str) else json.dumps(body)
    return text_of(client.post(PAGE, {"action": action, "edit": edit, "document": document, **fields}))


def place(page: str, pointer: str) -> str:
    """The part of the page about one field."""
    return page.partition(f'name="{pointer}"')[2].partition("<label")[0]


@pytest.mark.usefixtures("operator", "profile")
def test_it_works(client: Client) -> None:
    page = text_of(client.get(PAGE))
    for part in (
        'name="/plugins/1/weight" value="5"',
        'type="range" min="0" max="100" step="any" value="5"',
        'name="/plugins/1/args/cpu" value="0.8"',
        'name="/plugins/1/args/memory" value="" inputmode="decimal" size="9" maxlength="30" placeholder="0.9"',
        "<option>balanced</option>",
        "</strong> · load</legend>",
        "</strong> · status</legend>",
        "Raw value: the highest load",
        "#1 in force since",
        "to begin with",
    ):
        assert part in page
    assert '"kind": "fixed"' in place(page, "/plugins/2/normalizer")
    assert 'name="/plugins/0/weight"' not in page, "it does not score"


@pytest.mark.usefixtures("operator")
def test_the_list_says_what_is_in_force_and_since_when(client: Client, profile: Profile) -> None:
    profile_revise(profile=profile, body={"plugins": BODY["plugins"][:2]}, activate=False)
    tenant_create(code="live-cn", default_profile="live")
    page = text_of(client.get("/console/profiles/"))
    for part in ("near 20", "load 5", "newer: #2", "default of live-cn"):
        assert part in page
    profile_activate(profile=profile, number=2)
    change = Change.objects.filter(kind="profile", key="live").latest("id")
    Change.objects.filter(pk=change.pk).update(actor="wang", at=datetime(2001, 2, 3, 12, tzinfo=UTC))
    page = text_of(client.get("/console/profiles/"))
    assert "newer:" not in page
    assert "2001-02-03" in page
    assert "wang" in page


@pytest.mark.usefixtures("operator")
def test_a_draft_is_saved_and_put_in_force(client: Client, profile: Profile) -> None:
    fields = {
        "/plugins/1/weight": "7.5",
        "/plugins/1/args/cpu": "",
        "/plugins/1/args/strategy": "most",
        "message": "why",
    }
    page = text_of(client.post(PAGE, {"action": "save", "document": json.dumps(BODY), **fields}, follow=True))
    assert "Saved as revision 2, which is not in force yet." in page
    revision = profile.revisions.get(number=2)
    assert revision.body["plugins"][1] == {**BODY["plugins"][1], "weight": 7.5, "args": {"strategy": "most"}}
    assert (revision.message, revision.created_by) == ("why", "the-operator")
    profile.refresh_from_db()
    assert profile.active.number == 1  # type: ignore[union-attr]  # it is in force
    page = text_of(client.post(PAGE, {"action": "activate", "number": "2"}, follow=True))
    assert "Revision 2 is in force." in page
    profile.refresh_from_db()
    assert profile.active == revision


@pytest.mark.usefixtures("operator", "profile")
def test_everything_that_is_wrong_is_said_at_once_and_at_its_place(client: Client) -> None:
    fields = {
        "/plugins/1/weight": "heavy",
        "/plugins/1/args/cpu": "7",
        "/plugins/1/args/disk": "0",
        "/plugins/2/weight": "-1",
        "/plugins/2/normalizer": "{",
        "/candidates_percent": "200",
    }
    page = posted(client, "save", **fields)
    for pointer, value, error in (
        ("/plugins/1/weight", "heavy", "this must be a number"),
        ("/plugins/1/args/cpu", "7", "this must be at most 1.0"),
        ("/plugins/1/args/disk", "0", "this must be more than 0.0"),
        ("/plugins/2/weight", "-1", "this must be at least 0.0"),
        ("/plugins/2/normalizer", "{", "this is no JSON"),
        ("/candidates_percent", "200", "this must be at most 100.0"),
    ):
        assert f'value="{value}"' in place(page, pointer), pointer
        assert error in place(page, pointer), pointer
    assert "6 things are wrong with the draft:" in page
    assert not Profile.objects.filter(code="live", revisions__number=2).exists()


@pytest.mark.usefixtures("operator", "profile")
@pytest.mark.parametrize(
    ("document", "error"),
    [
        pytest.param("{", "this is no JSON", id="no JSON"),
        pytest.param("[]", "a profile is a JSON object", id="no object"),
        pytest.param('{"plugins": [{"name": "x", "plugin": "x"}, 1]}', "/plugins/1", id="no entry"),
        pytest.param('{"plugins": 1}', "/plugins", id="no list"),
        pytest.param('{"plugins": [{"name": "x", "plugin": "no-such"}]}', "there is no plugin no-such", id="no plugin"),
        pytest.param('{"plugins": [], "x": 1}', "there is no field x", id="an unknown field"),
    ],
)
def test_a_document_that_is_no_profile_is_kept_with_its_errors(document: str, error: str, client: Client) -> None:
    for edit in ("json", "form"):
        assert error in posted(client, "preview", document, edit=edit)
    assert f">{document}</textarea>" in posted(client, "json", document, edit="json")


@pytest.mark.usefixtures("operator", "profile")
def test_a_plugin_is_added_and_another_taken_out(client: Client) -> None:
    page = posted(client, "add", plugin="locality", **{"remove-1": "on"})
    assert 'name="/plugins/2/args/by"' in page
    assert "<strong>locality</strong>" in page
    assert "<strong>resource</strong>" not in page


@pytest.mark.usefixtures("operator", "profile")
def test_the_draft_goes_from_the_form_to_json_and_back(client: Client) -> None:
    page = posted(client, "json", **{"/plugins/1/weight": "77"})
    assert '"weight": 77' in page.partition("<textarea")[2].partition("</textarea>")[0]
    changed = json.dumps(BODY).replace('"weight": 20', '"weight": 33')
    assert 'name="/plugins/2/weight" value="33"' in posted(client, "form", changed, edit="json")


@pytest.mark.usefixtures("operator", "profile")
def test_arguments_that_are_all_emptied_are_left_out(client: Client) -> None:
    page = posted(client, "json", **{"/plugins/1/args/cpu": ""})
    assert '"args"' not in page.partition("<textarea")[2].partition("</textarea>")[0]


@pytest.mark.usefixtures("operator")
def test_a_preview_says_what_moves_and_keeps_the_draft(
    client: Client,
    recommend: Callable[..., Scheduled],  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live.catch_up()
    for number in range(3):
        recommend(request_id=f"order-{number}")
    recorder.flush()
    draft = {**POLICY, "fallback": [{"match_labels": {"idc/code": "c"}}]}
    address = "/console/profiles/roomy/"
    fields = {"action": "preview", "document": json.dumps(draft), "/plugins/1/weight": "6", "message": "try c first"}
    page = text_of(client.post(address, fields))
    assert re.search(
        r"of the last 3 decisions, since \d\d-\d\d \d\d:\d\d, would have gone elsewhere</dt><dd>3</dd>", page
    )
    assert '<td class="one-line">a</td><td class="one-line">c</td><td class="number">3</td>' in page
    assert "This profile has decided 3 orders alone. What the last 30 days would have cost says more" in page
    means = client.post(address, fields).context["result"]["means"]
    assert [str(words) for words, _, _ in means] == ["left of the line's bandwidth, under its limit"]
    ((words, then, would_be),) = means
    assert f"<dt>{words}</dt><dd>{then} → <strong>{would_be}</strong></dd>" in page
    monkeypatch.setattr(profiles, "FEW", 3)
    unmoved, same = {**fields, "document": json.dumps(POLICY)}, "So the bills would be the same."
    assert [same in page, same in text_of(client.post(address, unmoved))] == [False, True]
    assert 'name="/plugins/1/weight" value="6"' in page
    assert 'name="message" maxlength="500" value="try c first"' in page
    profile_revise(profile=Profile.objects.get(code="roomy"), body=draft, activate=False)
    assert "<dd>3</dd>" in text_of(client.get(f"{address}?revision=2&preview=1")), "an address to share"


def test_a_viewer_previews_and_finds_no_button_that_is_refused(client: Client, profile: Profile) -> None:
    profile_revise(profile=profile, body={"plugins": []}, activate=False)
    logged_in(client, "viewer")
    page = text_of(client.get(PAGE))
    assert [value in page for value in ('value="preview"', 'value="save"', 'value="activate"')] == [True, False, False]
    for action in ("save", "activate"):
        assert client.post(PAGE, {"action": action, "document": "{}", "number": "2"}).status_code == 403


def test_an_operator_of_one_region_may_not_write_profiles(client: Client, operator: User, profile: Profile) -> None:
    region_create(code="B")
    region_scope_create(user=operator, region="B")
    assert 'value="save"' not in text_of(client.get(PAGE))
    assert client.post(PAGE, {"action": "save", "document": json.dumps(BODY)}).status_code == 403


def test_somebody_of_one_tenant_does_not_see_whose_default_it_is(client: Client, profile: Profile) -> None:
    own = tenant_create(code="own")
    tenant_create(code="other", default_profile="live")
    logged_in(client, "viewer", tenant=own)
    assert "default of" not in text_of(client.get("/console/profiles/"))


@pytest.mark.usefixtures("operator", "profile")
@pytest.mark.parametrize("query", ["revision=99", "revision=x", "revision=-1", "edit=x", "preview="])
def test_nonsense_in_the_address_is_no_error(query: str, client: Client) -> None:
    text_of(client.get(f"{PAGE}?{query}"))


@pytest.mark.usefixtures("operator", "profile")
@pytest.mark.parametrize("number", ["", "99", "x"])
def test_a_revision_that_does_not_exist_is_refused(number: str, client: Client) -> None:
    assert "has no revision" in text_of(client.post(PAGE, {"action": "activate", "number": number}))


@pytest.mark.usefixtures("operator")
def test_a_profile_that_does_not_exist_is_not_found(client: Client) -> None:
    assert client.get("/console/profiles/gone/").status_code == 404


@pytest.mark.usefixtures("operator")
def test_it_takes_a_bounded_number_of_queries(
    client: Client, profile: Profile, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(1, 30):
        body = {"plugins": [*BODY["plugins"][:2], {**BODY["plugins"][2], "weight": number}]}
        profile_revise(profile=profile, body=body, activate=False)
        profile_create(code=f"p-{number}", body=body)
    with django_assert_max_num_queries(8):
        client.get("/console/profiles/")
    with django_assert_max_num_queries(10):
        client.get(PAGE)


@pytest.mark.usefixtures("operator")
def test_two_revisions_stand_side_by_side(client: Client, profile: Profile) -> None:
    """The comparison has all weights, and in words whatever else differs.

    The page offers the revision in force and the newest other one.
    """
    near = BODY["plugins"][2]
    body = {"line_choice": "cheapest", "plugins": [BODY["plugins"][1] | {"args": {"cpu": 0.7}}, near | {"weight": 40}]}
    profile_revise(profile=profile, body=body, message="nearer", activate=False)
    page = client.get(PAGE)
    assert page.context["beside"]["chosen"] == [("one", 1), ("other", 2)]
    assert not page.context["beside"]["rows"]

    shown = client.get(PAGE, {"one": "1", "other": "2"})
    rows = {row["words"]: (row["before"], row["after"]) for row in shown.context["beside"]["rows"]}
    assert rows == {
        "weight of resource": ("5", "5"),
        "weight of near": ("20", "40"),
        "plugin available": ('{"name": "available", "plugin": "available"}', ""),
        "resource: cpu": ("0.8", "0.7"),
        "line_choice": ("", '"cheapest"'),
    }
    assert "<strong>40</strong>" in text_of(shown)
    assert shown.context["beside"]["chosen"] == [("one", 1), ("other", 2)]

    for one, other in (("1", "99"), ("1", ""), ("x", "2")):
        assert not client.get(PAGE, {"one": one, "other": other}).context["beside"]["rows"]
    assert "has no revision 99" in text_of(client.get(PAGE, {"one": "1", "other": "99"}))


def test_what_differs_is_said_in_words() -> None:
    before = {"plugins": [{"name": "a/b", "weight": 1}, {"name": "c", "on_missing": {"score": "worst"}}]}
    after = {"plugins": [{"name": "c", "on_missing": {}}, {"name": "a/b", "weight": 2, "args": {"x": 1}}]}
    assert [(row["pointer"], row["words"]) for row in differing(before, after)] == [
        ("/plugins/a~1b/weight", "weight of a/b"),
        ("/plugins/a~1b/args", "a/b: args"),
        ("/plugins/c/on_missing/score", "c: on_missing: score"),
        ("/plugins#order", "order of the plugins"),
    ]


def test_what_each_plugin_does_is_said_in_the_reader_s_language() -> None:
    """The sentences are those with which the plugins' modules begin, so that docs and console say the same."""
    plugins = load_registry().plugins
    assert {name: say(sentence, None) for name, sentence in SUMMARIES.items()} == {
        name: summary_of(plugin) for name, plugin in plugins.items()
    }
    with translation.override("zh-hans"):
        assert not [name for name, sentence in SUMMARIES.items() if say(sentence, None).isascii()]
