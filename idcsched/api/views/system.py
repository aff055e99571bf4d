"""`plugins/` and `status/`: the registered plugins, and the state of the installation."""

from collections.abc import Iterator
from typing import Any, Literal

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
from idcsched.framework.plugin import Plugin
from idcsched.language.wording import say
from idcsched.placement.models import Placement
from idcsched.placement.rollup import stuck
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.plugins import registry
from idcsched.scheduling.recorder import recorder

__all__ = ["PluginsView", "StatusView"]


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
    """The number of placements that need attention; `stuck`: of those whose machines can't be removed for an hour."""

    needing_attention: int
    stuck: int


class Status(msgspec.Struct, frozen=True):
    """The state of the installation.

    `broken_plugins` has the reason why a plugin's source could not be loaded, `broken_profiles` why a profile can't be
    used. `degraded_because` has a code for each fault, with the name of what is concerned. A plugin that could not be
    loaded is a fault only where a profile in force needs it, a collector where a source does, a driver where a provider
    does.
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
        picture = live.current()
        throttle, work, placements = throttle_state(), background(), _placements()
        causes = [*_causes(picture, throttle, placements), *work.degraded_because]
        return struct_response(
            Status(
                versions=Versions(__version__, django.__version__, np.__version__, _database()),
                snapshot=SnapshotStatus(
                    id=picture.snapshot.id,
                    age_seconds=round(live.lag_seconds, 3),
                    idcs=picture.snapshot.size,
                    lines=len(picture.snapshot.lines.codes),
                ),
                records=RecordsStatus(recorder.waiting, recorder.dropped),
                throttle=throttle,
                background=work,
                placements=placements,
                profiles={code: profile.revision for code, profile in sorted(picture.profiles.items())},
                broken_plugins=dict(registry().broken),
                broken_profiles=dict(picture.broken_profiles),
                degraded=bool(causes),
                degraded_because=causes,
            )
        )


def _causes(picture: LiveState, throttle: str, placements: PlacementsStatus) -> Iterator[str]:
    """Yield a code for each fault in what answers requests."""
    if live.lagging:
        yield "snapshot_lagging"
    if recorder.dropped:
        yield "records_dropped"
    if throttle == "redis_away":
        yield "redis_away"
    if placements.stuck:
        yield "placements_stuck"
    for code in sorted(picture.broken_profiles):
        yield f"profile_broken: {code}"


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
