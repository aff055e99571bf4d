"""What orders are decided on: the live picture, or one that also shows what the orders before have just taken."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import connection

from idcsched.framework.nearness import left_of
from idcsched.framework.overlaying import Tenancy, laid_over, unmoved_words
from idcsched.framework.request import Request
from idcsched.framework.spreading import tenancies_of
from idcsched.scheduling.live import Picture, live
from idcsched.scheduling.schedule import Made

from .taking import BUSINESS, Take

__all__ = ["Ahead", "Sight"]


class Sight:
    """The live picture."""

    @property
    def picture(self) -> Picture:
        return live.current()

    def renew(self) -> None:
        """Somebody was quicker: take in what everybody has committed."""
        live.catch_up()

    def took(self, takes: Sequence[Take]) -> None:
        """This was taken in earnest."""


class Ahead(Sight):
    """One picture for many orders, each seeing what the ones before it took, or would have taken if it were for real.

    Nothing is read anew for it, unless somebody was quicker. `waiting`: they wait, and what is kept is theirs.
    """

    def __init__(self, *, waiting: bool = False) -> None:
        self._waiting = waiting
        self._picture = self._now()
        self._supposed: list[Tenancy] = []
        self._unmoved = unmoved_words(self._picture.profiles.values())

    @property
    def picture(self) -> Picture:
        return self._picture

    def renew(self) -> None:
        super().renew()
        self._picture = self._now()
        self._unmoved = unmoved_words(self._picture.profiles.values())
        self._lay(self._supposed)

    def took(self, takes: Sequence[Take]) -> None:
        """A picture read later shows it, unless what took it can still be undone."""
        tenancies = [_tenancy(take) for take in takes]
        self._lay(tenancies)
        if connection.in_atomic_block:
            self._supposed += tenancies

    def would_take(self, made: Made, request: Request) -> None:
        """This was only recommended; raises PluginFailed."""
        business = (request.labels or {}).get(BUSINESS, "")
        tenancies = tenancies_of(made.solution, tenant=made.record.tenant or "", business=business)
        self._lay(tenancies)
        self._supposed += tenancies

    def keep_free(self, wanted: Tenancy) -> None:
        """Whoever comes after does not see what is left of that."""
        tenancy = left_of(self._picture.snapshot, wanted)
        self._lay([tenancy])
        self._supposed.append(tenancy)

    def _now(self) -> Picture:
        return replace(live.current(), kept=()) if self._waiting else live.current()

    def _lay(self, tenancies: Sequence[Tenancy]) -> None:
        if tenancies:
            self._picture = replace(
                self._picture, snapshot=laid_over(self._picture.snapshot, tenancies, keeping=self._unmoved)
            )


def _tenancy(take: Take) -> Tenancy:
    order = take.order
    return Tenancy(
        idc=take.candidate.idc,
        claims=take.candidate.claims,
        tenant=order.tenant.code,
        business=order.business,
        machines=order.machines,
    )
