"""Servers that misbehave in every way: the run says how, and the last good values stay."""

import gzip
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.sources.collecting import source_collect
from tests.outbound.peers import (
    Behaviour,
    closed_port,
    drip,
    drip_headers,
    hang_up,
    huge,
    in_turn,
    json_reply,
    peer,
    raw_reply,
    redirect,
    short,
    silent,
    zipped_bomb,
)

MakeSource = Callable[..., Source]
GOOD_CSV = raw_reply(b"site,cpu\r\ngz-01,0.5\r\n", Content_Type="text/csv")
GOOD = {"http_json": json_reply([{"site": "gz-01", "cpu": 0.5}]), "csv": GOOD_CSV}
SERIES = {"metric": {"site": "gz-01"}, "value": [0, "0.5"]}
VECTOR = {"status": "success", "data": {"resultType": "vector", "result": [SERIES]}}


BAD: dict[str, tuple[Behaviour, str]] = {
    "silence": (silent, "too_slow"),
    "a byte now and then": (drip, "too_slow"),
    "a head without end": (drip_headers, "too_slow"),
    "hung up": (hang_up, "no_connection"),
    "truncated": (short, "no_connection"),
    "500": (raw_reply(b"", 500), "server_failed"),
    "404": (raw_reply(b"", 404), "bad_status"),
    "a redirect": (redirect("http://169.254.169.254/latest/meta-data/"), "bad_status"),
    "200 MB": (huge, "too_large"),
    "a bomb": (zipped_bomb, "too_large"),
    "gzip that is none": (raw_reply(b"[]", Content_Encoding="gzip"), "bad_reply"),
    "gzip cut off": (raw_reply(gzip.compress(b"[" * 1000)[:-9], Content_Encoding="gzip"), "bad_reply"),
}
GARBAGE: dict[str, tuple[str, bytes, str]] = {
    "no JSON": ("http_json", b"<html>", "bad_reply"),
    "JSON that ends early": ("http_json", b'[{"site": "gz-01"', "bad_reply"),
    "JSON nested without end": ("http_json", b"[" * 100_000, "bad_reply"),
    "a list of texts": ("http_json", b'["gz-01"]', "no_items"),
    "a number": ("http_json", b"7", "no_items"),
    "an empty list": ("http_json", b"[]", "nothing_found"),
    "bytes that are no text": ("csv", b"site,cpu\n\xff\xfe,1\n", "bad_encoding"),
    "a quote without end": ("csv", b'site,cpu\n"gz-01,1\n', "bad_table"),
    "two columns of one name": ("csv", b"site,site,cpu\na,b,1\n", "bad_table"),
    "headings only": ("csv", b"site,cpu\n", "nothing_found"),
    "nothing at all": ("csv", b"", "nothing_found"),
}


def collected(source: Source, *, after: float = 0) -> Run:
    run = source_collect(source_id=source.pk, clock=lambda: timezone.now() + timedelta(seconds=after))
    assert run is not None
    return run


def test_it_works(make_source: MakeSource) -> None:
    for kind, behave in GOOD.items():
        with peer(behave) as server:
            assert collected(make_source(server.url, code=kind, kind=kind)).stored == 1


@pytest.mark.parametrize(("behave", "code"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("kind", GOOD)
def test_a_server_that_misbehaves(make_source: MakeSource, kind: str, behave: Behaviour, code: str) -> None:
    with peer(in_turn(GOOD[kind], behave)) as server:
        timeout = 1.5 if code == "too_slow" else 60
        source = make_source(kind=kind, config={"url": server.url, "timeout_seconds": timeout})
        assert collected(source).stored == 1
        run = collected(source, after=60)
    assert (run.state, run.error["code"], run.fetched, run.stored) == ("failed", code, 0, 0)
    assert Latest.objects.get().value == 0.5


@pytest.mark.parametrize(("behave", "code"), BAD.values(), ids=BAD)
def test_a_prometheus_that_misbehaves(make_source: MakeSource, behave: Behaviour, code: str) -> None:
    mapping = {"idc": "labels.site", "at": None, "values": {"cpu_load": "value"}}
    timeout = 1.5 if code == "too_slow" else 60
    with peer(in_turn(json_reply(VECTOR), behave)) as server:
        config = {"url": server.url.partition("/judge")[0], "query": "cpu", "timeout_seconds": timeout}
        source = make_source(kind="prometheus", config=config, mapping=mapping)
        assert collected(source).stored == 1
        run = collected(source, after=60)
    assert (run.state, run.error["code"], run.stored) == ("failed", code, 0)
    assert Latest.objects.get().value == 0.5


@pytest.mark.parametrize(("minutes", "stale"), [(5, False), (16, True)])
def test_what_a_broken_source_has_said_goes_stale(
    make_source: MakeSource, client: Client, minutes: int, stale: bool
) -> None:
    """The last good value stays, with its age; once it is older than `max_age`, 15 minutes, it is shown as stale."""
    client.force_login(user_create(username="vera", role=Role.VIEWER))
    with peer(in_turn(GOOD["http_json"], raw_reply(b"", 404))) as server:
        source = make_source(server.url)
        Source.objects.update(due_at=timezone.now() - timedelta(hours=1))
        states = [collected(source, after=60 * (turn - minutes)).state for turn in range(4)]
    assert states == ["succeeded", "failed", "failed", "failed"]
    values = client.get("/api/v1/idcs/gz-01/state/").json()["values"]
    (load,) = [value for value in values if value["metric"] == "cpu_load"]
    assert (load["value"], load["stale"]) == (0.5, stale)
    assert load["age_seconds"] == pytest.approx(60 * minutes, abs=30)
    (told,) = client.get("/api/v1/status/").json()["background"]["sources"]
    assert (told["code"], told["failures"], told["failing"]) == ("loads", 3, True)


@pytest.mark.parametrize(("kind", "body", "code"), GARBAGE.values(), ids=GARBAGE)
def test_a_server_that_talks_nonsense(make_source: MakeSource, kind: str, body: bytes, code: str) -> None:
    with peer(raw_reply(body)) as server:
        run = collected(make_source(server.url, kind=kind))
    assert (run.state, run.error["code"], run.stored) == ("failed", code, 0)


def test_nobody_there(make_source: MakeSource) -> None:
    run = collected(make_source(f"http://127.0.0.1:{closed_port()}/"))
    assert run.error["code"] == "no_connection"


def test_a_host_that_may_not_be_called(make_source: MakeSource, settings: Any) -> None:
    settings.OUTBOUND_HOSTS = ["*"]
    with peer(GOOD["http_json"]) as server:
        run = collected(make_source(server.url))
    assert run.error["code"] == "host_refused"
    assert not server.calls


@pytest.mark.parametrize(
    ("encoding", "delimiter", "skip"), [("utf-8", ",", 0), ("gb18030", ";", 2), ("utf-16", "\t", 1)]
)
def test_a_table_as_a_spreadsheet_writes_it(
    make_source: MakeSource, settings: Any, tmp_path: Path, encoding: str, delimiter: str, skip: int
) -> None:
    settings.SOURCE_FOLDER = tmp_path
    rows = ["报表"] * skip + [f"机房{delimiter} 负载 {delimiter}", f'"gz-01"{delimiter}0.5{delimiter}', ""]
    (tmp_path / "loads.csv").write_bytes("\r\n".join(rows).encode(encoding))
    config = {"file": "loads.csv", "encoding": encoding, "delimiter": delimiter, "skip_lines": skip}
    mapping = {"idc": '"机房"', "values": {"cpu_load": '"负载"'}}
    assert collected(make_source(kind="csv", config=config, mapping=mapping)).stored == 1


def test_a_file_outside_of_the_folder_is_not_read(make_source: MakeSource, settings: Any, tmp_path: Path) -> None:
    settings.SOURCE_FOLDER = tmp_path / "sources"
    settings.SOURCE_FOLDER.mkdir()
    (tmp_path / "outside.csv").write_text("site,cpu\ngz-01,0.5\n")
    (settings.SOURCE_FOLDER / "link.csv").symlink_to(tmp_path / "outside.csv")
    codes = [
        collected(make_source(code=name, kind="csv", config={"file": f"{name}.csv"})).error["code"]
        for name in ("link", "absent")
    ]
    assert codes == ["outside_folder", "no_file"]
