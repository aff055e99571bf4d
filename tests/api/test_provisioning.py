"""Machines over the API: ordered, seen on their way, tried again, given back."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from idcsched.placement.models import Event, Machine, MachineState
from idcsched.placement.signing import signed_headers
from tests.api.conftest import Api
from tests.provisioning.starting import at_once, reconfigure, work, work_once

ORDER = {
    "region": "A",
    "profile": "seed-example",
    "action": "provision",
    "request_id": "order-1",
    "machines": [{"count": 2}],
}


@pytest.fixture
def equipped(seed: Api) -> Api:
    """The seed example with the same provider in IDCs a to d."""
    seed.post("/providers/", {"code": "vm", "kind": "simulated", "config": at_once()}, status=201)
    idcs = [{"code": code, "provider": "vm"} for code in "abcd"]
    seed.call("PATCH", "/idcs/", idcs, status=200)
    return seed


@pytest.fixture
def placement(equipped: Api, portal: Api) -> Any:
    return portal.post("/schedule/", ORDER, status=202)


def test_it_works(placement: Any, portal: Api) -> None:
    assert (placement["state"], placement["idc"], placement["action"]) == ("provisioning", "d", "provision")
    assert [machine["state"] for machine in placement["machines"]] == ["pending", "pending"]
    work()
    address = f"/placements/{placement['id']}/"
    active = portal.get(address)
    assert (active["state"], active["attempts"], active["needs_attention"]) == ("active", [], False)
    for machine in active["machines"]:
        assert machine.keys() == {"id", "name", "state", "provider_id", "addresses", "error"}
        assert (machine["state"], machine["error"]) == ("active", None)
    released = portal.post(f"{address}release/", None, status=200)
    assert released["state"] == "releasing"
    work()
    assert portal.get(address)["state"] == "released"
    assert [event["state"] for event in portal.get(f"{address}events/")["results"]] == [
        "reserved", "provisioning", "active", "releasing", "released",
    ]  # fmt: skip


def test_the_answer_says_where_it_is_to_be_found(equipped: Api, portal: Api) -> None:
    response = portal.client.post("/api/v1/schedule/", ORDER, content_type="application/json")
    assert response.status_code == 202
    assert response["Location"] == f"/api/v1/placements/{response.json()['id']}/"


def test_a_reservation_and_a_recommendation_are_provisioned(equipped: Api, portal: Api) -> None:
    reserved = portal.post("/schedule/", {**ORDER, "action": "reserve"}, status=201)
    begun = portal.post(f"/placements/{reserved['id']}/provision/", None, status=202)
    assert (begun["state"], begun["version"], begun["expires_at"]) == ("provisioning", 2, None)
    token = portal.post("/schedule/", {**ORDER, "action": "recommend"}, status=200)["commit_token"]
    commit = {"commit_token": token, "action": "provision"}
    committed = portal.post("/placements/", commit, status=202)
    assert committed["state"] == "provisioning"
    assert portal.post("/placements/", commit, status=200)["id"] == committed["id"]


def test_the_decision_says_which_candidate_was_taken_after_a_fall(equipped: Api, portal: Api) -> None:
    equipped.post("/providers/", {"code": "refuses", "kind": "simulated", "config": at_once(refused=1.0)}, status=201)
    equipped.call("PATCH", "/idcs/d/", {"provider": "refuses"}, status=200)
    begun = portal.post("/schedule/", ORDER, status=202)
    work()
    active = portal.get(f"/placements/{begun['id']}/")
    taken = {each: portal.get(f"/decisions/{each}/")["taken"] for each in (begun["decision_id"], active["decision_id"])}
    assert taken == {
        begun["decision_id"]: {
            "idc": "d",
            "rank": 1,
            "placement": begun["id"],
            "because": None,
            "passed_over": [],
        },
        active["decision_id"]: {
            "idc": "b",
            "rank": 2,
            "placement": begun["id"],
            "because": "provider_failed",
            "passed_over": [{"idc": "d", "rank": 1, "because": "provider_failed"}],
        },
    }


def test_a_failed_one_lists_its_attempts_and_is_tried_again(equipped: Api, portal: Api) -> None:
    reconfigure("vm", refused=1.0)
    address = f"/placements/{portal.post('/schedule/', ORDER, status=202)['id']}/"
    work()
    failed = portal.get(address)
    assert (failed["state"], failed["machines"]) == ("failed", [])
    assert [(attempt["idc"], attempt["state"]) for attempt in failed["attempts"]] == [
        ("d", "failed"), ("b", "failed"), ("a", "failed"),
    ]  # fmt: skip
    reconfigure("vm")
    assert portal.post(f"{address}retry/", None, status=202)["state"] == "provisioning"
    assert portal.refused("POST", f"{address}retry/", None, status=409) == ("invalid_transition", [])
    work()
    assert portal.get(address)["state"] == "active"


def test_where_nobody_starts_machines_it_says_so(seed: Api, portal: Api) -> None:
    problem = portal.post("/schedule/", ORDER, status=409)
    assert (problem["code"], problem["decision"]["idc"]["code"]) == ("no_provider", "d")


def test_the_reason_given_is_kept(equipped: Api, portal: Api) -> None:
    headers = {"X_Change_Message": "for the match"}
    placed = portal.post("/schedule/", {**ORDER, "action": "reserve"}, status=201, **headers)
    portal.post(f"/placements/{placed['id']}/provision/", None, status=202, **headers)
    messages = [event.detail["message"] for event in Event.objects.filter(placement=placed["id"])]
    assert messages == ["for the match", "for the match"]


def test_more_machines_need_no_more_queries(
    equipped: Api, portal: Api, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 1, 5, 9):
        portal.post("/schedule/", {**ORDER, "machines": [{"count": count}]}, status=202)
    with django_assert_num_queries(5):
        listed = portal.get("/placements/")["results"]
    assert sorted(len(each["machines"]) for each in listed) == [1, 1, 5, 9]


def test_kinds_are_told_with_what_they_can_be_told(portal: Api) -> None:
    kinds = {each["kind"]: each for each in portal.get("/provider_kinds/")["results"]}
    assert "Starts no real machines" in kinds["simulated"]["description"]
    assert kinds["simulated"]["config"]["$ref"] == "#/$defs/SimulatedConfig"


def test_a_provider_in_use_is_kept(equipped: Api) -> None:
    assert equipped.refused("DELETE", "/providers/vm/", status=409) == ("in_use", [])
    changed = equipped.call("PATCH", "/providers/vm/", {"enabled": False}, status=200)
    assert changed["enabled"] is False


@pytest.mark.parametrize(("method", "body", "status"), [("DELETE", None, 204), ("PATCH", {"code": "new"}, 200)])
def test_a_provider_is_free_once_its_machines_are_on_record_only(
    equipped: Api, portal: Api, placement: Any, method: str, body: Any, status: int
) -> None:
    """For an hour after its machines are gone a provider can be neither renamed nor deleted, since it may still create
    them late and they are looked up there; the refusal says so.
    """
    work()
    equipped.call("PATCH", "/idcs/", [{"code": code, "provider": ""} for code in "abcd"], status=200)
    details = [equipped.call(method, "/providers/vm/", body, status=409)["detail"]]
    portal.post(f"/placements/{placement['id']}/release/", None, status=200)
    work()
    details.append(equipped.call(method, "/providers/vm/", body, status=409)["detail"])
    names = ", ".join(machine["name"] for machine in placement["machines"])
    assert details[0] == f"in use by {names}"
    assert details[1].startswith("these machines are gone, but looked up for about an hour")
    assert details[1].endswith(f": {names}")

    Machine.objects.update(since=timezone.now() - timedelta(hours=1))
    work_once([MachineState.DELETED])
    equipped.call(method, "/providers/vm/", body, status=status)


def outcome(api: Api, token: str, secret: str) -> Any:
    content = json.dumps({"type": "machine.up", "data": {"token": token}}).encode()
    headers = signed_headers("m-1", timezone.now(), content, [secret.encode()])
    headers.pop("Content-Type")
    return api.raw("POST", "/providers/vm/outcomes/", content, **headers)


def test_a_provider_says_itself_that_something_has_happened(
    equipped: Api, portal: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_VM", "a secret")
    equipped.call("PATCH", "/providers/vm/", {"secret_ref": "env:PROVIDER_VM"}, status=200)
    placed = portal.post("/schedule/", ORDER, status=202)
    token, nobody = placed["machines"][0]["id"], Api(Client(SERVER_NAME="localhost"))
    assert outcome(nobody, token, "a secret").status_code == 204
    forged = outcome(nobody, token, "another")
    assert (forged.status_code, json.loads(forged.content)["code"]) == (400, "invalid_signature")
    assert outcome(nobody, "00000000-0000-0000-0000-000000000000", "a secret").status_code == 404
    assert outcome(nobody, "x", "a secret").status_code == 400


@pytest.mark.parametrize("kind", ["webhook", "libcloud", "openstack"])
def test_no_provider_keeps_a_secret_in_its_address(admin: Api, kind: str) -> None:
    more = {"webhook": {}, "libcloud": {"access_key": "AKIA"}, "openstack": {"username": "u", "project": "p"}}[kind]
    config = {"url": "https://cloud.example.com/v3?api_key=s3cret", **more}
    refused = admin.refused("POST", "/providers/", {"code": "vm", "kind": kind, "config": config}, status=400)
    assert refused == ("secret_in_config", ["/config/url"])
