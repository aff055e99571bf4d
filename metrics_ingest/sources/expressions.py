"""JMESPath expressions over one record, by which mappings find values."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError

from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

__all__ = ["Reader", "expression"]

Reader = Callable[[Any], Any]
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_LENGTH = 1000
CACHED = 1024


def expression(text: str, pointer: str) -> Reader:
    """Compile an expression to a function from a record to its value, None if missing; raises Invalid at `pointer`.

    The function raises Invalid `expression_failed` where the expression does not fit the record, such as `max()` of
    texts.
    """
    try:
        return _compiled(text)
    except JMESPathError as error:
        reason = str(error).splitlines()[0]
        detail = _("this is no JMESPath expression: {reason}")
        raise Invalid("invalid_expression", detail, pointer, reason=reason) from None


@lru_cache(maxsize=CACHED)
def _compiled(text: str) -> Reader:
    if len(text) > MAX_LENGTH:
        raise JMESPathError(f"longer than {MAX_LENGTH} characters")
    if NAME.fullmatch(text):
        return lambda record: record.get(text) if isinstance(record, Mapping) else None
    parsed = jmespath.compile(text)
    with suppress(JMESPathTypeError):  # finds unknown functions; known ones may refuse the types of an empty record
        parsed.search({})

    def read(record: Any) -> Any:
        try:
            return parsed.search(record)
        except (JMESPathError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            detail = _("{expression} does not fit this record: {reason}")
            raise Invalid("expression_failed", detail, expression=text, reason=reason) from None

    return read
