"""The filters of the list of moves, which its address holds."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.translation import gettext as _

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.framework.snapshot import Snapshot
from idcsched.planning.choosing import MOST_DAYS, Choice

__all__ = ["MOST", "Filters", "filters_of", "regions_of"]

MOST: Final = 500
"""The most moves that an address may ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What the address chooses; `limit` is None where it does not say. `problems` says what was ignored."""

    choice: Choice
    limit: int | None = None
    problems: Sequence[str] = ()

    @property
    def parameters(self) -> dict[str, str]:
        """The filters as an address has them, without the limit."""
        given = {name: getattr(self.choice, name) for name in self.choice.__struct_fields__}
        return {name: value if isinstance(value, str) else f"{value:.15g}" for name, value in given.items() if value}

    @property
    def query(self) -> str:
        limit = {} if self.limit is None else {"limit": str(self.limit)}
        return urlencode({**self.parameters, **limit})


def filters_of(request: HttpRequest, principal: Principal, snapshot: Snapshot) -> Filters:
    """Return what the address chooses; what can't be is ignored and reported."""
    read: dict[str, Callable[[str], Any]] = {
        "limit": lambda text: _whole(text, 1, MOST),
        "floor": _amount,
        "mbps": _amount,
        "days": lambda text: _whole(text, 0, MOST_DAYS),
        "region": lambda text: text if text in snapshot.spans else None,
        "isp": snapshot.isps.get,
    }
    if principal.all_tenants:
        read["tenant"] = lambda text: text if Tenant.objects.filter(code=text).exists() else None
    given = {name: text for name in read if (text := request.GET.get(name, "").strip()[:100])}
    values = {name: read[name](text) for name, text in given.items()}
    sentences: Mapping[str, str] = {
        "limit": _("The number of moves must be from 1 to %(most)d.") % {"most": MOST},
        "floor": _("What a move must save must be a number, not below 0."),
        "mbps": _("The Mbps that are moved must be a number, not below 0."),
        "days": _("The age of an order must be from 0 to %(most)d days.") % {"most": MOST_DAYS},
        "region": _("There is no region %(name)s.") % {"name": given.get("region", "")},
        "isp": _("There is no ISP %(name)s.") % {"name": given.get("isp", "")},
        "tenant": _("There is no tenant %(name)s.") % {"name": given.get("tenant", "")},
    }
    known = {name: value for name, value in values.items() if value is not None}
    return Filters(
        limit=known.pop("limit", None),
        choice=Choice(**known),
        problems=[sentences[name] for name, value in values.items() if value is None],
    )


def regions_of(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the regions that have IDCs, each with its name."""
    return [
        (code, f"{code} {snapshot.regions[code].name}".rstrip())
        for code, (start, stop) in sorted(snapshot.spans.items())
        if stop > start
    ]


def _whole(text: str, low: int, high: int) -> int | None:
    """Return the number, if it is a whole one within these bounds."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(high))
    return int(text) if digits and low <= int(text) <= high else None


def _amount(text: str) -> float | None:
    try:
        amount = float(text)
    except ValueError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None
