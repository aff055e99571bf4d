"""The database's integrity errors as this project's errors, in the words of the violated constraint."""

import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import IntegrityError
from django.db.models import BaseConstraint, CheckConstraint, Model, ProtectedError, Q, UniqueConstraint

from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.framework.messages import Message, _

from .naming import examples

__all__ = ["constraint_refusal", "protected_refusal", "protecting_examples"]

FOREIGN_KEY_VIOLATION = "23503"
UNIQUE_VIOLATION = "23505"
SQLITE_CHECK = re.compile(r"^CHECK constraint failed: (?P<name>\w+)")
SQLITE_UNIQUE = re.compile(r"^UNIQUE constraint failed: (?P<columns>[\w., ]+)")


def constraint_refusal(error: IntegrityError) -> IdcschedError:
    """Return Conflict for a row that exists already or is referred to, Invalid for a row that breaks a rule.

    An error that no constraint of a model explains is a bug, and is raised again.
    """
    constraint = _constraint(error)
    if constraint is not None:
        detail = Message(str(constraint.violation_error_message))
        code = constraint.violation_error_code or "invalid"
        if isinstance(constraint, UniqueConstraint):
            return Conflict(code, detail)
        return Invalid(code, detail, _pointer(constraint))
    if _violates(error, UNIQUE_VIOLATION, "UNIQUE"):
        return Conflict("already_exists", _("there is one of this name already"))
    if _violates(error, FOREIGN_KEY_VIOLATION, "FOREIGN KEY"):
        return Conflict("in_use", _("this is still referred to, or refers to something that is gone"))
    raise error


def protected_refusal(error: ProtectedError) -> Conflict:
    """Return the refusal to delete a row that other rows still need."""
    return Conflict("in_use", _("in use by {examples}"), examples=protecting_examples(error))


def protecting_examples(error: ProtectedError) -> str:
    """Name a few of the rows that prevent a deletion."""
    return examples(f"{item._meta.verbose_name} {item}" for item in error.protected_objects)


def _constraint(error: IntegrityError) -> BaseConstraint | None:
    diagnosis = getattr(error.__cause__, "diag", None)
    name = getattr(diagnosis, "constraint_name", None)
    # SQLite's errors have no `diag`; their text names the constraint
    if diagnosis is None and (match := SQLITE_CHECK.match(str(error))):
        name = match["name"]
    if name:
        return next((item for _, item in _constraints() if item.name == name), None)
    if match := SQLITE_UNIQUE.match(str(error)):
        return _unique_constraint(frozenset(match["columns"].split(", ")))
    return None


def _unique_constraint(columns: frozenset[str]) -> UniqueConstraint | None:
    """Find a constraint by its columns: SQLite names them (`table.column`) and not the constraint."""
    for model, item in _constraints():
        if isinstance(item, UniqueConstraint):
            fields = (model._meta.get_field(name) for name in item.fields)
            if columns == {f"{model._meta.db_table}.{field.column}" for field in fields if hasattr(field, "column")}:
                return item
    return None


def _constraints() -> Iterator[tuple[type[Model], BaseConstraint]]:
    return ((model, item) for model in apps.get_models() for item in model._meta.constraints)


def _violates(error: IntegrityError, sqlstate: str, sqlite_text: str) -> bool:
    return getattr(error.__cause__, "pgcode", None) == sqlstate or str(error).startswith(sqlite_text)


def _pointer(constraint: BaseConstraint) -> str:
    """Return the pointer of the first field in a check constraint's condition; empty for other constraints."""
    if not isinstance(constraint, CheckConstraint) or not isinstance(constraint.condition, Q):
        return ""
    return f"/{_first_field(constraint.condition)}"


def _first_field(condition: Q) -> str:
    child: Any = condition.children[0]
    return _first_field(child) if isinstance(child, Q) else str(child[0]).split("__", 1)[0]
