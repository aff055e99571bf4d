"""What a decision would take where it lands: claims on capacity, as values that the ledger honours."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .decision import Decision
from .facts import STOCK_RESOURCES
from .normalize import DECIMALS

__all__ = ["BANDWIDTH_RESOURCE", "Claim", "claims_of"]

BANDWIDTH_RESOURCE = "bandwidth_mbps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
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


def claims_of(decision: Decision, position: int) -> tuple[Claim, ...]:
    """What the survivor at that position must give: what the profile's plugins claim, the rest without a limit.

    Whatever a request needs is taken, also where no plugin of the profile asks whether it is there.
    """
    picked = decision.survivors.narrowed(np.array([position], dtype=np.intp))
    found: dict[tuple[str, str], Claim] = {}
    for entry in decision.survivors.profile.reservers:
        with picked.at_work(entry, "reserve"):
            for claim in entry.plugin.reserve(picked) or ():
                found.setdefault(claim.key, claim)
    for claim in _needed(decision, position):
        found.setdefault(claim.key, claim)
    return tuple(found[key] for key in sorted(found))


def _needed(decision: Decision, position: int) -> list[Claim]:
    request, lines = decision.survivors.request, decision.survivors.snapshot.lines
    need = round(request.bandwidth, DECIMALS)
    chosen = decision.survivors.lines.of(position) if need else ()
    stock = ((name, round(request.need(name), DECIMALS)) for name in STOCK_RESOURCES)
    return [
        *(Claim(resource=BANDWIDTH_RESOURCE, amount=need, line=lines.codes[line]) for line in chosen),
        *(Claim(resource=name, amount=amount) for name, amount in stock if amount),
    ]
