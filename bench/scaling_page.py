"""docs/scaling.md from the results that are kept: what grows with what, in ratios of one run each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .console import CHANGES_EVERY
from .scaling import CLIENTS, FLEETS, IDCS, KNEE, PROCESSES, knee

__all__ = ["scaling_page"]

NAMES = {"recommend": "recommendations", "reserve": "orders that reserve"}
PARTS = {"web": "web processes", "postgresql": "PostgreSQL", "nginx": "nginx"}
DAY = 86_400
TEN, THOUSAND = 10, 1000
FLEET = FLEETS[-1][0]
INTRODUCTION = """\
# Scaling

What grows with what, measured until more load brings no more answers, and what one would do at ten times that. It is
about ratios: nginx, web processes, PostgreSQL and wrk, which asks, share the processors of one machine, on which others
work, too. Where these wanted both, rates that differ by less than a factor of two say little; what a request takes of
the processors says more. [Performance](performance.md) compares with other systems, [deploying](deploying.md#how-large) says what to
begin with.

    .venv/bin/python -m bench.scaling     # web processes, IDCs and tenants, about twenty minutes
    .venv/bin/python -m bench.year        # a year of samples, records, and their deletion
    .venv/bin/python -m bench.growth      # what a decision costs as things grow in number
    .venv/bin/python -m bench.console     # what the console costs over 1,000 IDCs
    .venv/bin/python -m bench.page --take # this page and performance.md, from the figures of these

## What scales with what

| what grows | what takes more | what to add |
|---|---|---|
| recommendations | processors of web processes; records in PostgreSQL, behind the answers | web processes, on hosts that have cores for them; nothing is shared between them but the database |
| orders | web processes and PostgreSQL, where all orders of a line wait for its row | cores and a fast disk for PostgreSQL; web processes until these are busy |
| IDCs | time and memory of each web process | memory in all of them; shorter answers by asking for a region, which is all that a decision looks at |
| lines × metrics | samples: PostgreSQL's disk, the worker that rolls up | disk; a worker |
| tenants | next to nothing | – |
| days | samples up to 40 days, daily figures up to 400, records up to `DECISION_RETENTION_DAYS` | disk |
"""  # noqa: E501 - a row of a table is one line


def scaling_page(
    scaled: Mapping[str, Any], year: Mapping[str, float], grown: Mapping[str, Any], console: Mapping[str, Any]
) -> str:
    """The page."""
    machine = scaled["machine"]
    parts = [
        INTRODUCTION,
        (
            f"Measured on {machine['date']} on a shared machine with {machine['cores']} cores, {machine['system']}, "
            f"Python {machine['python']}."
        ),
        *_processes(scaled["processes"]),
        *_fleets(scaled["fleets"]),
        *_samples(year),
        *_records(year),
        *_console(console),
        *_ten_times(scaled, year, grown),
    ]
    return "\n".join(parts) + "\n"


def _console(console: Mapping[str, Any]) -> Iterator[str]:
    visit, tabs = console["overview"], console["tabs"]
    yield "\n## The console\n"
    yield (
        f"Over {IDCS:,} IDCs with three lines each, the overview weighs {visit['page_kb']:.0f} kB compressed, and the "
        f"files that a first visit loads with it {visit['files_kb']:.0f} kB. After each change of the fleet, a warm "
        f"server draws it once for all readers: the page then takes {visit['page_ms']:.0f} ms, a poll "
        f"{visit['poll_ms']:.0f} ms, and one that finds nothing new {visit['unchanged_ms']:.0f} ms. "
        f"{tabs['number']} tabs that stay open, while a line changes every {CHANGES_EVERY:.0f} s, take "
        f"{tabs['of_a_processor']:.0%} of a processor, and a single client's recommendation "
        f"{tabs['recommendation_takes']:.1f} times as long as without them."
    )


def _times(value: float) -> str:
    return f"{value:.0f}" if value >= TEN else f"{value:.1f}"


def _processes(series: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n## Web processes\n"
    yield (
        f"So many clients ask over {IDCS:,} IDCs by way of nginx, each again as soon as it is answered; everything is "
        "put on record. *Rate*: answers a second; *wait*: the time of the median answer; both as multiples of the "
        "first row's for one process. *Refused*: with 503, where too many wait for the database already."
    )
    for what, name in NAMES.items():
        own = {each["processes"]: each["points"] for each in series if each["what"] == what}
        yield f"\n| {name}: clients | {' | '.join(_heading(each) for each in PROCESSES)} |"
        yield "|--:" * (1 + 3 * len(PROCESSES)) + "|"
        one = own[1][0]
        for number, clients in enumerate(CLIENTS):
            cells = [_point(own[processes][number], one) for processes in PROCESSES]
            yield f"| {clients} | {' | '.join(cells)} |"
    yield ""
    for what, name in NAMES.items():
        yield _knees(name, {each["processes"]: knee(each["points"]) for each in series if each["what"] == what})
    yield (
        "\nPast the knee more clients wait for longer, or are refused; no more are answered. Nor are there cores here "
        "for more processes. What a request takes of the processors says how many cores of each part belong together "
        "on hosts that have more:\n"
    )
    knees = {what: knee(_of(series, what, 1)) for what in NAMES}
    yield f"| at the knee of one process | {' | '.join(PARTS.values())} | in all, a recommendation being 1 |"
    yield "|---" + "|--:" * (len(PARTS) + 1) + "|"
    for what, name in NAMES.items():
        shares = [f"{knees[what][f'{part}_us'] / _all(knees[what]):.0%}" for part in PARTS]
        yield f"| {name} | {' | '.join(shares)} | {_times(_all(knees[what]) / _all(knees['recommend']))} |"
    beside = {what: _times(_all(each) / each["postgresql_us"] - 1) for what, each in knees.items()}
    yield (
        f"\nSo one core of PostgreSQL keeps up with {beside['recommend']} cores of web processes and nginx that "
        f"recommend, records included, and with {beside['reserve']} that reserve."
    )


def _heading(processes: int) -> str:
    return f"{processes} process{'es' * (processes > 1)}: rate | wait | refused"


def _point(point: Mapping[str, float], one: Mapping[str, float]) -> str:
    rate, wait = point["per_second"] / one["per_second"], point["p50_ms"] / one["p50_ms"]
    return f"{_times(rate)} | {_times(wait)} | {point['refused']:.0%}"


def _knees(name: str, knees: Mapping[int, Mapping[str, float]]) -> str:
    first, *more = knees.items()
    told = [
        f"{_times(each['per_second'] / first[1]['per_second'])} times as many from {processes}"
        for processes, each in more
    ]
    at = ", ".join(f"{each['clients']:.0f}" for each in knees.values())
    return f"- {name}: the knee, {KNEE:.0%} of the most, is at {at} clients; {', '.join(told)} processes as from one."


def _of(series: Sequence[Mapping[str, Any]], what: str, processes: int) -> Sequence[Mapping[str, float]]:
    found: Sequence[Mapping[str, float]] = next(
        each["points"] for each in series if (each["what"], each["processes"]) == (what, processes)
    )
    return found


def _all(point: Mapping[str, float]) -> float:
    return sum(point[f"{part}_us"] for part in PARTS)


def _fleets(fleets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n## IDCs and tenants\n"
    yield (
        "One web process, four clients, in turns; each request asks about all IDCs, and with tenants each has a token "
        "of its own. Rates and what a request takes of the processors are multiples of the first row's. Of more lines "
        "than `EXACT_BILL_LINES` (5,000; 10,000 IDCs have 30,000) a bill is by the formula alone, which takes less.\n"
    )
    yield "| IDCs | tenants | recommendations: rate | web | PostgreSQL | orders: rate | web | PostgreSQL | memory, MB |"
    yield "|--:" * 9 + "|"
    first = fleets[0]
    for fleet in fleets:
        cells = [
            _times(fleet[what][figure] / first[what][figure])
            for what in NAMES
            for figure in ("per_second", "web_us", "postgresql_us")
        ]
        yield f"| {fleet['idcs']:,} | {fleet['tenants']:,} | {' | '.join(cells)} | {fleet['memory_mb']:,.0f} |"


def _samples(year: Mapping[str, float]) -> Iterator[str]:
    days, rows, removed = (f"{year[name]:,.0f}" for name in ("kept_days", "kept_rows", "kept_day_pruned_rows"))
    seconds, vacuum = year["kept_day_pruned_s"], year["kept_vacuum_s"]
    yield "\n## Samples\n"
    yield (
        f"A year of 300 lines, a sample every five minutes, weighs {year['year_mb']:,.0f} MB, "
        f"{year['sample_bytes']:.1f} bytes a sample. An installation keeps {days} days: of the "
        f"{year['fleet_lines']:,.0f} lines that 10,000 IDCs have these are {rows} rows and "
        f"{year['kept_mb'] / THOUSAND:.1f} GB for each metric, however many years go by. An hourly task deletes what "
        "is older, nearly all of it once a day, after midnight UTC.\n"
    )
    yield "| a day of that fleet | rows | to delete, s | vacuum, s |\n|---|--:|--:|--:|"
    yield f"| as it is | {removed} | {seconds:.2f} | {vacuum:.2f} |"
    yield f"| as a partition that is dropped | {removed} | {year['part_dropped_s']:.2f} | – |"
    yield (
        f"\nPartitions by day would save {seconds + vacuum:.1f} s a day, in which nobody waits. With them, in turns "
        f"with the table as it is, reading the {days} days of a line takes {year['part_reads']:.1f} times as long, and "
        f"writing a new value of {year['part_written']:,.0f} lines {year['part_writes']:.1f} times. So there are none."
    )


def _records(year: Mapping[str, float]) -> Iterator[str]:
    count, outcomes = year["decisions"], year["outcome_bytes"]
    record = year["decision_bytes"] + year["archive_bytes"]
    each = year["expired_s"] / year["expired"]
    yield "\n## Records of recommendations\n"
    yield (
        f"They outweigh all else. Over 100 IDCs a recommendation leaves {record / count / THOUSAND:.1f} kB with its "
        f"inputs, and {year['outcomes'] / count:.0f} rows of what became of single IDCs, of "
        f"{outcomes / year['outcomes']:.0f} bytes with their indexes; of a large fleet it leaves 200. One a second is "
        f"{(record + outcomes) / count * DAY / 1e9:.1f} GB a day. Deleting takes {each * THOUSAND:.1f} s for a "
        f"thousand, so that one worker keeps up with {1 / each:,.0f} a second, day and night. "
        "`DECISION_RETENTION_DAYS` says for how long they stay, `RECORD_INPUTS` how many keep their inputs."
    )


def _ten_times(scaled: Mapping[str, Any], year: Mapping[str, float], grown: Mapping[str, Any]) -> Iterator[str]:
    by_idcs = {point["n"]: point["us"] for point in grown["idcs"]}
    memory = {each["idcs"]: each["memory_mb"] for each in scaled["fleets"] if not each["tenants"]}
    an_idc = (memory[FLEET] - memory[IDCS]) / (FLEET - IDCS)
    ordering = knee(_of(scaled["processes"], "reserve", 1))
    deleting = TEN * (year["kept_day_pruned_s"] + year["kept_vacuum_s"])
    yield "\n## At ten times that\n"
    yield (
        f"At ten times {FLEET:,} IDCs, and ten times what the processors here answer. What was not measured is in "
        "proportion.\n"
    )
    yield "| ten times | comes to | what one would do |\n|---|---|---|"
    yield (
        f"| IDCs: {TEN * FLEET:,} | a decision takes {_times(by_idcs[TEN * FLEET] / by_idcs[FLEET])} times as long "
        f"(measured), a process holds {(memory[FLEET] + (TEN - 1) * FLEET * an_idc) / THOUSAND:.1f} GB | an "
        "installation for each group of regions: a decision looks at its request's regions alone, so nothing is lost, "
        "and a portal that knows the region knows whom to ask |"
    )
    yield (
        "| recommendations | ten times the cores of web processes | more hosts with web processes, none of which waits "
        "for another; PostgreSQL for their records, on a host of its own |"
    )
    yield (
        f"| orders | ten times the cores, of which PostgreSQL takes {ordering['postgresql_us'] / _all(ordering):.0%} | "
        "a host for PostgreSQL alone, with that many cores and a disk that syncs fast; beyond that, an installation "
        "for each group of regions |"
    )
    yield (
        f"| lines × metrics | {TEN * year['kept_mb'] / THOUSAND:.0f} GB for each metric, {deleting:.0f} s of deleting "
        "a day | a disk for that, and workers; partitions by day once deleting is in the way of others |"
    )
    yield "| tenants | a row and a token each | nothing |"
