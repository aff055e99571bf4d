"""An answer in sentences, in money, or in points where there is no price; each of their numbers is in the answer."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given

from idcsched.framework.testing import Outcome
from idcsched.scheduling.in_words import amount
from idcsched.scheduling.money_lens import MoneyLens, NoMoney, money_lens
from idcsched.scheduling.verdict import level_weights, verdict, why_not_chosen, why_rejected
from tests.scheduling.test_money_lens import BILLED, CHEAP, DEAR, SCORED, decided, priced

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
NOTHING_FITS: dict[str, Any] = {"idc": None, "summary": "0/1 IDCs fit: 1 draining", "near_misses": []}


def documents(outcome: Outcome, **bills: float) -> tuple[dict[str, Any], MoneyLens | NoMoney]:
    """The answer as in a record, with bills for some of the candidates, and its money lens."""
    answer: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(outcome.answer))
    for candidate in answer["candidates"]:
        candidate.pop("bill", None)
        if candidate["idc"] in bills:
            candidate["bill"] = bill(bills[candidate["idc"]])
    return answer, money_lens(answer["candidates"], profile=outcome.decision.profile)


def bill(per_month: float, before: float = 7001.0, method: str = "exact") -> dict[str, Any]:
    """A bill as an answer has it."""
    line = {"per_month": per_month, "before": before, "after": before + per_month, "method": method}
    return {**line, "currency": "CNY", "counted": None, "history_days": 30, "lines": [{"line": "ct", **line}]}


def told(answer: dict[str, Any], lens: MoneyLens | NoMoney) -> list[str]:
    return [" ".join(map(str, paragraph)) for paragraph in verdict(answer, lens, currency="CNY")]


def test_it_works() -> None:
    answer, lens = documents(decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED), cheap=2000.0, dear=5000.0)
    assert told(answer, lens) == [
        (
            "cheap adds least to the bill of all that fit: 2,000 CNY a month. "
            "With the order, the last 30 days on ct would have cost 9,001 CNY instead of 7,001."
        ),
        (
            "With everything else weighed in, it is ahead of dear, the next best, by the worth of 2,867 CNY a month. "
            "2 of 2 IDCs fit."
        ),
    ]


@pytest.mark.parametrize(
    ("changes", "bills", "sentence"),
    [
        pytest.param(
            {},
            {"cheap": 2000.0, "dear": 1500.0},
            "cheap adds 2,000 CNY a month to the bill; dear would add least, 1,500 CNY a month.",
            id="another one adds less",
        ),
        pytest.param({"feasible": 1}, {"cheap": 2000.0}, "cheap is the only one of 2 IDCs that fits.", id="alone"),
        pytest.param({"picked": "near_best"}, {}, "cheap was picked by chance among", id="near the best"),
        pytest.param({"picked": "planned"}, {}, "cheap was planned, together with", id="planned"),
        pytest.param({}, {}, "cheap has the most points of all that fit: 6,100.", id="without a bill"),
        pytest.param(
            {"tie": {"between": ["cheap", "dear"], "broken_by": "headroom"}},
            {},
            "It shares the most points with dear; the tie was broken by headroom.",
            id="a tie",
        ),
        pytest.param(
            {"idcs": [{"idc": "cheap", "machine_count": 2}, {"idc": "dear", "machine_count": 1}]},
            {},
            "The machines are spread over 2 IDCs: 2 in cheap, 1 in dear.",
            id="spread",
        ),
        pytest.param(NOTHING_FITS, {}, "Nothing fits: 0/1 IDCs fit: 1 draining.", id="nothing fits"),
        pytest.param(
            {
                **NOTHING_FITS,
                "near_misses": [
                    {"idc": "a", "code": "not_enough_bandwidth", "short_by": 229.0, "reason": "too little"}
                ],
            },
            {},
            "With 229 Mbps more on a it would have fitted.",
            id="a near miss",
        ),
    ],
)
def test_it_says_why(changes: dict[str, Any], bills: dict[str, float], sentence: str) -> None:
    answer, lens = documents(decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED), **bills)
    assert sentence in " ".join(told(answer | changes, lens))


@pytest.mark.parametrize(
    ("of_winner", "sentence"),
    [
        pytest.param(
            bill(2000.0, method="weekly"),
            "By the week that is known of ct, a month costs 9,001 CNY with the order instead of 7,001.",
            id="by the week that is known",
        ),
        pytest.param(
            bill(0.0), "The last 30 days on ct would have cost 7,001 CNY with the order as without it.", id="no more"
        ),
        pytest.param(
            bill(0.0, method="weekly"),
            "By the week that is known of ct, a month costs 7,001 CNY with the order as without it.",
            id="no more by the week",
        ),
        pytest.param(
            bill(2000.0, before=0.0), "Without the order, the last 30 days on ct would have cost nothing.", id="first"
        ),
        pytest.param(
            bill(2000.0, before=0.0, method="weekly"),
            "By the week that is known of ct, a month costs nothing without the order.",
            id="first by the week",
        ),
        pytest.param(bill(0.0, before=0.0), "", id="nothing at all"),
        pytest.param(bill(0.0, method="fixed"), "The price of ct is the same whatever flows.", id="a flat rate"),
        pytest.param(
            {**bill(2000.0), "lines": [{"line": "ct"}, {"line": "cu"}]},
            "With the order, the last 30 days on ct, cu would have cost 9,001 CNY instead of 7,001.",
            id="two lines",
        ),
    ],
)
def test_no_amount_is_said_twice(of_winner: dict[str, Any], sentence: str) -> None:
    answer, lens = documents(
        decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED), cheap=of_winner["per_month"], dear=5000.0
    )
    answer["candidates"][0]["bill"] = of_winner
    first, per_month = told(answer, lens)[0], of_winner["per_month"]
    least = f"cheap adds least to the bill of all that fit: {per_month:,.0f} CNY a month."
    assert first == " ".join(filter(None, [least if per_month else "cheap adds nothing to the bill.", sentence]))
    amounts = [number for number in NUMBER.findall(first) if number != "30"]
    assert len(amounts) == len(set(amounts))


def test_where_no_bill_is_known_it_says_what_the_scorer_says() -> None:
    answer, lens = documents(decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED))
    assert told(answer, lens)[0] == (
        "cheap has the most points of all that fit: 6,100. The order's shape is not known, so all of it counts as "
        "flowing in the line's busiest hours; the line has no commit: 2,000 CNY a month."
    )


@pytest.mark.parametrize(
    ("unknown", "sentence"),
    [
        ("no_price", "What the order adds to the bill there is not known: no price is known for ct."),
        ("no_traffic", "What the order adds to the bill there is not known: no traffic is known of ct."),
    ],
)
def test_it_says_that_no_bill_is_known(unknown: str, sentence: str) -> None:
    """The sentence is given for the chosen IDC, and for another one that is compared with it."""
    answer, lens = documents(decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED))
    winner, other = answer["candidates"]
    for candidate in (winner, other):
        candidate |= {"bill": None, "bill_unknown": unknown, "lines": [{"line": "ct"}]}
        for score in candidate["scores"].values():
            score.pop("note", None)
    assert sentence in told(answer, lens)[0]
    assert sentence in " ".join(map(str, why_not_chosen(winner, other, lens, currency="CNY")[0]))


def test_an_order_without_bandwidth_has_no_bill_to_speak_of() -> None:
    answer, lens = documents(decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED))
    for candidate in answer["candidates"]:
        candidate |= {"bill": None, "bill_unknown": "no_bandwidth"}
        for score in candidate["scores"].values():
            score.pop("note", None)
    assert told(answer, lens)[0] == "cheap has the most points of all that fit: 6,100."


def test_it_says_why_not() -> None:
    answer, lens = documents(decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED), cheap=2000.0, dear=5000.0)
    winner, other = answer["candidates"]
    first, second = why_not_chosen(winner, other, lens, currency="CNY")
    assert " ".join(map(str, first)) == (
        "It would add 5,000 CNY a month to the bill, 3,000 more than cheap. "
        "With everything else weighed in, it is behind by the worth of 2,867 CNY a month."
    )
    assert " ".join(map(str, second)) == (
        "It would draw level only if bill weighed 4 instead of 90 or y weighed 112 instead of 5."
    )


def test_a_rejection_says_what_would_cure_it() -> None:
    rejected = {
        "idc": "a",
        "code": "not_enough_bandwidth",
        "reason": "needs 900 Mbps on ct, 671.6 left",
        "detail": {"short_by": 228.4},
        "also": ["taint", "resource", "my_own"],
    }
    (paragraph,) = why_rejected(rejected)
    assert " ".join(map(str, paragraph)) == (
        "It does not fit: needs 900 Mbps on ct, 671.6 left. With 229 Mbps more it would fit. "
        "Without that it would still be rejected for: taints, load or stock, my_own."
    )


@pytest.mark.parametrize(
    ("rank", "sentence"),
    [(1, "If it fitted, no IDC would have more points."), (3, "If it fitted, it would be number 3 of 5."), (None, "")],
)
def test_a_rejection_says_which_rank_it_would_have_had(rank: int | None, sentence: str) -> None:
    rejected = {"idc": "a", "code": "draining", "reason": "its status is draining", "detail": {}}
    (paragraph,) = why_rejected(rejected, feasible=4, rank=rank)
    assert " ".join(map(str, paragraph)) == f"It does not fit: its status is draining. {sentence}".strip()


@given(priced())
def test_at_its_weight_any_rival_draws_level(outcome: Outcome) -> None:
    answer, _lens = documents(outcome)
    winner, *others = answer["candidates"] or [None]
    for other in others:
        for name, weight in level_weights(winner, other).items():
            shift = weight - winner["scores"][name]["weight"]
            levels = [each["score"] + shift * each["scores"][name]["normalized"] for each in (winner, other)]
            assert levels[0] == pytest.approx(levels[1], abs=1e-3 * max(weight, 1))


def numbers(value: Any) -> Iterator[float]:
    """All numbers of a document."""
    match value:
        case bool() | None:
            return
        case int() | float():
            yield float(value)
        case dict():
            for part in value.values():
                yield from numbers(part)
        case list() | tuple():
            for part in value:
                yield from numbers(part)


@given(priced())
def test_every_number_is_one_of_the_answers(outcome: Outcome) -> None:
    answer, lens = documents(outcome, idc0=1234.5, idc1=987.0, idc2=987.0, idc3=0.0)
    rate = lens.per_point if isinstance(lens, MoneyLens) else 1.0
    known = set(numbers(answer))
    candidates = answer["candidates"] or []
    winner = next((each for each in candidates if answer["idc"] and each["idc"] == answer["idc"]["code"]), None)
    sentences = verdict(answer, lens, currency="CNY")
    if winner is not None:
        for other in candidates:
            if other is not winner:
                sentences += why_not_chosen(winner, other, lens, currency="CNY", tie=answer["tie"])
                known |= {abs(winner["score"] - other["score"]) * factor for factor in (1.0, rate)}
                known |= set(level_weights(winner, other).values())
                known |= {
                    score["contribution"] - other["scores"][name]["contribution"]
                    for name, score in winner["scores"].items()
                }
                known |= {abs(a - b) for a in bills(candidates) for b in bills(candidates)}
    sentences += [part for rejected in answer["rejected"] for part in why_rejected(rejected)]
    known |= {(answer["margin"] or {}).get("score", 0.0) * rate}
    written = {text for value in known for text in (f"{value:,.0f}", f"{value:g}", amount(value))}
    written |= set(NUMBER.findall(msgspec.json.encode(answer).decode()))  # those of its sentences
    for paragraph in sentences:
        for sentence in paragraph:
            assert set(NUMBER.findall(str(sentence))) <= written | {"0"}, str(sentence)


def bills(candidates: list[Any]) -> list[float]:
    return [each["bill"]["per_month"] for each in candidates if "bill" in each]
