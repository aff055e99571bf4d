"""The claims of an order on the capacity of the chosen IDC, as values that the ledger checks and keeps."""

import numpy as np

from .capacity import BANDWIDTH, Claim
from .columns import STOCK_RESOURCES
from .context import Cycle
from .decision import Decision
from .errors import PluginFailed
from .profile import Profile

__all__ = ["claims_of", "narrowed_to", "on_given_lines"]


def narrowed_to(decision: Decision, position: int) -> Cycle:
    """Return the cycle narrowed to the survivor at a position."""
    return decision.survivors.narrowed(np.array([position], dtype=np.intp))


def on_given_lines(ctx: Cycle, codes: tuple[str, ...]) -> Cycle | None:
    """Return the cycle of one IDC with those lines as the chosen ones; None where a line is gone or has no room."""
    lines, own = ctx.snapshot.lines, np.flatnonzero(ctx.snapshot.lines.idc == ctx.row_numbers[0]).tolist()
    by_code = {lines.codes[line]: line for line in own}
    if {lines.codes[line] for line in ctx.lines.of(0)} == set(codes):
        return ctx
    if not all(code in by_code and lines.room[by_code[code]] >= ctx.request.bandwidth for code in codes):
        return None
    return ctx.on_lines(tuple(by_code[code] for code in codes))


def claims_of(ctx: Cycle, profile: Profile) -> tuple[Claim, ...]:
    """Return the claims on the one IDC of `ctx`: those of the profile's plugins, and any other need without a limit.

    All that the request needs is claimed, also where no plugin of the profile checks for room. Raises PluginFailed
    where a plugin fails: what it did not claim would be oversold.
    """
    by_key: dict[tuple[str, str], Claim] = {}
    for entry in profile.reservers:
        try:
            claims: list[Claim] = list(entry.run(ctx, "reserve") or ())
        except Exception as error:
            raise PluginFailed(entry.name, "reserve", f"{type(error).__name__}: {error}") from error
        for claim in claims:
            by_key.setdefault(claim.key, claim)
    for claim in _needed(ctx):
        by_key.setdefault(claim.key, claim)
    return tuple([by_key[key] for key in sorted(by_key)])


def _needed(ctx: Cycle) -> list[Claim]:
    """Return claims, without a limit, on all that the request needs of the chosen lines and the stock."""
    need, codes = ctx.need, ctx.snapshot.lines.codes
    of_lines = [Claim(resource=BANDWIDTH, amount=need, line=codes[line]) for line in ctx.lines.of(0) if need]
    of_stock = [(name, ctx.request.need(name)) for name in STOCK_RESOURCES]
    return of_lines + [Claim(resource=name, amount=amount) for name, amount in of_stock if amount]
