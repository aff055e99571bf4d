"""Prometheus metrics of placements, the ledger and callbacks, read from the database at each scrape."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min, Q, Sum
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from idcsched.ledger.models import Holding, Resource

from .lifecycle import ENDED, State
from .models import Delivery, DeliveryState, Placement
from .rollup import stuck

__all__ = ["PlacementFigures"]


class PlacementFigures(Collector):
    """The collector of these metrics; raises a database error while the database is away."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        yield from _placements(now)
        yield from _ledger()
        yield from _callbacks(now)


def _placements(now: datetime) -> Iterator[Metric]:
    standing = Placement.objects.exclude(state__in=ENDED).order_by()
    counts = dict(standing.values_list("state").annotate(Count("pk")))
    by_state = GaugeMetricFamily("idcsched_placements", "Placements that have not ended.", labels=["state"])
    for state in State:
        if state not in ENDED:
            by_state.add_metric([state.value], counts.get(state.value, 0))
    yield by_state
    needing = Placement.objects.filter(needs_attention=True).aggregate(all=Count("pk"), stuck=Count("pk", stuck(now)))
    yield GaugeMetricFamily(
        "idcsched_placements_needing_attention",
        "Placements with a machine that is missing or can't be removed.",
        value=needing["all"],
    )
    yield GaugeMetricFamily(
        "idcsched_placements_stuck",
        "Of these, those that have held capacity for an hour while their machines could not be removed.",
        value=needing["stuck"],
    )
    waiting = Placement.objects.filter(state=State.WAITING).aggregate(since=Min("created_at"))
    yield GaugeMetricFamily(
        "idcsched_placements_longest_wait_seconds",
        "How long the oldest waiting order has waited; 0 if none waits.",
        value=_seconds_since(waiting["since"], now),
    )


def _ledger() -> Iterator[Metric]:
    sums = Holding.objects.order_by().values_list("resource").annotate(Sum("taken"), Sum("ordered"))
    taken = GaugeMetricFamily(
        "idcsched_ledger_taken", "What orders hold and no measurement shows.", labels=["resource"]
    )
    ordered = GaugeMetricFamily(
        "idcsched_ledger_ordered", "What placements that last have ordered.", labels=["resource"]
    )
    by_resource = {resource: amounts for resource, *amounts in sums}
    for resource in Resource:
        taken_sum, ordered_sum = by_resource.get(resource.value, (0.0, 0.0))
        taken.add_metric([resource.value], taken_sum)
        ordered.add_metric([resource.value], ordered_sum)
    yield taken
    yield ordered


def _callbacks(now: datetime) -> Iterator[Metric]:
    counts = Delivery.objects.exclude(state=DeliveryState.DELIVERED).aggregate(
        pending=Count("pk", Q(state=DeliveryState.PENDING)),
        given_up=Count("pk", Q(state=DeliveryState.GIVEN_UP)),
        since=Min("queued_at", filter=Q(state=DeliveryState.PENDING)),
    )
    by_state = GaugeMetricFamily("idcsched_callbacks", "Callbacks that have not been received.", labels=["state"])
    for state in (DeliveryState.PENDING, DeliveryState.GIVEN_UP):
        by_state.add_metric([state.value], counts[state.value])
    yield by_state
    yield GaugeMetricFamily(
        "idcsched_callbacks_longest_wait_seconds",
        "For how long the oldest pending callback has been tried; 0 if none is pending.",
        value=_seconds_since(counts["since"], now),
    )


def _seconds_since(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else max((now - moment).total_seconds(), 0.0)
