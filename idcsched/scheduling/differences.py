"""The differences between two JSON documents, by pointer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Difference", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; None stands for an absent value, as null does in a profile."""

    pointer: str
    before: Any
    after: Any


def differences(before: Any, after: Any, pointer: str = "") -> Iterator[Difference]:
    """Compare objects by key, and lists of named objects by name, so that a new first entry is one difference only."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from differences(
                before.get(key), after.get(key), f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            )
    elif _has_names(before) and _has_names(after):
        yield from differences(_by_name(before), _by_name(after), pointer)
        if _order(before, after) != _order(after, before):
            yield Difference(f"{pointer}#order", _order(before, after), _order(after, before))
    elif before != after:
        yield Difference(pointer, before, after)


def _has_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) and "name" in entry for entry in value)


def _by_name(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {entry["name"]: entry for entry in entries}


def _order(entries: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[str]:
    """Return the names that both lists have, in the order of the first list."""
    shared = {entry["name"] for entry in others}
    return [entry["name"] for entry in entries if entry["name"] in shared]
