"""The filters of the list of moves, which its address holds."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.translation import gettext as _

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.framework.snapshot import Snapshot
from idcsched.planning.advice import Move

__all__ = ["MOST", "Filters", "chosen_of", "filters_of", "regions_of"]

MOST: Final = 500
"""The most moves that an address may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What the address chooses; `limit` is None where it does not say. `problems` says what was ignored."""

    limit: int | None = None
    floor: float = 0.0
    region: str = ""
    tenant: str = ""
    problems: Sequence[str] = ()

    @property
    def any(self) -> bool:
        return bool(self.floor or self.region or self.tenant)

    @property
    def parameters(self) -> dict[str, str]:
        """The filters as an address has them, without the limit."""
        given = {
            "floor": f"{self.floor:.15g}" if self.floor else "",
            "region": self.region,
            "tenant": self.tenant,
        }
        return {name: value for name, value in given.items() if value}

    @property
    def query(self) -> str:
        limit = {} if self.limit is None else {"limit": str(self.limit)}
        return urlencode({**self.parameters, **limit})


def filters_of(request: HttpRequest, principal: Principal, snapshot: Snapshot) -> Filters:
    """Return what the address chooses; what can't be is ignored and reported."""
    read: dict[str, Callable[[str], Any]] = {
        "limit": _limit,
        "floor": _amount,
        "region": lambda text: text if text in snapshot.spans else None,
    }
    if principal.all_tenants:
        read["tenant"] = lambda text: text if Tenant.objects.filter(code=text).exists() else None
    given = {name: text for name in read if (text := request.GET.get(name, "").strip()[:100])}
    values = {name: read[name](text) for name, text in given.items()}
    sentences: Mapping[str, str] = {
        "limit": _("The number of moves must be from 1 to %(most)d.") % {"most": MOST},
        "floor": _("What a move must save must be a number, not below 0."),
        "region": _("There is no region %(name)s.") % {"name": given.get("region", "")},
        "tenant": _("There is no tenant %(name)s.") % {"name": given.get("tenant", "")},
    }
    return Filters(
        **{name: value for name, value in values.items() if value is not None},
        problems=[sentences[name] for name, value in values.items() if value is None],
    )


def regions_of(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the regions that have IDCs, each with its name."""
    return [
        (code, f"{code} {snapshot.regions[code].name}".rstrip())
        for code, (start, stop) in sorted(snapshot.spans.items())
        if stop > start
    ]


def chosen_of(found: Sequence[Move], filters: Filters, snapshot: Snapshot) -> list[Move]:
    """Return the moves out of the region, of the tenant, that save as much as the filters say."""
    idcs: Collection[str] | None = None
    if filters.region:
        start, stop = snapshot.spans[filters.region]
        idcs = set(snapshot.idcs.codes[start:stop])
    return [
        move
        for move in found
        if move.saves >= filters.floor
        and (idcs is None or move.origin.idc in idcs)
        and filters.tenant in ("", move.tenant)
    ]


def _limit(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= MOST else None


def _amount(text: str) -> float | None:
    try:
        amount = float(text)
    except ValueError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None
