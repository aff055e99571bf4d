"""What an order is decided on: the live picture, or one that also shows what the orders before it have just taken."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from idcsched.framework.batch import Batch
from idcsched.framework.overlay import Tenancy
from idcsched.framework.request import Request
from idcsched.framework.shortfall import left_of
from idcsched.framework.spreading import tenancies_of
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.schedule import Made

from .orders import BUSINESS, Take
from .quota import NOTHING, Use, use_of

__all__ = ["LiveView", "Lookahead", "tenancy_of"]


class LiveView:
    """The live picture."""

    @property
    def picture(self) -> LiveState:
        return live.current()

    def renew(self) -> None:
        """Take in the changes that all processes have committed."""
        live.catch_up()

    def took(self, takes: Sequence[Take]) -> None:
        """This was taken in earnest."""


class Lookahead(LiveView):
    """One picture for many orders, each seeing what the ones before it took, or would have taken if it were for real.

    Nothing is read anew for it, unless somebody was quicker. `waiting`: they wait, and what is kept is theirs.
    """

    def __init__(self, *, waiting: bool = False) -> None:
        self._waiting = waiting
        self._supposed: list[Tenancy] = []
        self._promised: dict[str, Use] = {}
        self._begin()

    @property
    def picture(self) -> LiveState:
        return replace(self._picture, snapshot=self.batch.snapshot)

    @property
    def seen(self) -> dict[str, Any]:
        """What `make` recommends on: what is kept for orders that wait hangs on who asks, so that it is laid over."""
        if self._picture.kept:
            return {"picture": self.picture}
        return {"picture": self._picture, "after": self.batch}

    def renew(self) -> None:
        super().renew()
        self._begin()
        self.batch.take(self._supposed)

    def took(self, takes: Sequence[Take]) -> None:
        """A picture read later shows it, unless what took it can still be undone."""
        tenancies = [tenancy_of(take) for take in takes]
        self.batch.take(tenancies)
        if connection.in_atomic_block:
            self._supposed += tenancies

    def would_take(self, made: Made, request: Request) -> None:
        """This was only recommended; raises PluginFailed."""
        business = (request.labels or {}).get(BUSINESS, "")
        tenancies = tenancies_of(made.solution, tenant=made.record.tenant or "", business=business)
        self.batch.take(tenancies)
        self._supposed += tenancies
        if made.record.tenant:
            self.promise(made.record.tenant, use_of(request))

    def promise(self, tenant: str, use: Use) -> None:
        """Count this against the tenant's quota; the database does not know of it."""
        self._promised[tenant] = self.promised(tenant) + use

    def promised(self, tenant: str | None) -> Use:
        return self._promised.get(tenant or "", NOTHING)

    def keep_free(self, wanted: Tenancy) -> None:
        """Whoever comes after does not see what is left of that."""
        tenancy = left_of(self.batch.snapshot, wanted)
        self.batch.take([tenancy])
        self._supposed.append(tenancy)

    def _begin(self) -> None:
        picture = live.current()
        self._picture = replace(picture, kept=()) if self._waiting else picture
        self.batch = Batch(picture.snapshot)


def tenancy_of(take: Take) -> Tenancy:
    """What it takes, as later decisions are to see it."""
    order = take.order
    return Tenancy(
        idc=take.candidate.idc,
        claims=take.candidate.claims,
        tenant=order.tenant.code,
        business=order.business,
        machines=order.machines,
    )
