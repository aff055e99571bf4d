"""The scheduler's Prometheus metrics, modelled on kube-scheduler's, with the prefix `idcsched_`."""

import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import NamedTuple

import numpy as np
from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from idcsched.framework.decision import Decision
from idcsched.framework.errors import PluginFailed
from idcsched.framework.snapshot import fresh

from .live import live

__all__ = ["Attempt", "SnapshotFigures"]

SECONDS = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
IDCS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
PLUGINS_TIMED_EVERY = 10
"""One decision of so many is timed plugin by plugin."""

attempts = Counter("idcsched_schedule_attempts", "Questions, by how they ended.", ["result", "profile"])
attempt_seconds = Histogram(
    "idcsched_scheduling_attempt_duration_seconds",
    "From the checked question to the recorded answer.",
    ["result", "profile"],
    buckets=SECONDS,
)
algorithm_seconds = Histogram(
    "idcsched_scheduling_algorithm_duration_seconds",
    "The decision, with what plugins asked of the outside.",
    ["profile"],
    buckets=SECONDS,
)
point_seconds = Histogram(
    "idcsched_framework_extension_point_duration_seconds",
    "All plugins at one point of a decision. Sampled.",
    ["extension_point", "profile"],
    buckets=SECONDS,
)
plugin_seconds = Histogram(
    "idcsched_plugin_execution_duration_seconds",
    "One plugin at one point of a decision. Sampled.",
    ["plugin", "extension_point"],
    buckets=SECONDS,
)
rejections = Counter("idcsched_rejections", "IDCs that were rejected, by the first reason.", ["plugin", "code"])
plugin_errors = Counter("idcsched_plugin_errors", "Times that a plugin raised.", ["plugin", "extension_point"])
evaluated = Histogram("idcsched_candidates_evaluated", "IDCs that a question was about.", ["profile"], buckets=IDCS)
feasible = Histogram("idcsched_candidates_feasible", "IDCs that were left to rank.", ["profile"], buckets=IDCS)

_attempt_numbers = count()


class Attempt:
    """Context manager that counts and times the answering of one question; exceptions pass through.

    `clock` is None unless the decision is timed plugin by plugin. A question that is merely tried is not `counted`.
    """

    __slots__ = ("clock", "counted", "profile", "result", "started")

    def __init__(self, profile: str, *, counted: bool = True) -> None:
        self.profile = profile
        self.counted = counted
        self.clock: Callable[[], float] | None = (
            time.perf_counter if counted and next(_attempt_numbers) % PLUGINS_TIMED_EVERY == 0 else None
        )
        self.started = time.perf_counter()
        self.result = "error"

    def __enter__(self) -> "Attempt":
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, _: object) -> None:
        if not self.counted:
            return
        if isinstance(raised, PluginFailed):
            plugin_errors.labels(str(raised.params["plugin"]), str(raised.params["point"])).inc()
        attempt_counter, seconds = _attempts("error" if raised else self.result, self.profile)
        attempt_counter.inc()
        seconds.observe(time.perf_counter() - self.started)

    def decided(self, decision: Decision) -> None:
        """Observe the decision; its explanation and its record are still to come."""
        profile = decision.profile.code
        self.result = "scheduled" if decision.scheduled else "unschedulable"
        if not self.counted:
            return
        metrics = _profile_metrics(profile)
        metrics.seconds.observe(time.perf_counter() - self.started)
        metrics.evaluated.observe(decision.cycle.size)
        metrics.feasible.observe(decision.feasible)
        for rejected, _ in decision.rejected:
            _rejections(rejected.plugin, rejected.code).inc(rejected.count)
        for error in decision.plugin_errors:
            plugin_errors.labels(error.plugin, error.point).inc()
        _observe_timings(decision, profile)


class SnapshotFigures(Collector):
    """The collector of the metrics of this process's snapshot; yields none before there is one, and asks no database.

    Only values of online IDCs and their lines count: nobody need measure the others.
    """

    def collect(self) -> Iterator[Metric]:
        if live.known is None:
            return
        snapshot = live.known.snapshot
        yield GaugeMetricFamily("idcsched_snapshot_idcs", "IDCs in the snapshot.", value=snapshot.size)
        yield GaugeMetricFamily("idcsched_snapshot_lines", "Lines in the snapshot.", value=len(snapshot.lines.codes))
        online = np.array([status == "online" for status in snapshot.idcs.statuses], dtype=bool)
        known = GaugeMetricFamily("idcsched_values", "Latest values of online IDCs or their lines.", labels=["metric"])
        stale = GaugeMetricFamily("idcsched_values_stale", "Of these, those that are too old.", labels=["metric"])
        for code, column in snapshot.metrics.items():
            counted = ~np.isnan(column.values) & (online[snapshot.lines.idc] if column.fact.scope == "line" else online)
            known.add_metric([code], int(counted.sum()))
            too_old = counted & ~fresh(column.fact, column.values, column.at, time.time())
            stale.add_metric([code], int(too_old.sum()))
        yield known
        yield stale


class _ProfileMetrics(NamedTuple):
    """The metrics labelled with one profile, kept because looking a label up costs more than observing."""

    seconds: Histogram
    evaluated: Histogram
    feasible: Histogram


@cache
def _profile_metrics(profile: str) -> _ProfileMetrics:
    return _ProfileMetrics(algorithm_seconds.labels(profile), evaluated.labels(profile), feasible.labels(profile))


@cache
def _rejections(plugin: str, code: str) -> Counter:
    return rejections.labels(plugin, code)


@cache
def _attempts(result: str, profile: str) -> tuple[Counter, Histogram]:
    return attempts.labels(result, profile), attempt_seconds.labels(result, profile)


def _observe_timings(decision: Decision, profile: str) -> None:
    points: dict[str, float] = {}
    for timing in decision.timings:
        plugin_seconds.labels(timing.plugin, timing.point).observe(timing.seconds)
        points[timing.point] = points.get(timing.point, 0.0) + timing.seconds
    for point, seconds in points.items():
        point_seconds.labels(point, profile).observe(seconds)
