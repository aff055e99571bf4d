"""The demo's sources, which collect the demo's measurements from its own web server."""

from typing import Any, Final

from idcsched.audit.context import origin_set
from metrics_ingest.models import Metric, Source
from metrics_ingest.services import source_create, source_update

from .documents import demo

__all__ = ["PATH", "sources_point_to"]

PATH: Final = "/demo/measurements/"
LINES: Final = {
    "idc": "site",
    "line": "carrier",
    "values": {"bandwidth_mbps": "max([in_mbps, out_mbps])"},
}


def sources_point_to(address: str) -> None:
    """Create the demo's sources, or change their address to that of this run's web server; other edits stay."""
    with origin_set(actor="demo", via="command"):
        _source("demo-lines", "30", f"{address}{PATH}", "lines", LINES)
        _source("demo-sites", "60", f"{address}{PATH}", "sites", {"idc": "idc", "values": _values()})


def _source(code: str, schedule: str, url: str, items: str, mapping: dict[str, Any]) -> None:
    source = Source.objects.filter(code=code).first()
    if source is None:
        config = {"url": url, "items": items, "timeout_seconds": 10}
        source_create(code=code, kind="http_json", schedule=schedule, config=config, mapping=mapping)
    elif source.kind == "http_json" and source.config.get("url") != url:
        source_update(source=source, changes={"config": {**source.config, "url": url}})


def _values() -> dict[str, str]:
    """Return the mapping's `values`: every metric of which the demo's sites have readings."""
    names = {name for reading in demo("readings") for name in reading} - {"idc"}
    return {code: code for code in sorted(Metric.objects.filter(code__in=names).values_list("code", flat=True))}
