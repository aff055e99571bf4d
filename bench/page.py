"""`python -m bench.page [--take]`: docs/performance.md, its plots and docs/scaling.md from kept results, or var's."""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .growth import AXES
from .measuring import machine
from .plot import plot
from .row import Row, all_rows
from .scaling_page import scaling_page
from .steady import LONGEST, LONGEST_P99, MOST_GROWTH
from .timeline import LEFT, LITTLE, STRETCH

__all__ = ["PAGES", "page", "plots"]

RESULTS = Path("bench/results")
MEASURED, STEADY, GROWN, SERVED, MACHINE = "bench.json", "steady.json", "growth.json", "servers.json", "machine.json"
SOAKED, SCALED, YEAR, CONSOLE = "soak.json", "scaling.json", "year.json", "console.json"
PLOTS = Path("docs/growth")
THOUSAND = 1000
TAKEN = {"stolen": "was stolen by the host of this machine", "others": "went to programs that have no part in it"}
STEADY_HOW = f"""\
Requests are due at even intervals, whatever became of those before, and an answer's time counts from when its request
was due, not from when it was sent: one that waits behind a slow one, for a connection or for the client itself is late
by that, too, and so is one that still waited to be sent when the time was over.

Of every stretch of {STRETCH:g} seconds is kept what Linux says of the processors (`/proc/stat`): it is disturbed where
{LITTLE:.0%} of their time or more was stolen (the host ran others meanwhile, and nothing went on here), or so much went
to programs other than this one, its servers and their database. What waits to be sent when a disturbed stretch ends is
dropped, and the load starts afresh; if something that was due in it is still not answered {LEFT:g} seconds into the
next one, that one does not count, either. No other backlog is an excuse: where nothing was taken away, it is our own,
and what was due then counts even if it was dropped later. The run goes on until as many minutes as wanted were
undisturbed, at the longest for {LONGEST:g} times as many; answers are judged in these, everything else in all of the
time. The maximum is measured undisturbed, too. `var/steady.json` has the stretches one by one."""
INTRODUCTION = """\
# Performance

How fast idcsched is beside what one would otherwise take, on one machine and in the same run. Absolute times say
little on shared machines, so every figure stands beside another that was measured in turns with it: ours, theirs,
ours, theirs … The ratio counts, in its median: above 1 we are the better. Questions are distinct, the garbage
collector stays on, and before every 25th question 1 % of the lines have new values.

    make bench                            # all rows, about fifteen minutes; figures in var/bench.json
    .venv/bin/python -m bench moving      # the rows with that word in their names
    .venv/bin/python -m bench.steady      # ten undisturbed minutes at half of what the web server can take
    make soak                             # fifteen minutes of mixed traffic while parts fail: see faults.md
    .venv/bin/python -m bench.growth      # what a decision costs as things grow in number
    .venv/bin/python -m bench.servers     # web servers and threads

The peers: Nova's own filters and weighers, run from its package; one SQL statement on PostgreSQL that filters, scores
and sorts; the *floor*, five masks, eight columns scaled and summed by NumPy on bare arrays, with no explanation, no
missing data, no names; empty views in the same web server; a bare COPY and merge, a bare guarded
UPDATE with two INSERTs. They are held to the same winners and scores as ours by a test where they answer the same.
"""


def page(results: Path = RESULTS) -> str:
    """The page, from what is committed there."""
    measured = {figures["name"]: figures for figures in _read(results / MEASURED)}
    machine, steady, grown, others = (_read(results / name) for name in (MACHINE, STEADY, GROWN, SERVED))
    parts = [
        INTRODUCTION,
        *_table(measured),
        "",
        *_where(machine),
        *_growth(grown),
        *_servers(others),
        *_steady(steady),
        *_soak(_read(results / SOAKED)),
    ]
    return "\n".join(parts) + "\n"


def scaling(results: Path = RESULTS) -> str:
    """The page about what grows with what."""
    return scaling_page(*(_read(results / name) for name in (SCALED, YEAR, GROWN, CONSOLE)))


PAGES = {Path("docs/performance.md"): page, Path("docs/scaling.md"): scaling}
"""How each page is made of the results in a folder."""


def plots(results: Path = RESULTS) -> dict[str, str]:
    """The pictures by their file's name."""
    found = {}
    for axis, points in _read(results / GROWN).items():
        series = {"a decision": [(point["n"], point["us"]) for point in points]}
        found[f"{axis}.svg"] = plot(f"µs by {AXES[axis][0]}", AXES[axis][0], "µs", series)
    return found


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _table(measured: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "| what | ours | beside it | | ratio |"
    yield "|---|--:|--:|---|--:|"
    for row in all_rows():
        yield _line(row, measured.get(row.name))


def _line(row: Row, figures: Mapping[str, Any] | None) -> str:
    if figures is None:
        return f"| {row.title} (`{row.name}`) | | | {row.unit} | not measured |"
    numbers = " | ".join(_told(figures[name]) for name in ("ours", "theirs"))
    told = f"{row.title} (`{row.name}`) | {numbers} | {row.unit}"
    return f"| {told} | {_told(figures['ratio'])} |"


def _told(value: float) -> str:
    """Three digits that mean something, and no powers of ten."""
    return f"{value:,.0f}" if value >= THOUSAND else f"{value:.3g}"


def _where(machine: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"Measured on {machine['date']} on a shared machine with {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}. A limit (`s`, `ms`, `MB`) stands in the second column of figures; its ratio is "
        "limit ÷ ours."
    )


def _growth(grown: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## As things grow in number\n"
    yield (
        "One thing grows at a time, over 1,000 IDCs unless these are what grows. *µs*: of the processor; *kB*: what a "
        "decision allocates at most at once.\n"
    )
    yield "| | | µs | kB |\n|---|--:|--:|--:|"
    for axis, points in grown.items():
        for point in points:
            yield f"| {AXES[axis][0]} | {point['n']:,.0f} | {_told(point['us'])} | {_told(point['kb'])} |"
    yield ""
    for axis in grown:
        yield f"![µs by {AXES[axis][0]}](growth/{axis}.svg)"


def _servers(others: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n## Which server\n"
    yield (
        "Recommendations over 1,000 IDCs, each put on record, by one worker process with so many threads. "
        "Installations run granian with `WEB_THREADS` threads, 6 unless told otherwise (`manage.py serve`). One thread "
        "would be quickest, since threads share the interpreter's lock, as long as nobody waits for the database.\n"
    )
    yield "| server | recommendations a second | MB |\n|---|--:|--:|"
    for figures in others:
        yield f"| {figures['server']} | {_told(figures['per_second'])} | {figures['memory_mb']:,} |"


def _steady(soaked: Mapping[str, Any]) -> Iterator[str]:
    changes = ", ".join(f"{count:,} × {what}" for what, count in soaked["changes"].items())
    yield "\n## Under load for a while\n"
    yield (
        f"{soaked['minutes']:g} minutes at {soaked['rate']:,.0f} recommendations a second over 1,000 IDCs, all on "
        f"record with their inputs, half of the {soaked['maximum']:,.0f} that the server took at the most. "
        f"All the while, as when that was measured, data changed: {changes}."
    )
    yield f"\n- asked of it: no failure, {LONGEST_P99:g} ms at the 99th percentile, under {MOST_GROWTH:g} MB a minute"
    yield f"- failures: {soaked['failed']:,} of {soaked['answers']:,} answers"
    yield from _late(soaked, soaked["timeline"])
    yield f"- memory: {soaked['memory_mb']:g} MB, growing by {soaked['growth_mb_a_minute']:g} MB a minute"
    yield f"- replayed to the same answer: {soaked['replayed'] - soaked['replayed_otherwise']} of {soaked['replayed']}"
    yield f"\n{STEADY_HOW}"


def _soak(soaked: Mapping[str, Any]) -> Iterator[str]:
    asked = ", ".join(f"{sum(counts.values()):,} × {what}" for what, counts in soaked["answers"].items())
    yield "\n## While parts fail\n"
    yield (
        f"{soaked['minutes']:g} minutes of mixed traffic on an installation (nginx, two web servers, a worker, beat, "
        f"PostgreSQL, Redis), of which parts were stopped for some seconds, or killed: {asked}. Errors are judged by "
        "[what is promised](faults.md); everything else has to be answered all the time.\n"
    )
    yield "| what failed | at, s | away, s | well again after, s | errors |\n|---|--:|--:|--:|---|"
    for fault in soaked["faults"]:
        errors = ", ".join(f"{count} × {error}" for error, count in fault["errors"].items()) or "none"
        away, well = fault["mended"] - fault["began"], fault["back"] - fault["mended"]
        yield f"| {fault['what']} | {fault['began']:.0f} | {away:.1f} | {well:.1f} | {errors} |"
    yield f"\n- errors at other times, or of other kinds: {len(soaked['unexcused'])}"
    yield f"- accepted reservations: {soaked['accepted']:,}, of which {len(soaked['lost'])} were lost"
    yield f"- sold of the fullest capacity: {soaked['fullest']:.0%}; oversold: {len(soaked['oversold'])}"


def _late(soaked: Mapping[str, Any], timeline: Mapping[str, Any]) -> Iterator[str]:
    """How soon it answered where nothing was taken away, how soon in all, and what was taken."""
    if timeline["stolen"] is None:
        yield "- whether answers come in time is **not judged**: the machine does not tell what was taken away"
    else:
        p99 = timeline["undisturbed_p99_ms"]
        judged = soaked["enough"] and soaked["maximum_measured"] == "undisturbed"
        met = "**not judged**" if not judged else "met" if p99 < LONGEST_P99 else "**not met**"
        calm = f"undisturbed: {timeline['undisturbed_minutes']:g} minutes of the {soaked['wanted_minutes']:g} wanted"
        yield f"- {calm}" + ("" if p99 is None else f"; {_quick(timeline, 'undisturbed_')}") + f" ({met})"
        shares = [f"{timeline[name]:.1%} {how}" for name, how in TAKEN.items()]
        yield f"- of the processors' time {' and '.join(shares)}; {timeline['idle']:.1%} nobody wanted"
        yield (
            f"- stretches of {STRETCH:g} seconds: {len(timeline['stretches'])}, of which {timeline['disturbed']} were "
            f"disturbed and {timeline['left']} began with what such a one had left"
        )
    yield f"- in all of the time: {_quick(soaked)}"
    yield f"- the reservations, each released again before the next: {_quick(soaked['orders'])}"
    yield (
        f"- requests that were due and not sent: {soaked['dropped']:,} dropped behind disturbed stretches, "
        f"{soaked['unanswered']:,} waiting when it was over"
    )


def _quick(figures: Mapping[str, Any], which: str = "") -> str:
    p50, p99, p999, worst = (figures[f"{which}{name}_ms"] for name in ("p50", "p99", "p999", "worst"))
    return f"{p50:g} ms at the median, {p99:g} at the 99th percentile, {p999:g} at the 99.9th, {worst:g} at the worst"


def _take() -> None:
    """Have what was measured here last committed."""
    RESULTS.mkdir(exist_ok=True)
    for kept in (MEASURED, STEADY, SOAKED, GROWN, SERVED, SCALED, YEAR, CONSOLE):
        if (fresh := Path("var", kept)).exists():
            shutil.copy(fresh, RESULTS / kept)
    (RESULTS / MACHINE).write_text(json.dumps(machine(), indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=(__doc__ or "").strip())
    parser.add_argument("--take", action="store_true", help="take over what is in var first")
    if parser.parse_args().take:
        _take()
    for file, made in PAGES.items():
        file.write_text(made(), encoding="utf-8")
    PLOTS.mkdir(exist_ok=True)
    for name, drawn in plots().items():
        (PLOTS / name).write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
