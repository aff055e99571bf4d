"""The rows of the bench have the names that were promised, and are written where they are looked for."""

import json
from pathlib import Path
from typing import Any

from bench import __main__ as bench
from bench.measuring import measure
from bench.row import Row, Sides, all_rows

PROMISED = {
    "moving_10k_nova",
    "moving_10k_sql",
    "moving_1k_sql",
    "moving_10k_floor",
    "moving_1k_floor",
    "first_10k_floor",
    "first_1k_floor",
    "growth_100_to_10k",
    "full_10k_ms",
    "snapshot_build_s",
    "ingest",
    "ingest_http",
    "ingest_collect",
    "ingest_rollups_10k_s",
    "batch_distinct",
    "reserve_service",
    "reserve_http",
    "reserve_http_keyed",
}


def row(**fields: Any) -> Row:
    return Row(name="one", title="one", unit="ms", set_up=lambda _: Sides(lambda: 2.0, 8.0), **fields)


def test_it_works() -> None:
    assert measure(row(), Sides(lambda: 2.0, lambda: 8.0), rounds=5).document()["ratio"] == 4.0


def test_more_is_better_where_it_says_so() -> None:
    assert measure(row(better="more"), Sides(lambda: 2.0, 8.0), rounds=5).ratio == 0.25


def test_rounds_go_in_turns() -> None:
    seen: list[str] = []

    def side(name: str) -> Any:
        return lambda: float(seen.append(name) or 1)  # type: ignore[func-returns-value]

    measure(row(), Sides(side("ours"), side("theirs")), rounds=5)
    assert seen == ["ours", "theirs"] * 6


def test_the_promised_rows_are_there() -> None:
    names = [row.name for row in all_rows()]
    assert set(names) >= PROMISED
    assert len(names) == len(set(names))


def test_figures_are_written_and_older_ones_kept(tmp_path: Path) -> None:
    into = tmp_path / "bench.json"
    into.write_text('[{"name": "another", "ratio": 3}, {"name": "one", "ratio": 9}]')
    bench._write([measure(row(), Sides(lambda: 2.0, 8.0), rounds=5)], into)
    figures = {each["name"]: each["ratio"] for each in json.loads(into.read_text())}
    assert figures == {"another": 3, "one": 4.0}


def test_a_row_that_cannot_be_measured_is_named(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    def broken(_: Any) -> Sides:
        raise OSError("no such server")

    monkeypatch.setattr(bench, "all_rows", lambda: [Row(name="x", title="x", unit="ms", set_up=broken)])
    assert bench.main(["--into", str(tmp_path / "none.json")]) == 2
    assert "x                       can't be measured: OSError: no such server" in capsys.readouterr().out
