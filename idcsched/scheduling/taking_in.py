"""What is refused where a request comes in, and never where an old record of one is read."""

from collections.abc import Sequence

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.request import RESOURCES, Machine

__all__ = ["amounts_check"]

LEAST = 10.0**-DECIMALS
"""Less is nothing in every figure that is shown."""


def amounts_check(machines: Sequence[Machine] | None, pointer: str = "/machines") -> None:
    """Raises Invalid where a machine needs next to nothing of something: more than 0 and less than can be shown."""
    wrong = [
        FieldError(f"{pointer}/{index}/{name}", "out_of_range", "this must be 0, or at least {low:g}", {"low": LEAST})
        for index, machine in enumerate(machines or ())
        for name in RESOURCES
        if 0 < (getattr(machine, name) or 0) < LEAST
    ]
    if wrong:
        raise Invalid.of(wrong)
