"""`decisions/…/why/` says why an order went where it did, and why not elsewhere, in the words of the console."""

from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.services import user_create
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api

ASKED = {"request_id": "order-8812", "region": "A", "profile": "seed-example", "explain": "full"}


def asked(portal: Api, **extra: object) -> str:
    return str(portal.schedule(**{**ASKED, **extra})["decision_id"])


def texts(sentences: list[dict[str, Any]]) -> list[str]:
    return [sentence["text"] for sentence in sentences]


def test_it_works(seed: Api, portal: Api) -> None:
    why = portal.get(f"/decisions/{asked(portal)}/why/?not=a")
    assert why["idc"] == "d"
    assert texts(why["sentences"])[0] == "d has the most points of all that fit: 220."
    assert why["sentences"][0]["template"] == "{idc} has the most points of all that fit: {points}."
    assert why["sentences"][0]["params"] == {"idc": "d", "points": "220"}
    assert why["why_not"] == {
        "idc": "a",
        "fits": True,
        "rank": 3,
        "level_at": {},
        "sentences": [
            {
                "text": "It is 110 points behind d; y costs it 100.",
                "template": "It is {points} points behind {winner}; {scorer} costs it {most}.",
                "params": {"points": "110", "winner": "d", "scorer": "y", "most": "100"},
            },
            {
                "text": "No other weight of a single scorer would bring it level.",
                "template": "No other weight of a single scorer would bring it level.",
                "params": {},
            },
        ],
    }


def test_without_a_question_there_is_no_answer_to_it(seed: Api, portal: Api) -> None:
    assert portal.get(f"/decisions/{asked(portal)}/why/")["why_not"] is None


def test_one_that_does_not_fit_has_its_reason_and_the_rank_that_it_would_have(seed: Api, portal: Api) -> None:
    why_not = portal.get(f"/decisions/{asked(portal)}/why/?not=c")["why_not"]
    assert (why_not["fits"], why_not["rank"], why_not["level_at"]) == (False, 1, {})
    assert texts(why_not["sentences"]) == [
        "It does not fit: untolerated taint disabled=true:NoSchedule.",
        "If it fitted, no IDC would have more points.",
    ]


def test_of_one_that_the_order_was_not_about_it_says_that(seed: Api, portal: Api) -> None:
    why_not = portal.get(f"/decisions/{asked(portal)}/why/?not=e")["why_not"]
    assert (why_not["fits"], why_not["rank"]) == (False, None)
    assert texts(why_not["sentences"]) == ["e is none of the 4 IDCs that the order was about."]


def test_the_chosen_one_was_chosen(seed: Api, portal: Api) -> None:
    why_not = portal.get(f"/decisions/{asked(portal)}/why/?not=d")["why_not"]
    assert (why_not["fits"], why_not["rank"], texts(why_not["sentences"])) == (True, 1, ["d was chosen."])


def test_where_nothing_fits_it_says_what_would_have_helped(seed: Api, portal: Api) -> None:
    made = asked(portal, only=["c"])
    why = portal.get(f"/decisions/{made}/why/?not=c")
    assert why["idc"] is None
    assert texts(why["sentences"])[0].startswith("Nothing fits: 0/4 IDCs fit")
    assert not why["why_not"]["fits"]


@pytest.mark.parametrize(
    ("query", "code", "pointer"),
    [
        ("?not=nowhere", "unknown_idc", "?not"),
        ("?no=a", "unknown_parameter", "?no"),
        ("?not=a&not=b", "given_twice", "?not"),
    ],
)
def test_what_can_not_be_answered_is_refused(seed: Api, portal: Api, query: str, code: str, pointer: str) -> None:
    problem = portal.get(f"/decisions/{asked(portal)}/why/{query}", status=400)
    assert [(error["code"], error["pointer"]) for error in problem["errors"]] == [(code, pointer)]


def test_it_is_said_in_the_reader_s_language(seed: Api, portal: Api) -> None:
    made = asked(portal)
    why = portal.call("GET", f"/decisions/{made}/why/?not=a", Accept_Language="zh-hans")
    assert why["why_not"]["sentences"][0]["text"] == "它比 d 少 110 分，其中y少 100 分。"
    assert (
        why["why_not"]["sentences"][0]["template"] == "It is {points} points behind {winner}; {scorer} costs it {most}."
    )


def test_whoever_may_not_see_the_decision_is_told_nothing(seed: Api, portal: Api) -> None:
    made = asked(seed)  # of no tenant
    seed.get(f"/decisions/{made}/why/?not=a")
    portal.get(f"/decisions/{made}/why/?not=a", status=404)


def test_the_console_says_the_same(seed: Api, portal: Api, client: Client) -> None:
    made = asked(portal)
    client.force_login(user_create(username="reader", role="viewer"))
    for idc in ("a", "c", "d", "e"):
        page = client.get(f"/console/decisions/{made}/?not={idc}").content.decode()
        for sentence in portal.get(f"/decisions/{made}/why/?not={idc}")["why_not"]["sentences"]:
            assert sentence["text"] in page.replace("<b>", "").replace("</b>", "")


def test_a_record_without_its_inputs_says_what_the_answer_has(seed: Api, portal: Api) -> None:
    made = asked(portal)
    recorder.settle()
    Decision.objects.filter(pk=made).update(inputs=None)
    why_not = portal.get(f"/decisions/{made}/why/?not=c")["why_not"]
    assert texts(why_not["sentences"]) == ["It does not fit: untolerated taint disabled=true:NoSchedule."]
    assert why_not["rank"] is None
