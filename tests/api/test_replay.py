"""A recorded decision can be replayed: with its own inputs the answer is the same, with other weights another one."""

import zlib
from collections.abc import Callable

import msgspec
import pytest

from idcsched.framework.rules import VERSION
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api

ASKED = {"request_id": "order-8812", "region": "A", "profile": "seed-example", "explain": "full"}


def asked(portal: Api, **extra: object) -> str:
    return str(portal.schedule(**{**ASKED, **extra})["decision_id"])


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param({}, id="as it is"),
        pytest.param({"explain": "summary", "top": 1}, id="less explained"),
        pytest.param({"exclude": ["e"]}, id="naming an IDC of another region"),
        pytest.param({"hypothetical": {"taints": [{"idc": "f", "key": "k", "effect": "NoSchedule"}]}}, id="what if"),
        pytest.param({"weights": {"x": 5}}, id="with weights of its own"),
    ],
)
def test_it_works(seed: Api, portal: Api, extra: dict[str, object]) -> None:
    """A replay gives the same candidates, even after an IDC and the profile were changed."""
    made = asked(portal, **extra)
    seed.call("PATCH", "/idcs/d/", {"status": "offline"}, status=200)
    seed.call("PATCH", "/profiles/seed-example/", {"bgp_substitutes": True}, status=200)

    again = portal.post(f"/decisions/{made}/replay/", {}, status=200)

    assert (again["identical"], again["same_idc"], again["revision"]) == (True, True, 1)
    assert again["again"]["candidates"] == again["then"]["candidates"]


def test_it_says_by_which_rules(seed: Api, portal: Api) -> None:
    """A record of an earlier version is decided by today's rules, and the answer says what they changed."""
    made = asked(portal)
    recorder.settle()
    assert portal.post(f"/decisions/{made}/replay/", {}, status=200)["rules"] == {
        "then": VERSION,
        "now": VERSION,
        "changed": [],
    }
    row = Decision.objects.get(pk=made)
    document = msgspec.msgpack.decode(zlib.decompress(bytes(row.inputs)))
    del document["rules"]
    Decision.objects.filter(pk=made).update(inputs=zlib.compress(msgspec.msgpack.encode(document)))

    rules = portal.post(f"/decisions/{made}/replay/", {}, status=200)["rules"]

    assert (rules["then"], rules["now"]) == (1, VERSION)
    assert "distances are rounded to a metre" in rules["changed"]


def test_a_record_that_lacks_newer_fields_is_identical_all_the_same(seed: Api, portal: Api) -> None:
    made = asked(portal)
    recorder.settle()
    row = Decision.objects.get(pk=made)
    older = {name: value for name, value in row.answer.items() if name != "worth"}
    Decision.objects.filter(pk=made).update(answer=older)
    assert portal.post(f"/decisions/{made}/replay/", {}, status=200)["identical"]

    Decision.objects.filter(pk=made).update(answer={name: older[name] for name in older if name != "tie"})
    assert not portal.post(f"/decisions/{made}/replay/", {}, status=200)["identical"], "what it had then counts"


def test_on_the_data_of_now(seed: Api, portal: Api) -> None:
    made = asked(portal)
    seed.call("PATCH", "/idcs/d/", {"status": "offline"}, status=200)

    again = portal.post(f"/decisions/{made}/replay/", {"data": "now"}, status=200)

    assert (again["then"]["idc"]["code"], again["again"]["idc"]["code"]) == ("d", "b")
    assert (again["same_idc"], again["identical"]) == (False, False)


def test_with_other_weights(seed: Api, portal: Api) -> None:
    made = asked(portal)

    again = portal.post(f"/decisions/{made}/replay/", {"weights": {"x": 1, "y": 1}}, status=200)

    assert (again["then"]["score"], again["again"]["score"]) == (220.0, 4.0)


def test_with_another_profile(seed: Api, portal: Api) -> None:
    made = asked(portal)
    seed.post("/profiles/", {"code": "plain", "plugins": []}, status=201)

    again = portal.post(f"/decisions/{made}/replay/", {"profile": "plain"}, status=200)

    assert (again["profile"], again["again"]["feasible"]) == ("plain", 4)


def test_inputs_that_were_not_kept(seed: Api, portal: Api, settings: pytest.FixtureRequest) -> None:
    settings.RECORD_INPUTS = 0  # type: ignore[attr-defined]

    assert portal.refused("POST", f"/decisions/{asked(portal)}/replay/", {}, status=409) == ("inputs_not_kept", [])


def test_refusals(seed: Api, portal: Api, admin: Api) -> None:
    made = asked(portal)
    of_another_tenant = asked(admin)

    for body, status, code in (
        ({"profile": "nope"}, 400, "unknown_profile"),
        ({"weights": {"zz": 1}}, 400, "unknown_scorer"),
        ({"data": "tomorrow"}, 400, "invalid_choice"),
        ({"colour": 1}, 400, "unknown_field"),
    ):
        assert portal.refused("POST", f"/decisions/{made}/replay/", body, status=status)[0] == code
    assert portal.refused("POST", f"/decisions/{of_another_tenant}/replay/", {}, status=404)[0] == "not_found"


def test_nothing_sent_is_nothing_changed(seed: Api, portal: Api) -> None:
    """A replay needs no body, and then no content type; with a body the type must be JSON."""
    path = f"/decisions/{asked(portal)}/replay/"
    assert portal.raw("POST", path).json()["identical"]
    assert portal.raw("POST", path, "{}", content_type="").status_code == 415
    assert portal.raw("POST", path, "{}", content_type="text/plain").status_code == 415


def test_a_viewer_may_replay_but_not_schedule(seed: Api, portal: Api, api: Callable[..., Api]) -> None:
    made = asked(portal)

    assert api("viewer").post(f"/decisions/{made}/replay/", {}, status=200)["identical"]
    assert Decision.objects.count() == 1, "a replay is no decision"


def test_the_whole_explanation_page_by_page(seed: Api, portal: Api) -> None:
    """All candidates can be read afterwards, even if the answer showed none and an IDC has gone offline since."""
    made = asked(portal, explain="none")
    seed.call("PATCH", "/idcs/d/", {"status": "offline"}, status=200)

    candidates = portal.get(f"/decisions/{made}/candidates/?limit=2")
    rest = portal.get(f"/decisions/{made}/candidates/?limit=2&offset=2")
    rejected = portal.get(f"/decisions/{made}/rejected/")

    assert [(each["rank"], each["idc"]) for each in candidates["results"]] == [(1, "d"), (2, "b")]
    assert (candidates["count"], candidates["previous"]) == (3, None)
    assert candidates["next"].endswith(f"/decisions/{made}/candidates/?limit=2&offset=2")
    assert [each["idc"] for each in rest["results"]] == ["a"]
    assert [(each["idc"], each["code"]) for each in rejected["results"]] == [("c", "untolerated_taint")]
    assert portal.get(f"/decisions/{made}/stale/")["results"] == []


def test_pages_in_the_language_of_the_reader(seed: Api, portal: Api) -> None:
    made = asked(portal)
    (entry,) = portal.get(f"/decisions/{made}/rejected/", accept_language="zh-hans")["results"]
    assert entry["reason"].startswith("污点 ")


@pytest.mark.parametrize("name", ["candidates", "rejected", "stale"])
def test_pages_of_inputs_that_were_not_kept(seed: Api, portal: Api, settings: pytest.FixtureRequest, name: str) -> None:
    settings.RECORD_INPUTS = 0  # type: ignore[attr-defined]
    path = f"/decisions/{asked(portal)}/{name}/"
    assert portal.refused("GET", path, status=409) == ("inputs_not_kept", [])
