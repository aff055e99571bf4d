"""A plot with two logarithmic axes as SVG: a few lines, with nothing to install and nothing to fetch."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10

__all__ = ["Series", "plot"]

Series = Sequence[tuple[float, float]]
WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 30, 30, 46
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
STYLE = "text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.line{fill:none;stroke-width:2}"


class _Axis:
    """Whole powers of ten around the values, laid over so many pixels from `start`."""

    def __init__(self, values: Iterable[float], start: float, stop: float) -> None:
        logs = [log10(value) for value in values]
        self.low, self.high = floor(min(logs)), max(ceil(max(logs)), floor(min(logs)) + 1)
        self._start, self._scale = start, (stop - start) / (self.high - self.low)

    def place(self, value: float) -> float:
        return round(self._start + (log10(value) - self.low) * self._scale, 1)

    @property
    def powers(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def plot(title: str, across: str, up: str, series: Mapping[str, Series]) -> str:
    """One line for each of the series, by name."""
    points = [point for line in series.values() for point in line]
    x = _Axis((point[0] for point in points), LEFT, WIDTH - RIGHT)
    y = _Axis((point[1] for point in points), HEIGHT - BOTTOM, TOP)
    drawn = [*_frame(title, across, up, x, y), *_lines(series, x, y)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{STYLE}</style>", *drawn, "</svg>"]) + "\n"


def _frame(title: str, across: str, up: str, x: _Axis, y: _Axis) -> list[str]:
    foot = HEIGHT - BOTTOM
    rows = [
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y.place(n)}" y2="{y.place(n)}"/>'
        f'<text x="{LEFT - 6}" y="{y.place(n) + 4}" text-anchor="end">{n:,g}</text>'
        for n in y.powers
    ]
    columns = [
        f'<line class="grid" x1="{x.place(n)}" x2="{x.place(n)}" y1="{TOP}" y2="{foot}"/>'
        f'<text x="{x.place(n)}" y="{foot + 16}" text-anchor="middle">{n:,.0f}</text>'
        for n in x.powers
    ]
    words = [
        f'<text x="{LEFT}" y="16" font-weight="bold">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>',
        f'<text transform="translate(14 {(TOP + foot) / 2}) rotate(-90)" text-anchor="middle">{escape(up)}</text>',
    ]
    return [*rows, *columns, *words]


def _lines(series: Mapping[str, Series], x: _Axis, y: _Axis) -> list[str]:
    drawn = []
    for (name, points), colour in zip(series.items(), COLOURS, strict=False):
        places = [(x.place(across), y.place(up)) for across, up in points]
        path = " ".join(f"{across},{up}" for across, up in places)
        drawn.append(f'<polyline class="line" stroke="{colour}" points="{path}"/>')
        drawn += [f'<circle cx="{across}" cy="{up}" r="3" fill="{colour}"/>' for across, up in places]
        drawn.append(
            f'<text x="{places[-1][0] - 6}" y="{places[-1][1] - 8}" text-anchor="end" style="fill:{colour}">'
            f"{escape(name)}</text>"
        )
    return drawn
