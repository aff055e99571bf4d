"""What a decision would take where it lands: claims on capacity, as values that the ledger honours."""

import numpy as np

from .capacity import BANDWIDTH, Claim
from .context import Cycle
from .decision import Decision
from .errors import PluginFailed
from .facts import STOCK_RESOURCES
from .normalize import DECIMALS
from .profile import Profile

__all__ = ["claims_of", "picked", "pinned"]


def picked(decision: Decision, position: int) -> Cycle:
    """Return the survivor at that position alone, as plugins are asked about it."""
    return decision.survivors.narrowed(np.array([position], dtype=np.intp))


def pinned(ctx: Cycle, codes: tuple[str, ...]) -> Cycle | None:
    """The one IDC of `ctx` on those lines, whichever would be chosen now; None where one is gone or can't carry it."""
    lines, own = ctx.snapshot.lines, np.flatnonzero(ctx.snapshot.lines.idc == ctx.row_numbers[0]).tolist()
    by_code = {lines.codes[line]: line for line in own}
    if {lines.codes[line] for line in ctx.lines.of(0)} == set(codes):
        return ctx
    if not all(code in by_code and lines.room[by_code[code]] >= ctx.request.bandwidth for code in codes):
        return None
    return ctx.on_lines(tuple(by_code[code] for code in codes))


def claims_of(ctx: Cycle, profile: Profile) -> tuple[Claim, ...]:
    """Return what the one IDC of `ctx` must give: what the profile's plugins claim, the rest without a limit.

    Whatever a request needs is taken, also where no plugin of the profile asks whether it is there. Raises
    PluginFailed: what a plugin could not claim would be oversold.
    """
    found: dict[tuple[str, str], Claim] = {}
    for entry in profile.reservers:
        try:
            claims: list[Claim] = list(entry.run(ctx, "reserve") or ())
        except Exception as error:
            raise PluginFailed(entry.name, "reserve", f"{type(error).__name__}: {error}") from error
        for claim in claims:
            found.setdefault(claim.key, claim)
    for claim in _needed(ctx):
        found.setdefault(claim.key, claim)
    return tuple([found[key] for key in sorted(found)])


def _needed(ctx: Cycle) -> list[Claim]:
    """What the request needs of the chosen lines and the stock, without a limit."""
    need, codes = round(ctx.need, DECIMALS), ctx.snapshot.lines.codes
    of_lines = [Claim(resource=BANDWIDTH, amount=need, line=codes[line]) for line in ctx.lines.of(0) if need]
    of_stock = [(name, round(ctx.request.need(name), DECIMALS)) for name in STOCK_RESOURCES]
    return of_lines + [Claim(resource=name, amount=amount) for name, amount in of_stock if amount]
