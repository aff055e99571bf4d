"""Input that nobody sends in earnest is refused with a fitting error, never a 500, and reveals nothing."""

import json
from collections.abc import Callable
from itertools import product

import pytest
from django.contrib import admin as administration
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.placement.signing import signed_headers
from tests.api.conftest import Api

NUL = "%00"


@pytest.fixture
def provider(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_VM", "a secret")
    for code, ref in (("vm", "env:PROVIDER_VM"), ("bare", ""), ("lost", "env:PROVIDER_GONE")):
        admin.post("/providers/", {"code": code, "kind": "simulated", "secret_ref": ref}, status=201)


SIGNATURES: dict[str, dict[str, str]] = {
    "no signature": {"webhook-id": "", "webhook-timestamp": "", "webhook-signature": ""},
    "another secret": {},
    "a time of 309 digits": {"webhook-timestamp": "9" * 309},
    "a time of 5,000 digits": {"webhook-timestamp": "9" * 5000},
    "a time that is none": {"webhook-timestamp": "-1e3"},
    "an id that is no text": {"webhook-id": "\u00ff\u00fe"},
    "a signature that is none": {"webhook-signature": "\u00ff"},
}


@pytest.mark.usefixtures("provider")
def test_outcomes_tell_nobody_which_providers_there_are(anonymous: Api, subtests: pytest.Subtests) -> None:
    for case, body in product(SIGNATURES, ("{}", "{", '{"data": {"token": 1}}')):
        headers = signed_headers("m-1", timezone.now(), body.encode(), [b"another"]) | SIGNATURES[case]
        headers.pop("Content-Type")
        answers = []
        for code in ("vm", "bare", "lost", "nobody", NUL, "x" * 500):
            response = anonymous.raw("POST", f"/providers/{code}/outcomes/", body, **headers)
            document = json.loads(response.content)
            answers.append((response.status_code, document["code"], document["detail"]))
        with subtests.test(case, body=body):
            assert {answer[:2] for answer in answers} == {(400, "invalid_signature")}
            assert len(set(answers)) == 1


@pytest.mark.parametrize("path", ["/changes/", "/decisions/"])
def test_a_cursor_that_nobody_has_given(admin: Api, path: str, subtests: pytest.Subtests) -> None:
    for cursor in (NUL, "", "%20", "!!!!", "cD0", "cD0xMjM%3D%00", "cD14", "eD0x"):
        with subtests.test(cursor):
            assert admin.refused("GET", f"{path}?cursor={cursor}", status=400)[0] == "invalid_cursor"


def test_those_that_were_given_lead_on(admin: Api) -> None:
    for number in range(5):
        admin.post("/tenants/", {"code": f"t{number}"}, status=201)
    first = admin.get("/changes/?limit=2")
    second = admin.get(first["next"].partition("/api/v1")[2])
    assert admin.get(second["previous"].partition("/api/v1")[2])["results"] == first["results"]
    assert second["next"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("application/json; charset=utf-8", 200),
        ('application/json; charset="UTF-8"', 200),
        ("application/json;charset=us-ascii", 200),
        ("application/json; version=1", 200),
        ("application/json; charset=utf-16", 415),
        ("application/json; charset=latin-1", 415),
        ("application/json; charset=", 415),
        ("application/json; charset=%00", 415),
    ],
)
def test_bodies_are_utf_8(seed: Api, said: str, status: int) -> None:
    body = json.dumps({"region": "A", "profile": "seed-example"})
    assert seed.raw("POST", "/schedule/", body, content_type=said).status_code == status
    assert seed.raw("PATCH", "/idcs/a/", '{"name": "A"}', content_type=said).status_code == status


TINY = (5e-324, 1e-300, 1e-9)


AMOUNTS = ("bandwidth_mbps", "cpu", "memory_gib", "disk_gib", "gpu")


@pytest.mark.parametrize("action", ["recommend", "reserve", "provision"])
def test_an_amount_of_next_to_nothing(seed: Api, portal: Api, action: str, subtests: pytest.Subtests) -> None:
    order = {"region": "A", "profile": "seed-example", "action": action}
    for name, amount in product(AMOUNTS, TINY):
        machines = [{"count": 1}, {name: amount}]
        with subtests.test(name, amount=amount):
            told = portal.refused("POST", "/schedule/", {**order, "machines": machines}, status=400)
            assert told == ("out_of_range", [f"/machines/1/{name}"])
    assert portal.get("/placements/")["count"] == 0


@pytest.mark.parametrize("amount", [0, 0.001, 1])
def test_nothing_and_little_are_amounts(seed: Api, portal: Api, amount: float) -> None:
    machines = [{"count": 1, "bandwidth_mbps": amount}]
    portal.schedule(region="A", profile="seed-example", machines=machines)


ZONELESS = ("2099-01-01T00:00:00", "2099-01-01 00:00", "2099-01-01T00:00:00.5")
BEYOND = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00")
"""Times of a year 10000 or 0 in UTC: no database keeps them."""
TAINT = {"idc": "a", "key": "k", "effect": "NoSchedule"}
AFFINITY = {"selector": {"match_labels": {"idc/tier": "edge"}}, "kind": "prefer", "weight": 1}


@pytest.mark.parametrize("name", ["starts_at", "ends_at"])
@pytest.mark.parametrize(("path", "document"), [("/taints/", TAINT), ("/affinities/", AFFINITY)])
def test_a_time_in_a_body_has_its_zone(seeded: Api, path: str, document: dict[str, object], name: str) -> None:
    made = seeded.post(path, document, status=201)
    member = f"{path}{made['id']}/"
    for times, code in ((ZONELESS, "zone_required"), (BEYOND, "out_of_range")):
        for time in times:
            assert seeded.refused("POST", path, {**document, name: time}, status=400) == (code, [f"/{name}"])
            assert seeded.refused("POST", path, [{**document, name: time}], status=400) == (code, [f"/0/{name}"])
            assert seeded.refused("PATCH", member, {name: time}, status=400) == (code, [f"/{name}"])
    assert seeded.get(member)[name] == made[name]


@pytest.mark.parametrize("ends", [None, "2098-01-01T00:00:00Z"])
def test_so_has_the_end_of_a_token(admin: Api, user: Callable[[str], User], ends: str | None) -> None:
    document = {"user": user("portal").username, "name": "n"}
    made = admin.post("/tokens/", {**document, "expires_at": ends}, status=201)
    member = f"/tokens/{made['id']}/"
    for times, code in ((ZONELESS[::2], "zone_required"), (BEYOND, "out_of_range")):
        for time in times:
            for method, path, body in (
                ("POST", "/tokens/", document),
                ("PATCH", member, {}),
                ("POST", f"{member}rotate/", {}),
            ):
                said = admin.refused(method, path, {**body, "expires_at": time}, status=400)
                assert said == (code, ["/expires_at"]), (method, path, time)
    assert admin.get(member) == {**made, "token": None}


@pytest.fixture
def page(admin: Api) -> Client:
    client = Client(SERVER_NAME="localhost", raise_request_exception=False)
    client.force_login(User.objects.get(username="admin"))
    return client


def addresses() -> list[str]:
    """Return addresses with a NUL in them: of each model's pages in the admin, its search and each of its filters."""
    found = []
    for model, pages in administration.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        filters = [each[0] if isinstance(each, tuple) else each for each in pages.list_filter]
        names = [name for name in filters if isinstance(name, str)]
        parameters = ["q", "o", "p", "nothing", *names, *(f"{name}__exact" for name in names)]
        parameters += [f"{name}__id__exact" for name in names]
        found += [f"{path}?{parameter}={NUL}" for parameter in parameters]
        found += [f"{path}{NUL}/change/", f"{path}{NUL}/delete/", f"{path}{NUL}/history/", f"{path}?{NUL}=1"]
    return found


def test_nul_in_the_admin(page: Client) -> None:
    asked = "term=a&app_label=accounts&model_name=apitoken&field_name=user"
    others = [
        *(f"/admin/autocomplete/?{asked}".replace(f"={value}", f"={NUL}") for value in ("a&", "accounts", "apitoken")),
        f"/admin/autocomplete/?{asked.replace('=a&', f'={NUL}&')}",
        f"/admin/login/?next={NUL}",
        f"/admin/{NUL}/",
    ]
    wrong = {path: page.get(path).status_code for path in [*addresses(), *others]}
    assert not {path: status for path, status in wrong.items() if status >= 500}


@pytest.mark.parametrize("key", ["\x00", "9" * 30])
def test_a_row_that_is_none_in_an_action(page: Client, key: str) -> None:
    for model, pages in administration.site._registry.items():
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        for action in ("delete_selected", *(each for each in pages.actions or () if isinstance(each, str)), "\x00"):
            sent = {"action": action, "_selected_action": [key]}
            assert page.post(path, sent).status_code < 500, (path, action)
