"""Codes of what lives in higher rooms. Rows down here may name it; only those rooms can say whether it exists.

A higher room registers its check when it starts; a service down here asks it when such a code is set.
"""

from collections.abc import Callable

__all__ = ["code_check", "code_check_register"]

_checks: dict[str, Callable[[str, str], object]] = {}


def code_check_register(kind: str, check: Callable[[str, str], object]) -> None:
    """Let `check(code, pointer)` raise Invalid where there is no `kind` of that code."""
    _checks[kind] = check


def code_check(kind: str, code: str, pointer: str) -> None:
    """Raises Invalid where there is no such thing; an empty code names nothing."""
    if code:
        _checks[kind](code, pointer)
