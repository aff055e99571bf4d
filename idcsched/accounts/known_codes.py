"""Registry of codes that rows of lower packages name and higher packages have, such as a tenant's default profile.

Imports go down only, so a higher package registers its check and its codes when it starts. A lower package's service
runs the check when such a code is set, and lists the codes: to offer them in a form, or to know what there is.
"""

from collections.abc import Callable, Iterable

__all__ = ["code_check", "code_check_register", "codes_offered", "codes_register"]

_codes: dict[str, Callable[[], Iterable[str]]] = {}
_checks: dict[str, Callable[[str, str], object]] = {}


def code_check_register(kind: str, check: Callable[[str, str], object]) -> None:
    """Register `check(code, pointer)`, which raises Invalid where there is no `kind` of that code."""
    _checks[kind] = check


def code_check(kind: str, code: str, pointer: str) -> None:
    """Raise Invalid where there is no `kind` of that code; an empty code passes."""
    if code:
        _checks[kind](code, pointer)


def codes_register(kind: str, codes: Callable[[], Iterable[str]]) -> None:
    """Register `codes()`, which lists the codes of all of a `kind`."""
    _codes[kind] = codes


def codes_offered(kind: str) -> list[str]:
    """Return the codes of that kind, sorted."""
    return sorted(_codes[kind]())
