"""Backtests as plain tables for the terminal."""

from .backtest import BacktestResult, CourseReport

__all__ = ["result_table"]


def result_table(result: BacktestResult) -> str:
    """Return the profiles side by side, the cheapest first, what was done in truth above them."""
    courses = sorted(result.courses, key=lambda course: course.added)
    rows = [*filter(None, [result.done]), *courses, *filter(None, [result.optimum])]
    heading = (
        f"{result.orders} orders in {result.days} days; without them the lines cost "
        f"{result.without_orders:,.0f} {result.currency} a month. What they add a month:"
    )
    width, dearest = max(len(course.name) for course in rows), max(course.added for course in rows)
    moved = result.done is not None
    columns = f"{'':{width}}  {'added':>12}  {'of the dearest':>14}  {'unplaced':>8}  {'congested':>9}"
    table = [
        columns + ("  elsewhere" if moved else ""),
        *(_row(course, width, dearest, moved=moved) for course in rows),
    ]
    return "\n".join([heading, "", *table, "", *_types(rows, width)])


def _row(course: CourseReport, width: int, dearest: float, *, moved: bool) -> str:
    share = f"{course.added / dearest:.0%}" if dearest > 0 else "–"
    row = f"{course.name:{width}}  {course.added:12,.0f}  {share:>14}  {course.unplaced:8}  {course.congested:9.2f}"
    return row + (f"  {course.moved:9}" if moved else "")


def _types(rows: list[CourseReport], width: int) -> list[str]:
    """Return what is added by charge type, a column each."""
    types = sorted({charge_type for course in rows for charge_type in course.by_charge_type})
    heads = [f"{charge_type:>{max(12, len(charge_type))}}" for charge_type in types]
    lines = ["  ".join([" " * width, *heads])]
    for course in rows:
        figures = [course.by_charge_type.get(charge_type, 0.0) for charge_type in types]
        cells = [f"{figure:{len(head)},.0f}" for figure, head in zip(figures, heads, strict=True)]
        lines.append("  ".join([f"{course.name:{width}}", *cells]))
    return lines
