"""An answer in sentences: why the IDC was chosen, why each other one was not, in the reader's language."""

from typing import Any

import pytest

from idcsched.scheduling.prose import paragraphs, reason_why_not, story


def scored(idc: str, rank: int, **contributions: float) -> dict[str, Any]:
    scores = {
        name: {
            "raw": points / 100,
            "normalized": points,
            "weight": 1.0,
            "nominal_weight": 1.0,
            "contribution": points,
            "age_seconds": None,
            "missing": None,
        }
        for name, points in contributions.items()
    }
    return {"rank": rank, "idc": idc, "lines": [], "score": sum(contributions.values()), "scores": scores}


A = scored("a", 1, network_flow=90, resource=20)
B = scored("b", 2, network_flow=40, resource=50)
ANSWER: dict[str, Any] = {
    "summary": "2/3 IDCs fit: 1 draining",
    "idc": {"code": "a", "name": "A", "region": "R"},
    "score": 110.0,
    "candidates": [A, B],
    "margin": {"runner_up": "b", "score": 20.0, "flips": [{"scorer": "resource", "weight": 1.67}]},
    "rejected": [{"idc": "c", "plugin": "available", "code": "x", "reason": "it drains", "detail": {}, "also": []}],
    "evaluated": 3,
    "feasible": 2,
}
ROOM = "Its room (40 % against 90 %) costs it 50 points"
LEAD = "Its room brings it 50 points more than b (90 % against 40 %)."
NOTHING: dict[str, Any] = {"idc": None, "candidates": [], "margin": None, "feasible": 0, "score": None}


def told(**changes: Any) -> list[str]:
    return list(paragraphs(story(ANSWER | changes)))


def test_it_works() -> None:
    assert told() == [
        f"Why a? Of 2 IDCs that fit it has the most points, 110. {LEAD}",
        f"Why not b? {ROOM}; its load wins 30 back; in all it is 20 behind.",
        "Why not c? It does not fit: it drains.",
        "b would draw level only if resource weighed 1.67 instead of 1.",
    ]


def test_its_points_add_up() -> None:
    parts = {
        "network_flow": (90, 40),
        "billing_cost": (60, 30),
        "locality": (5, 25),
        "resource": (9, 9),
        "green": (5, 9),
    }
    one, other = ({name: pair[of] for name, pair in parts.items()} for of in (0, 1))
    _why, why_not, *_ = told(candidates=[scored("a", 1, **one), scored("b", 2, **other)])
    also = "its bill 30 more; green wins 4 back; its distance wins 20 back"
    assert why_not == f"Why not b? {ROOM}, {also}; in all it is 56 behind."


def test_a_scorers_own_note_is_the_reason() -> None:
    noted = scored("b", 2, billing_cost=10)
    noted["scores"]["billing_cost"]["note"] = "8 % are billed"
    _why, why_not, *_ = told(candidates=[scored("a", 1, billing_cost=30), noted])
    assert why_not == "Why not b? 8 % are billed. That costs it 20 points; in all it is 20 behind."


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        pytest.param({"feasible": 1, "margin": None}, "Why a? Of 3 IDCs it is the only one that fits.", id="alone"),
        pytest.param(
            {"tie": {"between": ["a", "b"], "broken_by": "headroom", "values": {}}, "margin": None},
            "Why a? It shares the most points, 110, with b; the tie was broken by headroom.",
            id="a tie",
        ),
        pytest.param(
            {"picked": "near_best", "margin": None},
            "Why a? It was picked by chance among the IDCs that come near to the best.",
            id="near the best",
        ),
        pytest.param(
            {"picked": "planned", "margin": None},
            "Why a? It was planned, together with the other orders of the batch.",
            id="planned",
        ),
        pytest.param(
            {
                "idcs": [
                    {"idc": "a", "lines": [], "machine_count": 2, "score": 1},
                    {"idc": "b", "lines": [], "machine_count": 1, "score": 1},
                ]
            },
            "The machines are spread over 2 IDCs: 2 in a, 1 in b.",
            id="spread",
        ),
        pytest.param(
            {
                **NOTHING,
                "near_misses": [
                    {"idc": "b", "plugin": "x", "code": "x", "need": 2, "free": 1, "short_by": 1, "reason": "1 is left"}
                ],
                "hints": [{"plugin": "x", "hint": "ask for less"}],
            },
            "Nothing fits: 2/3 IDCs fit: 1 draining. Nearest was b: 1 is left. Ask for less.",
            id="nothing",
        ),
    ],
)
def test_the_first_sentence_says_how_it_was_chosen(changes: dict[str, Any], first: str) -> None:
    assert told(**changes)[0] == first


def test_one_with_as_many_points_lost_the_tie() -> None:
    tie = {"between": ["a", "b"], "broken_by": "headroom", "values": {}}
    equal = scored("b", 2, network_flow=110)
    assert "Why not b? It has as many points; the tie was broken by headroom." in told(candidates=[A, equal], tie=tie)


def test_one_with_more_points_was_not_picked() -> None:
    better = scored("b", 1, network_flow=140)
    assert "Why not b? It has 30 points more, but was not picked." in told(candidates=[better, A], picked="near_best")


def test_the_long_tail_is_left_out_and_can_be_asked_for() -> None:
    others = [scored(f"b{number}", number, network_flow=number) for number in range(9)]
    text = " ".join(told(candidates=[A, *others]))
    assert (text.count("Why not b"), "b8" in text) == (3, False)
    assert str(reason_why_not(story(ANSWER, candidates=[A, *others]), "b8")).startswith("Why not b8? Its room")
    assert reason_why_not(story(ANSWER), "elsewhere") is None
