"""What a decision would take where it lands: claims on capacity, as values that the ledger honours."""

from collections.abc import Iterable
from typing import Literal

import msgspec
import numpy as np

from .context import Cycle
from .decision import Board, Decision
from .errors import PluginFailed
from .facts import STOCK_RESOURCES
from .normalize import DECIMALS
from .profile import Entry

__all__ = ["BANDWIDTH_RESOURCE", "Claim", "claims_of", "picked", "pinned"]

BANDWIDTH_RESOURCE = "bandwidth_mbps"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """So much of one thing: of a line, or, where `line` is None, of the IDC's stock.

    It may be honoured only if what is `counted` of it (what is pending, or all that is ordered) does not exceed
    `ceiling` afterwards; None: there is no limit.
    """

    resource: str
    amount: float
    ceiling: float | None = None
    line: str | None = None
    counted: Literal["pending", "ordered"] = "pending"

    @property
    def key(self) -> tuple[str, str]:
        """What it is about, within one IDC."""
        return self.line or "", self.resource


def picked(found: Decision | Board, position: int) -> Cycle:
    """The one at that position of the survivors, or of the board, alone, as plugins are asked about it."""
    return found.survivors.narrowed(np.array([position], dtype=np.intp))


def pinned(ctx: Cycle, codes: tuple[str, ...]) -> Cycle | None:
    """The one IDC of `ctx` on those lines, whichever would be chosen now; None where one is gone or can't carry it."""
    lines, own = ctx.snapshot.lines, np.flatnonzero(ctx.snapshot.lines.idc == ctx.row_numbers[0]).tolist()
    by_code = {lines.codes[line]: line for line in own}
    if {lines.codes[line] for line in ctx.lines.of(0)} == set(codes):
        return ctx
    if not all(code in by_code and lines.room[by_code[code]] >= ctx.request.bandwidth for code in codes):
        return None
    return ctx.on_lines(tuple(by_code[code] for code in codes))


def claims_of(ctx: Cycle) -> tuple[Claim, ...]:
    """What the one IDC of `ctx` must give: what the profile's plugins claim, the rest without a limit.

    Whatever a request needs is taken, also where no plugin of the profile asks whether it is there. Raises
    PluginFailed: what a plugin could not claim would be oversold.
    """
    found: dict[tuple[str, str], Claim] = {}
    for entry in ctx.profile.reservers:
        for claim in _claimed(ctx, entry):
            found.setdefault(claim.key, claim)
    _claim_needed(ctx, found)
    return tuple([found[key] for key in sorted(found)])


def _claimed(ctx: Cycle, entry: Entry) -> list[Claim]:
    try:
        claims: Iterable[Claim] | None = ctx.at_work(entry, "reserve", entry.plugin.reserve)
        return list(claims or ())
    except Exception as error:
        raise PluginFailed(entry.name, "reserve", f"{type(error).__name__}: {error}") from error


def _claim_needed(ctx: Cycle, found: dict[tuple[str, str], Claim]) -> None:
    """What the request needs and nobody has claimed."""
    need, codes = round(ctx.need, DECIMALS), ctx.snapshot.lines.codes
    for line in ctx.lines.of(0) if need else ():
        code = codes[line]
        if (code, BANDWIDTH_RESOURCE) not in found:
            found[code, BANDWIDTH_RESOURCE] = Claim(resource=BANDWIDTH_RESOURCE, amount=need, line=code)
    for name in STOCK_RESOURCES:
        if ("", name) not in found and (all_of_it := ctx.request.need(name)) and (amount := round(all_of_it, DECIMALS)):
            found["", name] = Claim(resource=name, amount=amount)
