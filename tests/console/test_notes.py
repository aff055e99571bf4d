"""The notes of an answer as sentences of a page."""

import pytest
from django.utils import translation

from idcsched.templatetags.answers import noted


def test_it_works() -> None:
    note = "its traffic counts as flat: the request has neither a shape nor a label `business`"
    assert noted(note) == (
        "Its traffic counts as flat: the request has neither a shape nor a label <code>business</code>."
    )


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("`a` before `b`", "<code>a</code> before <code>b</code>."),
        ("a ` alone", "A ` alone."),
        ("no <b> `<i>`", "No &lt;b&gt; <code>&lt;i&gt;</code>."),
    ],
)
def test_edges(note: str, told: str) -> None:
    assert noted(note) == told


def test_a_chinese_sentence_ends_as_such() -> None:
    with translation.override("zh-hans"):
        assert noted("按平稳流量计") == "按平稳流量计。"
