"""What of a profile's plugins can be remembered together, and of which of a request's fields it depends."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .profile import Entry

__all__ = ["Step", "promised_by", "read_by", "steps_of", "told_by_need"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Filters that judge one after the other. `reads`: what of the request they depend on; None: asked each time."""

    entries: tuple[tuple[str, "Entry"], ...]
    reads: tuple[str, ...] | None
    token: object = field(default_factory=object, compare=False, repr=False)


def steps_of(pre_filters: Iterable["Entry"], filters: Iterable["Entry"]) -> tuple[Step, ...]:
    """Neighbours that say what they read make one step."""
    calls = [("pre_filter", entry) for entry in pre_filters if not entry.plugin.narrows]
    calls += [("filter", entry) for entry in filters]
    steps: list[Step] = []
    for says, group in groupby(calls, key=lambda call: call[0] in call[1].plugin.reads):
        if says:
            entries = tuple(group)
            reads = dict.fromkeys(field for point, entry in entries for field in entry.plugin.reads[point])
            steps.append(Step(entries=entries, reads=tuple(reads)))
        else:
            steps.extend(Step(entries=(call,), reads=None) for call in group)
    return tuple(steps)


def told_by_need(steps: Iterable[Step]) -> bool:
    """Whether filters that are asked each time say what else their word depends on than on what is needed."""
    asked = [entry for step in steps if step.reads is None for _, entry in step.entries]
    says = all("needs" in entry.joined and "needs" in entry.plugin.reads for entry in asked)
    return says and len({entry.name for entry in asked}) == len(asked)


def read_by(entries: Iterable["Entry"]) -> tuple[str, ...]:
    """What any plugin reads of what is remembered of it, and what lines are chosen by; in a fixed order."""
    of_plugins = (field for entry in entries for fields in entry.plugin.reads.values() for field in fields)
    return tuple(sorted({"isp", "isp_match", *of_plugins}))


def promised_by(
    scorers: Iterable["Entry"], tie_breakers: Iterable[str], entries: Sequence["Entry"]
) -> tuple[str, ...] | None:
    """On which fields it depends what anybody's total can be at most.

    None: that can't be told, since some scorer's raw value may depend on who else is there, or has no bound.
    """
    found: set[str] = set()
    for entry in scorers:
        reads = _says_of_a_row(entry)
        if reads is None or entry.dynamic_weight is not None:
            return None
        found.update(reads)
    return (
        None if any(_says_of_a_row(entry) is None for entry in _named(tie_breakers, entries)) else tuple(sorted(found))
    )


def _named(names: Iterable[str], entries: Sequence["Entry"]) -> Iterator["Entry"]:
    """Each name is an entry's or, where no entry has it, a plugin's."""
    for name in names:
        named = [entry for entry in entries if entry.name == name]
        yield from named[:1] or [entry for entry in entries if entry.plugin.name == name][:1]


def _says_of_a_row(entry: "Entry") -> tuple[str, ...] | None:
    """What of the request a raw value depends on, or else its bound; None: on who else is there, it may be."""
    reads = entry.plugin.reads
    return reads.get("score", reads.get("promise")) if "score" in entry.joined else None
