"""Selectors: every operator on every kind of label, alike for one label set and for whole columns."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.errors import Invalid
from idcsched.framework.labels import LabelColumn, rows_matching
from idcsched.framework.matching import Expression, Term, parse_terms, term_matches, terms_match
from idcsched.framework.testing import decide_for, world

LABELS = {"disk": "ssd", "rank": "7", "cold": "-3", "blank": "", "many": frozenset({"ct", "cu"})}

EXPRESSIONS = [
    # (operator, key, values, whether it matches, the rule)
    ("In", "disk", ["ssd", "nvme"], True, "In holds if the value is one of them"),
    ("In", "disk", ["nvme"], False, "In fails if the value is none of them"),
    ("In", "absent", ["ssd"], False, "In fails on a missing label"),
    ("In", "many", ["cu", "cm"], True, "In means any on a many-valued key"),
    ("In", "many", ["cm"], False, "In fails if a many-valued key has none of them"),
    ("In", "blank", [""], True, "an empty value is a value to In"),
    ("NotIn", "disk", ["nvme"], True, "NotIn holds if the value is none of them"),
    ("NotIn", "disk", ["ssd"], False, "NotIn fails if the value is one of them"),
    ("NotIn", "absent", ["ssd"], True, "NotIn holds on a missing label"),
    ("NotIn", "many", ["cm"], True, "NotIn means none on a many-valued key"),
    ("NotIn", "many", ["cu", "cm"], False, "NotIn fails if a many-valued key has one of them"),
    ("NotIn", "blank", ["x"], True, "an empty value is a value to NotIn"),
    ("Exists", "disk", None, True, "Exists holds on a present label"),
    ("Exists", "blank", None, True, "Exists holds on an empty value"),
    ("Exists", "many", None, True, "Exists holds on a many-valued key"),
    ("Exists", "absent", None, False, "Exists fails on a missing label"),
    ("DoesNotExist", "absent", None, True, "DoesNotExist holds on a missing label"),
    ("DoesNotExist", "disk", None, False, "DoesNotExist fails on a present label"),
    ("DoesNotExist", "blank", None, False, "DoesNotExist fails on an empty value"),
    ("Gt", "rank", ["6"], True, "Gt holds above"),
    ("Gt", "rank", ["7"], False, "Gt fails at the bound"),
    ("Gt", "cold", ["-4"], True, "Gt knows negative integers"),
    ("Gt", "disk", ["0"], False, "Gt fails on a label that is no integer"),
    ("Gt", "blank", ["-1"], False, "Gt fails on an empty value"),
    ("Gt", "absent", ["0"], False, "Gt fails on a missing label"),
    ("Gt", "many", ["0"], False, "Gt fails on many values that are no integers"),
    ("Lt", "rank", ["8"], True, "Lt holds below"),
    ("Lt", "rank", ["7"], False, "Lt fails at the bound"),
    ("Lt", "cold", ["0"], True, "Lt knows negative integers"),
    ("Lt", "disk", ["99"], False, "Lt fails on a label that is no integer"),
    ("Lt", "absent", ["99"], False, "Lt fails on a missing label"),
]


def column(key: str) -> LabelColumn:
    return LabelColumn.of([LABELS.get(key), None])


def matched(term: Term) -> bool:
    """Whether the term matches, after both ways of matching were found to agree."""
    one, all_rows = term_matches(term, LABELS), rows_matching((term,), column, 2)
    assert bool(all_rows[0]) == one
    assert bool(all_rows[1]) == term_matches(term, {})
    return one


def test_it_works() -> None:
    known = world({"a": {"labels": {"disk": "ssd"}}, "b": {"labels": {"disk": "hdd"}}, "c": {}})
    outcome = decide_for(known, selector={"match_labels": {"disk": "ssd"}})
    assert outcome.totals == {"a": 0.0}
    assert outcome.rejections == {"b": "selector_mismatch", "c": "selector_mismatch"}


@pytest.mark.parametrize(
    ("operator", "key", "values", "expected"),
    [pytest.param(*case[:4], id=case[4]) for case in EXPRESSIONS],
)
def test_operator(operator: str, key: str, values: list[str] | None, *, expected: bool) -> None:
    document = {"match_expressions": [{"key": key, "operator": operator, "values": values}]}
    assert matched(parse_terms(document)[0]) is expected


@pytest.mark.parametrize(
    ("text", "bound", "expected"),
    [
        pytest.param("007", "6", True, id="leading zeros are no matter"),
        pytest.param("+7", "6", False, id="a plus sign is no integer"),
        pytest.param(" 7", "6", False, id="a blank is no integer"),
        pytest.param("7.0", "6", False, id="a fraction is no integer"),
        pytest.param("1_0", "6", False, id="an underscore is no integer"),
        pytest.param("-", "-9", False, id="a lone minus is no integer"),
        pytest.param("٧", "6", False, id="digits of other scripts are no integer"),
        pytest.param("9" * 18, "6", True, id="eighteen digits are an integer"),
        pytest.param("9" * 19, "6", False, id="nineteen digits are none"),
    ],
)
def test_only_integers_are_compared(text: str, bound: str, *, expected: bool) -> None:
    term = Term(match_expressions=(Expression(key="rank", operator="Gt", values=(bound,)),))
    assert term_matches(term, {"rank": text}) is expected
    assert bool(rows_matching((term,), lambda _: LabelColumn.of([text]), 1)[0]) is expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"match_labels": {"disk": "ssd", "rank": "7"}}, True, id="all labels hold"),
        pytest.param({"match_labels": {"disk": "ssd", "rank": "8"}}, False, id="one label does not"),
        pytest.param({"match_labels": {"many": "cu"}}, True, id="a label matches one of many values"),
        pytest.param(
            {"match_labels": {"disk": "ssd"}, "match_expressions": [{"key": "rank", "operator": "Exists"}]},
            True,
            id="labels AND expressions hold",
        ),
        pytest.param(
            {"match_labels": {"disk": "ssd"}, "match_expressions": [{"key": "absent", "operator": "Exists"}]},
            False,
            id="labels hold, expressions do not",
        ),
        pytest.param(
            {
                "match_expressions": [
                    {"key": "disk", "operator": "Exists"},
                    {"key": "rank", "operator": "Gt", "values": ["9"]},
                ]
            },
            False,
            id="every expression must hold",
        ),
    ],
)
def test_a_term_is_all_of_its_parts(document: dict[str, Any], *, expected: bool) -> None:
    assert matched(parse_terms(document)[0]) is expected


def test_a_list_of_terms_is_ored() -> None:
    terms = parse_terms([{"match_labels": {"disk": "hdd"}}, {"match_labels": {"rank": "7"}}])
    assert terms_match(terms, LABELS)
    assert not terms_match(terms[:1], LABELS)
    assert rows_matching(terms, column, 2).tolist() == [True, False]


def test_no_selector_at_all_matches_everything() -> None:
    assert set(decide_for(world({"a": {}, "b": {}})).totals) == {"a", "b"}


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        pytest.param({}, "/selector", id="an empty term"),
        pytest.param({"match_labels": {}, "match_expressions": []}, "/selector", id="a term of empty parts"),
        pytest.param([], "/selector", id="an empty list"),
        pytest.param([{"match_labels": {"a": "b"}}, {}], "/selector/1", id="a list with an empty term"),
    ],
)
def test_empty_selectors_are_refused_with_a_hint(document: Any, pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_terms(document, "/selector")
    assert refusal.value.code == "empty_selector"
    assert refusal.value.errors[0].pointer == pointer
    assert '{"key": "idc/code", "operator": "Exists"}' in refusal.value.detail


@pytest.mark.parametrize(
    ("operator", "values", "code"),
    [
        ("In", None, "values_required"),
        ("In", [], "values_required"),
        ("NotIn", None, "values_required"),
        ("Exists", ["x"], "values_not_allowed"),
        ("DoesNotExist", ["x"], "values_not_allowed"),
        ("Gt", None, "integer_required"),
        ("Gt", ["1", "2"], "integer_required"),
        ("Gt", ["x"], "integer_required"),
        ("Lt", ["1.5"], "integer_required"),
        ("Like", ["x"], "invalid_choice"),
    ],
)
def test_operators_are_strict_about_values(operator: str, values: list[str] | None, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_terms({"match_expressions": [{"key": "a", "operator": operator, "values": values}]})
    assert refusal.value.code == code
    assert refusal.value.errors[0].pointer.startswith("/match_expressions/0/")


FACTS = world(
    {
        "a": {
            "region": "city",
            "tier": "center",
            "partition": "own",
            "provider": "vm",
            "lines": {"1": {"isp": "ct"}, "2": {"isp": "cu"}},
        },
        "b": {"region": "elsewhere"},
    },
    regions={"country": None, "province": "country", "city": "province", "elsewhere": None},
)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("idc/code", "a"),
        ("idc/region", "city"),
        ("idc/region", "province"),
        ("idc/region", "country"),
        ("idc/isp", "ct"),
        ("idc/isp", "cu"),
        ("idc/tier", "center"),
        ("idc/partition", "own"),
        ("idc/provider", "vm"),
    ],
)
def test_facts_are_matchable_as_labels(key: str, value: str) -> None:
    assert set(decide_for(FACTS, selector={"match_labels": {key: value}}).totals) == {"a"}
    negative = {"match_expressions": [{"key": key, "operator": "NotIn", "values": [value]}]}
    assert set(decide_for(FACTS, selector=negative).totals) == {"b"}


@pytest.mark.parametrize("key", ["idc/partition", "idc/provider", "idc/isp"])
def test_a_fact_that_an_idc_lacks_is_a_missing_label(key: str) -> None:
    lacking = {"match_expressions": [{"key": key, "operator": "DoesNotExist"}]}
    assert set(decide_for(FACTS, selector=lacking).totals) == {"b"}


values = st.sampled_from(["", "1", "-2", "x", "30"])
label_sets = st.dictionaries(st.sampled_from("abc"), st.one_of(values, st.frozensets(values, max_size=3)), max_size=3)
expressions = st.one_of(
    st.builds(Expression, key=st.sampled_from("abc"), operator=st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(
        Expression,
        key=st.sampled_from("abc"),
        operator=st.sampled_from(["In", "NotIn"]),
        values=st.lists(values, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        Expression,
        key=st.sampled_from("abc"),
        operator=st.sampled_from(["Gt", "Lt"]),
        values=st.sampled_from([("0",), ("-2",), ("2",)]),
    ),
)
terms = st.builds(Term, match_expressions=st.lists(expressions, min_size=1, max_size=3).map(tuple))


@given(st.lists(label_sets, max_size=6), st.lists(terms, min_size=1, max_size=3))
def test_columns_match_as_label_sets_do(rows: list[dict[str, Any]], selector: list[Term]) -> None:
    found = rows_matching(selector, lambda key: LabelColumn.of([row.get(key) for row in rows]), len(rows))
    assert found.tolist() == [terms_match(selector, row) for row in rows]
