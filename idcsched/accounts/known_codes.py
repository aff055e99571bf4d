"""Codes of what lives in higher rooms. Rows down here may name it; only those rooms can say whether it exists.

A higher room registers its check and its codes when it starts; a service down here asks for the check when such a code
is set, and a form offers the codes.
"""

from collections.abc import Callable, Iterable

__all__ = ["code_check", "code_check_register", "codes_offered", "codes_register"]

_codes: dict[str, Callable[[], Iterable[str]]] = {}
_checks: dict[str, Callable[[str, str], object]] = {}


def code_check_register(kind: str, check: Callable[[str, str], object]) -> None:
    """Let `check(code, pointer)` raise Invalid where there is no `kind` of that code."""
    _checks[kind] = check


def code_check(kind: str, code: str, pointer: str) -> None:
    """Raises Invalid where there is no such thing; an empty code names nothing."""
    if code:
        _checks[kind](code, pointer)


def codes_register(kind: str, codes: Callable[[], Iterable[str]]) -> None:
    """Let `codes()` list the codes of each `kind` that there is."""
    _codes[kind] = codes


def codes_offered(kind: str) -> list[str]:
    """List the codes of that kind, in their order."""
    return sorted(_codes[kind]())
