"""The English texts in templates that can reach a person: what their `translate` and `blocktranslate` tags hold."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation.template import templatize

__all__ = ["template_texts"]

QUOTED = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
CALL = re.compile(rf"\b(?:n?p?gettext|_)\(({QUOTED})")
"""`templatize` turns a template into something that looks like calls of gettext."""


def template_texts(file: Path) -> Iterator[str]:
    """Each text of the template, as it is looked up in a catalogue."""
    source = templatize(file.read_text(encoding="utf-8"), origin=file.name)
    yield from (ast.literal_eval(found[1]) for found in CALL.finditer(source))
