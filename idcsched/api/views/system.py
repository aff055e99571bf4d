"""`plugins/` and `status/`: the registered plugins, and the state of the installation."""

import time
from collections.abc import Iterator
from typing import Any, Final, Literal

import django
import msgspec
import numpy as np
from django.db import connection
from django.db.models import Count
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from idcsched import __version__
from idcsched.api.background import Background, background
from idcsched.api.openapi import paged
from idcsched.api.resources import page_response, struct_response
from idcsched.api.throttling import throttle_state
from idcsched.db.standby import read_only
from idcsched.framework.plugin import Plugin
from idcsched.framework.ranges import without_range
from idcsched.language.wording import say
from idcsched.placement.models import Placement
from idcsched.placement.rollup import stuck
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.plugins import registry
from idcsched.scheduling.recorder import recorder

__all__ = ["PluginsView", "StatusView"]

CLOCKS_AGREE: Final = 5.0
"""Seconds by which the clocks of a web process and of the database may differ."""


class PluginReason(msgspec.Struct, frozen=True):
    """One reason for which the plugin rejects an IDC; `{fields}` in `sentence` stand for values of the rejection."""

    code: str
    label: str
    sentence: str


class PluginDocument(msgspec.Struct, frozen=True):
    """One registered plugin."""

    name: str
    version: str
    points: tuple[str, ...]
    description: str
    args: dict[str, Any]
    metrics: tuple[str, ...]
    reasons: tuple[PluginReason, ...]


class Versions(msgspec.Struct, frozen=True):
    idcsched: str
    django: str
    numpy: str
    database: str


class SnapshotStatus(msgspec.Struct, frozen=True):
    id: str
    age_seconds: float
    idcs: int
    lines: int


class RecordsStatus(msgspec.Struct, frozen=True):
    """The number of this process's decisions that wait to be recorded, and of those that never will be."""

    waiting: int
    dropped: int


class PlacementsStatus(msgspec.Struct, frozen=True):
    """The number of placements that need attention, because a machine is missing or can't be removed.

    `stuck`: how many of them have been in the state `provisioning` or `releasing` for an hour, holding their capacity.
    """

    needing_attention: int
    stuck: int


class Status(msgspec.Struct, frozen=True):
    """The state of the installation.

    `profiles` has the number of each profile's revision in force. `broken_plugins` says why a plugin could not be
    loaded, `broken_profiles` why a profile can't be used. `degraded_because` has a code for each fault, with the name
    of what is concerned. A plugin that could not be loaded counts as a fault only if a profile in force needs it.
    Likewise a collector counts only if a source needs it, and a driver only if a provider needs it.
    """

    versions: Versions
    snapshot: SnapshotStatus
    records: RecordsStatus
    throttle: Literal["off", "memory", "redis", "redis_away"]
    background: Background
    placements: PlacementsStatus
    profiles: dict[str, int]
    broken_plugins: dict[str, str]
    broken_profiles: dict[str, str]
    degraded: bool
    degraded_because: list[str]


class PluginsView(APIView):
    """The plugins that profiles can use."""

    capability = "read"

    @paged(PluginDocument, operation_id="plugins_list")
    def get(self, request: Request) -> HttpResponse:
        return page_response(request, [plugin for _, plugin in sorted(registry().plugins.items())], _document)


class StatusView(APIView):
    """Versions, the snapshot on which decisions are made, and what is broken; for people and monitoring."""

    capability = "read"

    @extend_schema(operation_id="status_read", responses=Status)
    def get(self, request: Request) -> HttpResponse:
        state = live.current()
        throttle, work, placements = throttle_state(), background(), _placements()
        causes = [*_causes(state, throttle, placements), *work.degraded_because]
        return struct_response(
            Status(
                versions=Versions(__version__, django.__version__, np.__version__, _database()),
                snapshot=SnapshotStatus(
                    id=state.snapshot.id,
                    age_seconds=round(live.lag_seconds, 3),
                    idcs=state.snapshot.size,
                    lines=len(state.snapshot.lines.codes),
                ),
                records=RecordsStatus(recorder.waiting, recorder.dropped),
                throttle=throttle,
                background=work,
                placements=placements,
                profiles={code: profile.revision for code, profile in sorted(state.profiles.items())},
                broken_plugins=dict(registry().broken),
                broken_profiles=dict(state.broken_profiles),
                degraded=bool(causes),
                degraded_because=causes,
            )
        )


def _causes(state: LiveState, throttle: str, placements: PlacementsStatus) -> Iterator[str]:
    """Yield a code for each fault of the web server's side; `background()` adds those of the background work."""
    if live.lagging:
        yield "snapshot_lagging"
    if read_only():
        yield "database_read_only"
    if recorder.dropped:
        yield "records_dropped"
    if throttle == "redis_away":
        yield "redis_away"
    if placements.stuck:
        yield "placements_stuck"
    if abs(_clock_ahead()) > CLOCKS_AGREE:
        yield "clock_off"
    yield from _profile_causes(state)


def _profile_causes(state: LiveState) -> Iterator[str]:
    """Yield a code for each profile in force that can't be used, or of which a scorer has no range."""
    for code in sorted(state.broken_profiles):
        yield f"profile_broken: {code}"
    metrics = [column.fact for column in state.snapshot.metrics.values()]
    for code, profile in sorted(state.profiles.items()):
        if without_range(profile, metrics):
            yield f"profile_without_range: {code}"


def _document(plugin: type[Plugin]) -> PluginDocument:
    reasons = [reason for name, reason in registry().reasons() if name == plugin.name]
    return PluginDocument(
        name=plugin.name,
        version=plugin.version,
        points=plugin.points(),
        description=(plugin.__doc__ or "").strip(),
        args=msgspec.json.schema(plugin.Args),
        metrics=plugin.metrics,
        reasons=tuple(PluginReason(reason.code, say(reason.label, {}), say(reason.sentence, {})) for reason in reasons),
    )


def _placements() -> PlacementsStatus:
    needing = Placement.objects.filter(needs_attention=True)
    return PlacementsStatus(
        **needing.aggregate(needing_attention=Count("pk"), stuck=Count("pk", filter=stuck(timezone.now())))
    )


def _database() -> str:
    version = ".".join(map(str, connection.get_database_version()))
    return f"{connection.display_name} {version}"


def _clock_ahead() -> float:
    """Return by how many seconds this process's clock is ahead of PostgreSQL's; 0 with SQLite, which has none."""
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return time.time() - float(cursor.fetchone()[0])
