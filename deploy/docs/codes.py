"""The list of all codes with which the API answers, read from the source: code, statuses and sentences.

Wherever an error is raised, its code is a constant beside its sentence, which is marked with `_()`; so the source is
parsed for such pairs. Tests of the API compare every code that they meet with this list.
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

from idcsched.api.problems import CODES, status_of
from idcsched.framework.errors import (
    Conflict,
    Forbidden,
    IdcschedError,
    Invalid,
    NotFound,
    Unauthenticated,
    Unavailable,
)

__all__ = ["UNANSWERED", "Code", "known_codes"]

PACKAGES: Final = ("idcsched", "metrics_ingest", "plugins")
CODE: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
SENTENCE: Final = re.compile(r"[ {]")
"""Found in every sentence, as a space or the start of a placeholder, and in no code."""
NOT_REFUSALS: Final = frozenset({"Reason", "PluginBroken"})
"""Calls with a code and a sentence that are no refusal of a request."""
POINTER_FIRST: Final = frozenset({"FieldError"})
"""Calls whose first argument is the pointer, and whose second is the code."""
MARKS: Final = frozenset({"_", "gettext", "gettext_lazy"})
STATUSES: Final = frozenset(map(int, HTTPStatus))
DRF_EXCEPTIONS: Final[tuple[type[exceptions.APIException], ...]] = (
    exceptions.NotFound,
    exceptions.MethodNotAllowed,
    exceptions.NotAcceptable,
    exceptions.UnsupportedMediaType,
    exceptions.Throttled,
    exceptions.PermissionDenied,
    exceptions.NotAuthenticated,
    exceptions.AuthenticationFailed,
)
FIELD_SENTENCES: Final = {
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
"""For each code of a field error, the one sentence that the list shows in place of Django's and DRF's many."""

UNANSWERED: Final = _(
    "The web server gave no answer. What was asked may have been done all the same: look before you repeat it, or "
    "repeat it with its Idempotency-Key."
)
"""What the proxy says in place of a web process, by `deploy/nginx.conf`."""


@dataclass
class Code:
    """One code with its statuses and sentences."""

    name: str
    statuses: set[int] = field(default_factory=set)
    sentences: dict[str, None] = field(default_factory=dict)


def known_codes(base: Path) -> list[Code]:
    """Return all codes, sorted by name; `base` is the folder of the source."""
    codes: dict[str, Code] = {}
    for name, status, sentence in (
        *_field_codes(),
        *_drf_codes(),
        *_constraint_codes(),
        *_codes_in_source(base),
        ("unanswered", HTTPStatus.BAD_GATEWAY, UNANSWERED),
        ("unanswered", HTTPStatus.GATEWAY_TIMEOUT, UNANSWERED),
    ):
        code = codes.setdefault(name, Code(name))
        code.statuses.add(status)
        if name not in FIELD_SENTENCES or not code.sentences:  # a code of FIELD_SENTENCES keeps its one sentence
            code.sentences[sentence] = None
    return [codes[name] for name in sorted(codes)]


Occurrences = Iterator[tuple[str, int, str]]
"""Codes with a status and a sentence each."""


def _field_codes() -> Occurrences:
    yield from ((name, 400, sentence) for name, sentence in FIELD_SENTENCES.items())


def _drf_codes() -> Occurrences:
    for kind in DRF_EXCEPTIONS:
        yield CODES.get(kind.default_code, kind.default_code), kind.status_code, str(kind.default_detail)


def _constraint_codes() -> Occurrences:
    """Yield the codes of violated database constraints."""
    for model in apps.get_models():
        for constraint in model._meta.constraints:
            if (name := constraint.violation_error_code) and constraint.violation_error_message:
                status = 409 if type(constraint).__name__ == "UniqueConstraint" else 400
                yield name, status, str(constraint.violation_error_message)


def _codes_in_source(base: Path) -> Occurrences:
    paths = [file for package in PACKAGES for file in sorted((base / package).rglob("*.py"))]
    files = [file for file in paths if "migrations" not in file.parts]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]

    statuses = _statuses(trees)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield from _codes_in_class(node, statuses)
            elif isinstance(node, ast.FunctionDef):
                yield from _codes_in_function(node, statuses)
            elif isinstance(node, ast.Call) and _name(node.func) not in NOT_REFUSALS:
                yield from _codes_in_call(node, statuses)


def _codes_in_call(call: ast.Call, statuses: Mapping[str, int]) -> Occurrences:
    """Yield the codes in a call: an argument followed by its sentence, or the keyword `code` with any sentence."""
    status = next((number for argument in call.args if (number := _http_status(argument))), None)
    for first, second in pairwise(call.args):
        if CODE.fullmatch(code := _text(first)) and SENTENCE.search(sentence := _sentence(second)):
            yield code, status or statuses.get(_name(call.func), 400), sentence
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    sentences = [text for argument in (*call.args, named.get("detail")) if (text := _sentence(argument))]
    if CODE.fullmatch(code := _text(named.get("code"))) and sentences:
        yield code, 400, sentences[0]


def _codes_in_function(node: ast.FunctionDef, statuses: Mapping[str, int]) -> Occurrences:
    """Yield the codes that are raised with a variable as sentence, each with every sentence in the function."""
    texts = [text for part in ast.walk(node) if SENTENCE.search(text := _sentence(part))]
    error_names = POINTER_FIRST | set(statuses)
    for call in (part for part in ast.walk(node) if isinstance(part, ast.Call) and _name(part.func) in error_names):
        # a leading pointer goes to the end, so that code and sentence come first
        arguments = [*call.args[1:], *call.args[:1]] if _name(call.func) in POINTER_FIRST else call.args
        if len(arguments) > 1 and CODE.fullmatch(code := _text(arguments[0])) and isinstance(arguments[1], ast.Name):
            yield from ((code, statuses.get(_name(call.func), 400), text) for text in texts)


def _codes_in_class(node: ast.ClassDef, statuses: Mapping[str, int]) -> Occurrences:
    """Yield the codes in a class of exceptions: from DRF's `default_code`, or from a call of `super().__init__`."""
    own = {_name(item.targets[0]): item.value for item in node.body if isinstance(item, ast.Assign)}
    if {"default_code", "default_detail", "status_code"} <= set(own):
        status = re.search(r"\d{3}", ast.unparse(own["status_code"]))
        yield _text(own["default_code"]), int(status[0] if status else 500), _sentence(own["default_detail"])
    for call in (part for part in ast.walk(node) if isinstance(part, ast.Call) and _name(part.func) == "__init__"):
        for first, second in pairwise(call.args[:2]):
            if node.name in statuses and CODE.fullmatch(code := _text(first)) and (sentence := _sentence(second)):
                yield code, statuses[node.name], sentence


def _statuses(trees: list[ast.Module]) -> dict[str, int]:
    """Return the status of each class of the error tree by its name, subclasses in other packages included."""
    roots: tuple[type[IdcschedError], ...] = (Invalid, Unauthenticated, Forbidden, NotFound, Conflict, Unavailable)
    statuses = {kind.__name__: int(status_of(kind)) for kind in roots}
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for _depth in range(3):  # as deep as the tree is
        for node in classes:
            inherited = [statuses[_name(base)] for base in node.bases if _name(base) in statuses]
            if inherited:
                statuses.setdefault(node.name, inherited[0])
    return statuses


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
    """Return the text that the node marks for translation, or an empty one."""
    if isinstance(node, ast.Call) and _name(node.func) in MARKS and node.args:
        return _text(node.args[0])
    return ""
