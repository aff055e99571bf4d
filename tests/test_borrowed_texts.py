"""What django-unfold says is translated here, since it has no translations of its own."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import django
import pytest
import unfold
from django.utils.translation import gettext, override

from idcsched.borrowed_texts import BORROWED
from idcsched.template_texts import template_texts

PACKAGE = Path(unfold.__file__).parent
UNUSED = ("contrib/constance", "contrib/guardian", "contrib/import_export", "contrib/inlines", "contrib/location_field",
          "contrib/simple_history", "contrib/forms")  # fmt: skip
MARKED = re.compile(r"\b_\((\"[^\"]*\")\)")


def used(pattern: str) -> Iterator[Path]:
    files = (file for file in PACKAGE.glob(pattern) if not file.relative_to(PACKAGE).as_posix().startswith(UNUSED))
    yield from sorted(files)


@cache
def said() -> set[str]:
    """Every text of the library's templates and modules."""
    found = {text for file in used("**/*.html") for text in template_texts(file)}
    for file in used("**/*.py"):
        found |= {ast.literal_eval(text[1]) for text in MARKED.finditer(file.read_text(encoding="utf-8"))}
    return found


def test_it_works() -> None:
    assert "Apply Filters" in said()
    with override("zh-hans"):
        assert gettext("Apply Filters") == "应用筛选"


def test_every_text_is_said_in_chinese() -> None:
    same = {" By %(filter_title)s ", "Django site admin"}
    with override("zh-hans"):
        assert {text for text in said() if gettext(text) == text} <= same


@pytest.mark.parametrize("text", BORROWED)
def test_nothing_is_borrowed_that_is_not_said(text: str) -> None:
    assert text in said(), f"unfold {django.__name__} no longer says this"


def test_a_template_s_texts_are_found(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(
        "{% load i18n %}{% translate \"one\" %}{% trans 'two' as three %}"
        "{% blocktranslate trimmed with n=count %}\n  {{ n }} IDCs\n{% endblocktranslate %} four",
        encoding="utf-8",
    )
    assert set(template_texts(file)) == {"one", "two", "%(n)s IDCs"}
