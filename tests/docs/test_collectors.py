"""docs/collectors.md shows a collector that works, and names what is really there."""

import inspect
import json
import re
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import pytest

from idcsched.framework.decoding import convert
from metrics_ingest.collector import Ask
from metrics_ingest.sources import counters
from metrics_ingest.sources.kinds import check_collector_class, kinds
from metrics_ingest.sources.mapping import SourceMapping, compile_mapping
from metrics_ingest.sources.schedules import parse_schedule
from tests.docs.pages import blocks, page, section, tables
from tests.outbound.peers import json_reply, loopback_allowed, peer
from tests.third_party.packages import PACKAGES

PAGE = page("collectors.md")
EXAMPLE = PACKAGES / "librenms"


@pytest.fixture
def module() -> ModuleType:
    spec = spec_from_file_location("idcsched_librenms", EXAMPLE / "idcsched_librenms.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_it_works(module: ModuleType, settings: Any) -> None:
    collector = check_collector_class(module.LibreNms)
    port = {"port_id": 7, "ifAlias": "gz-ct-01/ct", "ifInOctets_rate": 1e6, "ifOutOctets_rate": 2e6}
    with loopback_allowed(settings), peer(json_reply({"status": "ok", "ports": [port]})) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        made = collector(convert({"url": url}, collector.Config))
        ask = Ask(now=datetime.now(UTC), timeout=60, secret="t0ken")
        assert not list(made.check())
        assert list(made.collect(ask)) == [port]
        assert server.seen_headers[0]["X-Auth-Token"] == "t0ken"


def test_it_keeps_the_laws_as_the_page_tries_them(module: ModuleType) -> None:
    shown = next(block for block in blocks(PAGE, "python") if "check_collector" in block)
    found: dict[str, Any] = {"LibreNms": module.LibreNms}
    exec(shown.replace("from idcsched_librenms import LibreNms\n", ""), found)
    found["test_it_keeps_the_laws"]()


def test_the_page_shows_what_is_tested() -> None:
    shown = [blocks(PAGE, "python")[0], *blocks(PAGE, "toml")]
    assert shown == [
        (EXAMPLE / name).read_text(encoding="utf-8") for name in ("idcsched_librenms.py", "pyproject.toml")
    ]


@pytest.mark.parametrize("block", [*blocks(PAGE, "json"), *blocks(section(PAGE, "Kinds"), "jsonc")])
def test_the_sources_shown_can_be_saved(block: str) -> None:
    shown = json.loads(re.sub(r"\s//.*", "", block))
    collector = kinds().classes[shown["kind"]]
    assert not list(collector(convert(shown["config"], collector.Config)).check())
    assert compile_mapping({**collector.mapping, **shown["mapping"]})
    assert parse_schedule(str(shown["schedule"]))


def test_counters_are_told_of_as_they_are() -> None:
    (shown,) = blocks(section(PAGE, "Counters"), "jsonc")
    mapping = compile_mapping({"idc": "site", **json.loads(f"{{{shown}}}")})
    assert mapping.values[0].counters([1, 2]) == (1, 2)
    named = {name.strip() for row in tables(PAGE)[2] for name in row["reason"].split(",")}
    source = inspect.getsource(counters)
    refused = {counters.FIRST_READING, *re.findall(r'Invalid\("(\w+)"', source)} - {"in_the_future", "too_old"}
    assert named == refused


def test_every_kind_and_every_field_of_a_mapping_is_named() -> None:
    by_kind, by_field, *_ = tables(PAGE)
    assert {row["kind"] for row in by_kind} == set(kinds().classes)
    named = {name.strip() for row in by_field for name in row["field"].split(",")}
    assert named == set(SourceMapping.__struct_fields__)
