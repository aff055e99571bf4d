// Draws the bandwidth of a line: its values, those above the 95th percentile, and the line's bounds.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
    const source = document.getElementById("chart-data");
    const place = document.querySelector(".plot");
    if (!source || !place) {
        return;
    }
    const data = JSON.parse(source.textContent);
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const shown = (value) => (value == null ? "–" : `${Math.round(value).toLocaleString("en")} Mbps`);
    const times = data.values.map((_, index) => data.start + index * data.step);
    const above = data.values.map((value) => (value != null && data.percentile != null && value > data.percentile ? value : null));
    const level = (mbps) => times.map(() => mbps);
    const most = Math.max(...data.values.filter((value) => value != null), data.percentile ?? 0);

    const draw = () => {
        const axis = { stroke: colour("--ink-3"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
        const series = [
            { label: data.names.time, value: "{YYYY}-{MM}-{DD} {HH}:{mm}" },
            { label: data.names.values, stroke: colour("--s-bill"), width: 1.5, value: (_, value) => shown(value) },
            { label: data.names.above, stroke: colour("--lv3"), width: 2, fill: colour("--lv3"), fillTo: data.percentile ?? 0, value: (_, value) => shown(value) },
        ];
        const columns = [times, data.values, above];
        const dashes = [[2, 4], [10, 4], [4, 4]];
        if (data.percentile != null) {
            series.push({ label: data.names.percentile, stroke: colour("--accent"), width: 1.5, dash: [8, 3], points: { show: false }, value: (_, value) => shown(value) });
            columns.push(level(data.percentile));
        }
        data.bounds.forEach((bound, index) => {
            series.push({ label: bound.name, stroke: colour(["--crit", "--ink-3", "--s-distance"][index]), width: 1, dash: dashes[index], points: { show: false }, value: (_, value) => shown(value) });
            columns.push(level(bound.mbps));
        });
        const top = Math.max(most, ...data.bounds.map((bound) => bound.mbps)) * 1.05;
        place.replaceChildren();
        const latest = data.values.findLastIndex((value) => value != null);
        return new uPlot({
            width: place.clientWidth,
            height: 280,
            series,
            axes: [{ ...axis, values: [[86400, "{MM}-{DD}", null, null, null, null, null, null, 1], [3600, "{HH}:{mm}", "\n{MM}-{DD}", null, null, null, null, null, 1]] }, { ...axis, size: 60 }],
            scales: { y: { range: [0, top] } },
            // The legend has the latest values until the pointer is over the chart.
            hooks: { ready: [(plot) => plot.setLegend({ idx: latest })], setCursor: [(plot) => plot.cursor.idx == null && plot.setLegend({ idx: latest })] },
            tzDate: (at) => uPlot.tzDate(new Date(at * 1e3), document.documentElement.dataset.zone),
        }, columns, place);
    };

    let plot = draw();
    window.addEventListener("resize", () => plot.setSize({ width: place.clientWidth, height: 280 }));
    document.addEventListener("theme", () => { plot = draw(); });
});
