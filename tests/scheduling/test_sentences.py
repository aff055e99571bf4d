"""The sentences of an answer are kept in English and read in the language of the reader."""

from typing import Any

import msgspec
import numpy as np
import pytest
from django.utils.translation import override

from idcsched.framework.wording import Listing
from idcsched.scheduling.sentences import Notebook, read, read_struct

UNTOLERATED = "untolerated taint {taint}"


class Told(msgspec.Struct, frozen=True):
    reason: str
    detail: dict[str, Any]


def noted(template: str, **params: Any) -> tuple[str, Any]:
    notebook = Notebook()
    return notebook.say(template, params), notebook.sentences


def in_chinese(document: Any, sentences: Any) -> Any:
    with override("zh-hans"):
        return read(document, sentences)


def test_it_works() -> None:
    text, sentences = noted(UNTOLERATED, taint="a=b:NoSchedule")
    document = {"rejected": [{"reason": text, "code": "untolerated_taint"}]}

    assert read(document, sentences) == document
    assert in_chinese(document, sentences) == {
        "rejected": [{"reason": "污点 a=b:NoSchedule 未被容忍", "code": "untolerated_taint"}]
    }


def test_structs_stay_what_they_are() -> None:
    notebook = Notebook()
    text = notebook.say(UNTOLERATED, {"taint": "a:NoSchedule"})
    told = Told(text, {"taint": "a:NoSchedule"})
    assert read_struct(told, notebook) is told
    with override("zh-hans"):
        assert read_struct(told, notebook) == Told("污点 a:NoSchedule 未被容忍", {"taint": "a:NoSchedule"})


def test_parts_of_a_sentence_are_translated() -> None:
    notebook = Notebook()
    part = notebook.say("{count} {label}", {"count": 2, "label": notebook.say("not enough bandwidth", {})})
    text = notebook.say("{head}: {parts}", {"head": "somebody's own", "parts": part})
    assert text == "somebody's own: 2 not enough bandwidth"
    assert in_chinese({"summary": text}, notebook.sentences) == {"summary": "somebody's own: 带宽不足 2 个"}


def test_sentences_in_a_row_are_translated() -> None:
    notebook = Notebook()
    parts = Listing(notebook.say("{count} {label}", {"count": n, "label": notebook.say("offline", {})}) for n in (1, 2))
    text = notebook.say("{feasible}/{evaluated} IDCs fit: {parts}", {"feasible": 0, "evaluated": 3, "parts": parts})
    assert text == "0/3 IDCs fit: 1 offline, 2 offline"
    assert in_chinese({"summary": text}, notebook.sentences) == {"summary": "3 个机房中 0 个符合：离线 1 个，离线 2 个"}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"idc": "offline"}, id="a name that is a sentence elsewhere"),
        pytest.param({"detail": {"reason": "offline"}}, id="what a sentence is made of"),
        pytest.param({"reason": "said by nobody"}, id="a sentence that was not noted"),
        pytest.param({"note": None, "score": 1.5}, id="no text"),
    ],
)
def test_all_else_stays(document: Any) -> None:
    _, sentences = noted("offline")
    assert in_chinese(document, sentences) == document


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(np.float64(2.5), "x 为 2.5，限值为 1", id="an array library's"),
        pytest.param(np.int64(3), "x 为 3，限值为 1", id="a whole one of them"),
        pytest.param(float("nan"), "x is nan, the limit is 1", id="one that JSON has not: English"),
    ],
)
def test_numbers_are_kept(number: Any, expected: str) -> None:
    text, sentences = noted("{metric} is {value:g}, the limit is {limit:g}", metric="x", value=number, limit=1)
    assert in_chinese({"reason": text}, sentences) == {"reason": expected}


def test_what_is_no_number_is_kept_as_its_text() -> None:
    text, sentences = noted("the value of {metric} is not known", metric=ValueError("x"))
    assert in_chinese({"reason": text}, sentences) == {"reason": "指标 x 的值未知"}
