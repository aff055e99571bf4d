"""The picture that an order is decided on: live, or with what the earlier orders of a batch take."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from idcsched.framework.batch import Batch
from idcsched.framework.overlay import Allocation
from idcsched.framework.request import Request
from idcsched.framework.shortfall import free_part_of
from idcsched.framework.spreading import allocations_of
from idcsched.scheduling.deciding import MadeDecision
from idcsched.scheduling.live import LiveState, live

from .orders import BUSINESS, Take
from .quota import NOTHING, Use, use_of

__all__ = ["LiveView", "Lookahead"]


class LiveView:
    """A view of the live picture."""

    @property
    def picture(self) -> LiveState:
        return live.current()

    def renew(self) -> None:
        """Take in the changes that all processes have committed."""
        live.catch_up()

    def took(self, takes: Sequence[Take]) -> None:
        """Note what an order has taken; the live picture shows it by itself."""


class Lookahead(LiveView):
    """One picture for many orders, with what the earlier ones took, or would take if not merely recommended.

    The picture is read again only where a concurrent order was quicker. `waiting`: the orders have waited, and may take
    what is kept for waiting orders.
    """

    def __init__(self, *, waiting: bool = False) -> None:
        self._waiting = waiting
        self._not_in_database: list[Allocation] = []
        self._promised: dict[str, Use] = {}
        self._start()

    @property
    def picture(self) -> LiveState:
        return replace(self._picture, snapshot=self.batch.snapshot)

    @property
    def seen(self) -> dict[str, Any]:
        """Return the picture's arguments for `make`; kept capacity depends on the request and allows no `after`."""
        if self._picture.kept:
            return {"picture": self.picture}
        return {"picture": self._picture, "after": self.batch}

    def renew(self) -> None:
        super().renew()
        self._start()
        self.batch.take(self._not_in_database)

    def took(self, takes: Sequence[Take]) -> None:
        """Lay what an order has taken over the picture; again after `renew` while the transaction is open."""
        allocations = [take.allocation for take in takes]
        self.batch.take(allocations)
        if connection.in_atomic_block:
            self._not_in_database += allocations

    def would_take(self, made: MadeDecision, request: Request) -> None:
        """Lay what a recommendation would take over the picture; raises PluginFailed."""
        business = (request.labels or {}).get(BUSINESS, "")
        allocations = allocations_of(made.solution, tenant=made.record.tenant or "", business=business)
        self.batch.take(allocations)
        self._not_in_database += allocations
        if made.record.tenant:
            self.promise(made.record.tenant, use_of(request))

    def promise(self, tenant: str, use: Use) -> None:
        """Count a use that is not in the database against the tenant's quota."""
        self._promised[tenant] = self.promised(tenant) + use

    def promised(self, tenant: str | None) -> Use:
        return self._promised.get(tenant or "", NOTHING)

    def keep_free(self, wanted: Allocation) -> None:
        """Hide what is left of the wanted capacity from the later orders."""
        allocation = free_part_of(self.batch.snapshot, wanted)
        self.batch.take([allocation])
        self._not_in_database.append(allocation)

    def _start(self) -> None:
        picture = live.current()
        self._picture = replace(picture, kept=()) if self._waiting else picture
        self.batch = Batch(picture.snapshot)
