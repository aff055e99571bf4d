"""System checks: plugins that cannot be loaded, and, with `--database default`, prices out of range."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import DatabaseError

from idcsched.framework.billing import monthly_price
from idcsched.inventory.choices import Status
from idcsched.inventory.models import Line

from .plugins import registry

NAMED = 10
"""The most lines that a warning names; further ones are counted."""
CHEAP = 0.25


@checks.register()
def check_plugins(**_: Any) -> list[checks.CheckMessage]:
    return [
        checks.Warning(
            f"the scheduling plugin {source} cannot be loaded: {error}",
            hint="Profiles that name it cannot be saved or run. Mend or uninstall the distribution that offers it.",
            id="idcsched.W101",
        )
        for source, error in registry().broken.items()
    ]


@checks.register(checks.Tags.database)
def check_prices(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Warn where `billing_cost` can hardly tell prices apart: some above the dearest price, or all far below it."""
    if not databases:
        return []
    try:
        prices = _prices()
    except DatabaseError:  # no tables yet: this runs before the first migration, too
        return []
    dearest = settings.DEAREST_PRICE
    warnings: list[checks.CheckMessage] = []
    if above := sorted(name for name, price in prices.items() if price > dearest):
        more = f" and {len(above) - NAMED} more" if len(above) > NAMED else ""
        warnings.append(
            checks.Warning(
                f"lines that cost more than DEAREST_PRICE ({dearest:g}) a Mbps and month: "
                f"{', '.join(above[:NAMED])}{more}.",
                hint="Among them billing_cost tells no difference. Raise DEAREST_PRICE, or correct the prices.",
                id="idcsched.W105",
            )
        )
    if prices and max(prices.values()) < CHEAP * dearest:
        warnings.append(
            checks.Warning(
                f"all lines cost less than a quarter of DEAREST_PRICE ({dearest:g}): the dearest costs "
                f"{max(prices.values()):g} a Mbps and month.",
                hint="billing_cost tells them apart by few points. Lower DEAREST_PRICE.",
                id="idcsched.W106",
            )
        )
    return warnings


def _prices() -> dict[str, float]:
    """Return the monthly price of a Mbps on each line of an online IDC, where the price is known."""
    fields = ("idc__code", "code", "charge_type", "price_per_mbps", "price_per_gb")
    lines = Line.objects.filter(idc__status=Status.ONLINE).values_list(*fields)
    prices = {f"{idc}/{code}": monthly_price(charge, mbps, gb) for idc, code, charge, mbps, gb in lines}
    return {name: price for name, price in prices.items() if price is not None}
