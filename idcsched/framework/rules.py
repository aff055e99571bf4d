"""The version of the decision rules, and the changes of each version.

A record names its version; a replay lists what has changed since.
"""

import msgspec

from .messages import Message, _

__all__ = ["VERSION", "Change", "changes_since"]

VERSION = 5


class Change(msgspec.Struct, frozen=True):
    """One change of the rules, in a sentence, and the version that brought it."""

    version: int
    sentence: Message


CHANGES = (
    Change(2, _("billing_cost is fixed on 0 to the installation's dearest price, whatever the inventory holds")),
    Change(2, _("a supposed use of a line takes the place of its latest value, its percentile and its hours alike")),
    Change(2, _("of IDCs with the same total, one with a missing value goes behind one with none")),
    Change(2, _("metric under `reject` takes out IDCs with an unknown value, also without limits")),
    Change(2, _("scores count as they are, and only the total is rounded")),
    Change(2, _("distances are rounded to a metre")),
    Change(2, _("a line's metric counts by the line that the request would use")),
    Change(2, _("a client's region without coordinates stands where the nearest region above it does")),
    Change(2, _("a selector understands the other names of an ISP")),
    Change(3, _("whether an order exceeds the commit is judged at five levels of the line's traffic, not at one")),
    Change(3, _("the last room of a line has a higher price: `scarcity` is 0.75 by default")),
    Change(3, _("the largest number of a shape stands for the hour in which all of the order's bandwidth flows")),
    Change(3, _("commits of contracts by daily peak and by volume count")),
    Change(3, _("by volume all that an order moves is billed, not only what flows in the line's busiest hours")),
    Change(4, _("where no line carries an order, the one that lacks least counts, whatever the profile chooses by")),
    Change(5, _("raw values and the figures of reasons are rounded, to six decimals or, below 1, six digits")),
    Change(5, _("where nothing more is billed, the note of billing_cost says that in other words")),
)


def changes_since(version: int) -> tuple[Change, ...]:
    """Return the changes of the rules since that version."""
    return tuple(change for change in CHANGES if change.version > version)
