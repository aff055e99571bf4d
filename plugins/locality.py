"""`locality` (Score): near the client is better.

Arguments: `by`: `distance` (default: great-circle km from the client to the IDC, fixed on 0..3000) or `rtt` (the
IDC metric `metric`, by default `rtt_ms`, fixed on 0..100 ms). The client is where the request says: coordinates, or
those of a region or, where it has none, of the nearest region above it. Missing data: neutral. A request without the
place of its client is not scored by distance; if it names a region without coordinates, a note says so.
"""

from typing import Annotated, Literal

import msgspec
import numpy as np

from idcsched.framework.context import Cycle
from idcsched.framework.messages import _
from idcsched.framework.normalize import Floats, Scale
from idcsched.framework.plugin import Note, Plugin
from idcsched.framework.snapshot import Reading

EARTH_RADIUS_KM = 6371.0088
METRES = 3  # decimals of a kilometre; further ones differ between processors
KILOMETRES = Scale(kind="fixed", better="less", low=0.0, high=3000.0)
MILLISECONDS = Scale(kind="fixed", better="less", low=0.0, high=100.0)
NOWHERE = _("neither the client's region {region} nor a region above it has coordinates")


class LocalityArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Distance, or latency by the metric that measures it."""

    by: Literal["distance", "rtt"] = "distance"
    metric: Annotated[str, msgspec.Meta(min_length=1, max_length=63)] = "rtt_ms"


class Locality(Plugin):
    """Distance needs only coordinates; latency is the better choice where it is measured."""

    name = "locality"
    Args = LocalityArgs
    scale = KILOMETRES
    metrics = ("rtt_ms",)

    def scale_for(self, ctx: Cycle) -> Scale:
        return MILLISECONDS if self.args.by == "rtt" else KILOMETRES

    def score(self, ctx: Cycle) -> Reading | None:
        if self.args.by == "rtt":
            return ctx.metric(self.args.metric)
        place = client_place(ctx)
        if place is None:
            return _unknown_place(ctx) if client_region(ctx) else None
        idcs = ctx.snapshot.idcs
        distances = idcs.memory.once(
            ("distance", *place), lambda: great_circle_km(*place, idcs.latitude, idcs.longitude).round(METRES)
        )
        km = ctx.take(distances)
        return Reading(metric="coordinates", values=km, known=~np.isnan(km))

    def note(self, ctx: Cycle, position: int) -> Note | None:
        region = client_region(ctx)
        if self.args.by == "rtt" or not region or client_place(ctx):
            return None
        return Note(NOWHERE, {"region": region})


def client_region(ctx: Cycle) -> str | None:
    client = ctx.request.client
    return client.region if client else None


def _unknown_place(ctx: Cycle) -> Reading:
    """Return distances that are all unknown, so that the scorer is left out and the answer says so."""
    distances = np.full(ctx.size, np.nan)
    return Reading(metric="client_coordinates", values=distances, known=np.zeros(ctx.size, dtype=np.bool_))


def client_place(ctx: Cycle) -> tuple[float, float] | None:
    """Return the client's latitude and longitude; None where the request gives no place or no coordinates are known."""
    client = ctx.request.client
    if client is None:
        return None
    if client.latitude is not None and client.longitude is not None:
        return client.latitude, client.longitude
    for code in ctx.snapshot.lineage(client.region) if client.region else ():
        region = ctx.snapshot.regions[code]
        if region.latitude is not None and region.longitude is not None:
            return region.latitude, region.longitude
    return None


def great_circle_km(latitude: float, longitude: float, latitudes: Floats, longitudes: Floats) -> Floats:
    """Return the haversine distance from one point to many."""
    phi, phis = np.radians(latitude), np.radians(latitudes)
    half_lat, half_long = (phis - phi) / 2, np.radians(longitudes - longitude) / 2
    chord = np.sin(half_lat) ** 2 + np.cos(phi) * np.cos(phis) * np.sin(half_long) ** 2
    km: Floats = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(chord.clip(0.0, 1.0)))
    return km
