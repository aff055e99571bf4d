"""`python -m bench [ROW …] [--rounds N]`: measures, prints a table, writes var/bench.json.

ROW is the beginning of a row's name, or a word in it; none: all rows. A row that can't be measured here is named
with the reason, and makes the exit status 2.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from .measuring import ROUNDS, Result, measure
from .row import Row, Workshop, all_rows

RESULT = Path("var/bench.json")


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    rows = [row for row in all_rows() if not options.rows or any(word in row.name for word in options.rows)]
    if not rows:
        print("there is no such row; there are " + ", ".join(row.name for row in all_rows()))
        return 2
    results, failures = _measured(rows, options.rounds)
    _write(results, options.into)
    print(f"\n{len(results)} of {len(rows)} rows are measured; figures in {options.into}")
    return 2 if failures else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--into", type=Path, default=RESULT, help="where the figures go (default: %(default)s)")
    return parser.parse_args(arguments)


def _measured(rows: list[Row], rounds: int) -> tuple[list[Result], dict[str, str]]:
    results, failures = [], {}
    print(f"{'row':<24}{'ours':>11}{'theirs':>11} {'unit':<8}{'ratio':>9}{'at best':>9}", flush=True)
    with ExitStack() as stack:
        workshop = Workshop(stack)
        for row in rows:
            try:
                result = measure(row, row.set_up(workshop), rounds)
            except Exception as error:  # noqa: BLE001  # one peer that can't be had must not cost all other figures
                failures[row.name] = f"{type(error).__name__}: {error}"
                print(f"{row.name:<24}can't be measured: {failures[row.name]}", flush=True)
            else:
                results.append(result)
                print(_line(result), flush=True)
    return results, failures


def _line(result: Result) -> str:
    figures = result.document()
    return (
        f"{result.row.name:<24}{figures['ours']:>11}{figures['theirs']:>11} {result.row.unit:<8}"
        f"{figures['ratio']:>9}{figures['ratio_at_best']:>9}"
    )


def _write(results: list[Result], into: Path) -> None:
    """Rows that were not measured this time keep the figures that they have."""
    kept = json.loads(into.read_text()) if into.exists() else []
    fresh = [result.document() for result in results]
    names = {figures["name"] for figures in fresh}
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_text(json.dumps([*(old for old in kept if old["name"] not in names), *fresh], indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
