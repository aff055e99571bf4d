"""Every code that the API answers with, as the source has it: with its status, and the sentences that go with it.

A code is a constant beside the sentence that explains it and is marked with `_()`, wherever it is raised; so the source
is read for such pairs.
Tests of the API hold every code that they meet against what is found here.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from typing import Final

from django.apps import apps
from django.utils.translation import gettext_noop as _
from rest_framework import exceptions

from idcsched.framework.errors import (
    Conflict,
    Forbidden,
    IdcschedError,
    Invalid,
    NotFound,
    Unauthenticated,
    Unavailable,
)

from .problems import CODES, status_of

__all__ = ["Code", "known_codes"]

ROOMS: Final = ("idcsched", "metrics_ingest", "plugins")
CODE: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
SENTENCE: Final = re.compile(r"[ {]")
"""What tells a sentence from a word."""
ELSEWHERE: Final = frozenset({"Reason", "PluginBroken"})
"""Calls with a code and a sentence that are no refusal."""
RAISED: Final = frozenset({"FieldError"})
"""What is told the place before the code."""
MARKS: Final = frozenset({"_", "gettext", "gettext_lazy"})
STATUSES: Final = frozenset(map(int, HTTPStatus))
OF_THE_LIBRARIES: Final[tuple[type[exceptions.APIException], ...]] = (
    exceptions.NotFound,
    exceptions.MethodNotAllowed,
    exceptions.NotAcceptable,
    exceptions.UnsupportedMediaType,
    exceptions.Throttled,
    exceptions.PermissionDenied,
    exceptions.NotAuthenticated,
    exceptions.AuthenticationFailed,
)
OF_FIELDS: Final = {
    "required": _("this is required"),
    "wrong_type": _("this is of another type, or no value of its kind at all"),
    "out_of_range": _("this number is out of its range"),
    "too_long": _("this has too many characters"),
    "too_short": _("this has too few characters"),
    "invalid_choice": _("this is not one of the allowed values"),
    "invalid_text": _("this text holds characters that can't be stored"),
    "invalid": _("the values contradict each other or the situation: the detail says how"),
    "already_exists": _("there is one of this name already"),
    "empty": _("this may not be empty"),
    "password_too_short": _("a password has eight characters at least"),
    "password_too_common": _("this password is too common"),
    "password_too_similar": _("this password is like what is known of the user"),
}
"""Those under which Django's and DRF's many sentences go."""


@dataclass
class Code:
    """One code: with which statuses it comes, and what is said with it."""

    name: str
    statuses: set[int] = field(default_factory=set)
    sentences: dict[str, None] = field(default_factory=dict)


def known_codes(base: Path) -> list[Code]:
    """All of them by name; `base` is the folder of the source."""
    found: dict[str, Code] = {}
    for name, status, sentence in (*_of_fields(), *_of_libraries(), *_of_constraints(), *_of_source(base)):
        code = found.setdefault(name, Code(name))
        code.statuses.add(status)
        if name not in OF_FIELDS or not code.sentences:
            code.sentences[sentence] = None
    return [found[name] for name in sorted(found)]


Found = Iterator[tuple[str, int, str]]


def _of_fields() -> Found:
    yield from ((name, 400, sentence) for name, sentence in OF_FIELDS.items())


def _of_libraries() -> Found:
    for kind in OF_THE_LIBRARIES:
        yield CODES.get(kind.default_code, kind.default_code), kind.status_code, str(kind.default_detail)


def _of_constraints() -> Found:
    """What the database's rules are called when they are broken."""
    for model in apps.get_models():
        for constraint in model._meta.constraints:
            if (name := constraint.violation_error_code) and constraint.violation_error_message:
                status = 409 if type(constraint).__name__ == "UniqueConstraint" else 400
                yield name, status, str(constraint.violation_error_message)


def _of_source(base: Path) -> Found:
    files = [file for room in ROOMS for file in sorted((base / room).rglob("*.py")) if "migrations" not in file.parts]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]

    statuses = _statuses(trees)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield from _of_class(node, statuses)
            elif isinstance(node, ast.FunctionDef):
                yield from _of_function(node, statuses)
            elif isinstance(node, ast.Call) and _name(node.func) not in ELSEWHERE:
                yield from _of_call(node, statuses)


def _of_call(call: ast.Call, statuses: Mapping[str, int]) -> Found:
    status = next((found for argument in call.args if (found := _http_status(argument))), None)
    for before, argument in pairwise(call.args):
        if CODE.fullmatch(code := _text(before)) and SENTENCE.search(sentence := _sentence(argument)):
            yield code, status or statuses.get(_name(call.func), 400), sentence
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    sentences = [text for argument in (*call.args, named.get("detail")) if (text := _sentence(argument))]
    if CODE.fullmatch(code := _text(named.get("code"))) and sentences:
        yield code, 400, sentences[0]


def _of_function(node: ast.FunctionDef, statuses: Mapping[str, int]) -> Found:
    """Codes whose sentence is chosen before: any of those that the function holds."""
    texts = [text for each in ast.walk(node) if SENTENCE.search(text := _sentence(each))]
    for call in (
        each for each in ast.walk(node) if isinstance(each, ast.Call) and _name(each.func) in RAISED | set(statuses)
    ):
        given = [*call.args[1:], *call.args[:1]] if _name(call.func) in RAISED else call.args
        if len(given) > 1 and CODE.fullmatch(code := _text(given[0])) and isinstance(given[1], ast.Name):
            yield from ((code, statuses.get(_name(call.func), 400), text) for text in texts)


def _of_class(node: ast.ClassDef, statuses: Mapping[str, int]) -> Found:
    """DRF's way: attributes of the exception's class."""
    own = {_name(item.targets[0]): item.value for item in node.body if isinstance(item, ast.Assign)}
    if {"default_code", "default_detail", "status_code"} <= set(own):
        status = re.search(r"\d{3}", ast.unparse(own["status_code"]))
        yield _text(own["default_code"]), int(status[0] if status else 500), _sentence(own["default_detail"])
    for call in (each for each in ast.walk(node) if isinstance(each, ast.Call) and _name(each.func) == "__init__"):
        for before, argument in pairwise(call.args[:2]):
            if node.name in statuses and CODE.fullmatch(code := _text(before)) and (sentence := _sentence(argument)):
                yield code, statuses[node.name], sentence


def _statuses(trees: list[ast.Module]) -> dict[str, int]:
    """Those of the error tree's classes, its branches in other rooms included, by name."""
    roots: tuple[type[IdcschedError], ...] = (Invalid, Unauthenticated, Forbidden, NotFound, Conflict, Unavailable)
    found = {kind.__name__: int(status_of(kind)) for kind in roots}
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for _depth in range(3):  # as deep as the tree is
        for node in classes:
            inherited = [found[_name(base)] for base in node.bases if _name(base) in found]
            if inherited:
                found.setdefault(node.name, inherited[0])
    return found


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _http_status(node: ast.AST) -> int | None:
    if isinstance(node, ast.Attribute) and _name(node.value) == "HTTPStatus":
        return int(HTTPStatus[node.attr])
    number = node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
    return number if number in STATUSES else None


def _text(node: ast.AST | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _sentence(node: ast.AST | None) -> str:
    """The text that is marked for translation here, if one is."""
    if isinstance(node, ast.Call) and _name(node.func) in MARKS and node.args:
        return _text(node.args[0])
    return ""
