// The page "Try an order": sliders, further rows, a drawn shape, and what is wrong with fields outside of the answer.
"use strict";

const order = document.getElementById("order");
const HOURS = 24;

// The address holds what was filled in, and nothing else: no blank fields and rows, no weights that are the profile's own.
const isBlank = (input) => (input.tagName === "SELECT" ? input.selectedIndex === 0 : input.value.trim() === "");
const isBlankRow = (row) => [...row.querySelectorAll("input, select")].every(isBlank);
const isOwnWeight = (input) => input.dataset.own !== undefined && Number(input.value) === Number(input.dataset.own);
const isLeftOut = (input) => {
    if (input.type === "checkbox") {
        return !input.checked;
    }
    if (input.type === "radio") {
        return !input.checked || input.value === "money" || input.dataset.forced !== undefined;
    }
    const row = input.closest(".row.fields, details.row");
    return row ? isBlankRow(row) : input.value.trim() === "" || isOwnWeight(input);
};
order?.addEventListener("formdata", ({ formData }) => {
    const inputs = [...order.elements].filter((input) => input.name && input.type !== "submit");
    const kept = inputs.filter((input) => !isLeftOut(input));
    const weighed = kept.some((input) => input.dataset.own !== undefined);
    inputs.forEach((input) => formData.delete(input.name));
    // Blanks hold the places of a row's other fields; behind the last value of a name there is nothing to hold.
    const last = new Map(kept.filter((input) => input.value.trim()).map((input) => [input.name, input]));
    for (const input of kept) {
        const isTrailing = !last.has(input.name) || (last.get(input.name).compareDocumentPosition(input) & Node.DOCUMENT_POSITION_FOLLOWING);
        if (!isTrailing && (weighed || input.name !== "weights_of")) {
            formData.append(input.name, input.value);
        }
    }
});

// A slider has four steps to a doubling of the profile's own weight; the far left is off. It and the number beside it
// move each other, and whatever is moved ranks anew at once what the page knows; the server's answer replaces that.
const STEPS = 4;
const END = 28;
const place = document.querySelector(".try");
const ownOf = (input) => Number(input.dataset.own);
const baseOf = (input) => ownOf(input) || 1;
const placeOf = (weight, input) => (weight > 0 ? Math.min(Math.max(STEPS * Math.log2(weight / baseOf(input)), 1 - END), END) : -END);
const weightAt = (place, input) => (Number(place) <= -END ? 0 : Number((baseOf(input) * 2 ** (place / STEPS)).toPrecision(3)));
const sliders = () => [...document.querySelectorAll(".slider")];
const inputOf = (slider) => slider.querySelector("[data-own]");
const setSliders = () => sliders().forEach((slider) => {
    slider.querySelector("[type=range]").value = placeOf(Number(inputOf(slider).value), inputOf(slider));
});
let inputs = 0;
place?.addEventListener("input", ({ target }) => {
    inputs += 1;
    if (target.type === "range") {
        const input = document.getElementById(target.dataset.of);
        input.value = Number(target.value) === 0 ? ownOf(input) : weightAt(target.value, input);
    } else if (target.dataset.own !== undefined) {
        setSliders();
    }
    if (target.closest("#weights")) {
        rankAnew();
    }
    document.getElementById("answer")?.classList.add("waiting");
    const row = target.closest(".row.fields, details.row");
    if (row && !row.nextElementSibling && !isBlankRow(row)) {
        addRow(row);
    }
});
document.getElementById("reset")?.addEventListener("click", () => {
    sliders().map(inputOf).forEach((input) => { input.value = input.dataset.own; });
    setSliders();
    rankAnew();
    place.dispatchEvent(new Event("change"));
});

const grouped = (value) => Math.round(value).toLocaleString("en");
const element = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
    return node;
};
const weighed = () => JSON.parse(document.getElementById("weighed")?.textContent ?? "null");
const weights = () => Object.fromEntries(sliders().map((slider) => [slider.dataset.name, Number(inputOf(slider).value) || 0]));
const pointsOf = (candidate, by) => Object.entries(candidate.scores).reduce((sum, [name, score]) => sum + score * (by[name] ?? 0), 0);

// The parts of a candidate's cost: what is billed, what is used up, and what it lacks to the best one by each scorer.
function partsOf(candidate, known, by) {
    const others = Object.keys(candidate.scores).filter((name) => name !== known.bill);
    return [
        ["s-bill", known.scorers[known.bill].words, candidate.paid],
        ["s-bill2", "", candidate.counted - candidate.paid],
        ...others.map((name) => [known.scorers[name].css, known.scorers[name].words, (known.best[name] - candidate.scores[name]) * by[name] * known.unit / by[known.bill]]),
    ];
}

function rankAnew() {
    const known = weighed();
    const by = weights();
    showWorth(known, by);
    const list = document.querySelector(".lens-money .rows");
    if (!known || !list || !(by[known.bill] > 0)) {
        return;
    }
    const order = [...known.candidates].sort((one, other) => pointsOf(other, by) - pointsOf(one, by));
    const parts = new Map(order.map((candidate) => [candidate.idc, partsOf(candidate, known, by)]));
    const total = (candidate) => parts.get(candidate.idc).reduce((sum, part) => sum + part[2], 0);
    const scale = 98 / Math.max(...order.map(total), 1);
    const rows = new Map([...list.querySelectorAll(".rank")].map((row) => [row.dataset.idc, row]));
    const before = new Map([...rows].map(([idc, row]) => [idc, row.getBoundingClientRect().top]));
    order.forEach((candidate, place) => {
        const row = rows.get(candidate.idc);
        if (!row) {
            return;
        }
        row.classList.toggle("win", place === 0);
        row.querySelector(".pos").textContent = place + 1;
        row.querySelector(".total").firstChild.textContent = grouped(total(candidate));
        row.querySelector(".total small").textContent = place ? `+${grouped(total(candidate) - total(order[0]))}` : "";
        let x = 0;
        row.querySelector("svg.bar").replaceChildren(...parts.get(candidate.idc).filter((part) => part[2] * scale > 0.02).map(([css, _words, amount]) => {
            const bar = element("rect", { class: css, height: 20, x: `${x}%`, width: `${amount * scale}%` });
            x += amount * scale;
            return bar;
        }));
        list.append(row);
    });
    for (const [idc, row] of rows) {
        const moved = before.get(idc) - row.getBoundingClientRect().top;
        if (moved && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
            row.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: 180, easing: "ease-out" });
        }
    }
}

// What a natural step of each scorer is worth, and the nearest weight at which another IDC would win.
function showWorth(known, by) {
    for (const slider of sliders()) {
        const name = slider.dataset.name;
        const input = inputOf(slider);
        const scorer = known?.scorers[name];
        const rate = known && by[known.bill] > 0 ? known.unit / by[known.bill] : null;
        const worth = slider.querySelector("[data-worth]");
        worth.textContent = "";
        if (scorer && rate && name === known.bill) {
            worth.textContent = scorer.worth.replace("{points}", grouped(1000 / rate));
        } else if (scorer?.points && rate && by[name]) {
            worth.textContent = scorer.worth.replace("{money}", grouped(scorer.points * by[name] * rate));
        }
        const flip = known && scorer ? flipOf(known, by, name) : null;
        const at = (weight) => 50 + 50 * placeOf(weight, input) / END;
        const marks = [element("line", { class: "home", x1: "50%", x2: "50%", y1: 2, y2: 22 })];
        if (flip) {
            marks.push(element("line", { x1: `${at(flip.weight)}%`, x2: `${at(flip.weight)}%`, y1: 1, y2: 23 }));
        }
        slider.querySelector(".flip").replaceChildren(...(ownOf(input) ? marks : marks.slice(1)));
        const words = flip && (flip.weight > by[name] ? known.wins_from : known.wins_below);
        slider.querySelector("[data-flip]").textContent = flip ? words.replace("{idc}", flip.idc).replace("{weight}", flip.weight >= 10 ? grouped(flip.weight) : flip.weight.toFixed(1)) : "";
        slider.classList.toggle("moved", Number(input.value) !== ownOf(input));
    }
}
function flipOf(known, by, name) {
    const [winner, ...others] = [...known.candidates].sort((one, other) => pointsOf(other, by) - pointsOf(one, by));
    const flips = others.map((other) => {
        const gain = other.scores[name] - winner.scores[name];
        return { idc: other.idc, weight: by[name] + (pointsOf(winner, by) - pointsOf(other, by)) / gain };
    });
    const possible = flips.filter(({ weight }) => Number.isFinite(weight) && weight >= 0 && weight <= 10000);
    const distance = ({ weight }) => Math.abs(Math.log((weight + 0.01) / (by[name] + 0.01)));
    return possible.sort((one, other) => distance(one) - distance(other))[0] ?? null;
}
const showWeights = () => { setSliders(); showWorth(weighed(), weights()); };
showWeights();
if (matchMedia("(max-width: 860px)").matches && document.querySelector(".answerbar")) {
    document.querySelectorAll(".fold > details").forEach((fold) => { fold.open = false; });
}

function addRow(last) {
    const row = last.cloneNode(true);
    const renamed = (name) => name.replace(/_(\d+)(_error)?$/, (_whole, number, rest) => `_${Number(number) + 1}${rest ?? ""}`);
    for (const element of row.querySelectorAll("[id], [for]")) {
        for (const attribute of ["id", "for"]) {
            if (element.hasAttribute(attribute)) {
                element.setAttribute(attribute, renamed(element.getAttribute(attribute)));
            }
        }
    }
    row.querySelectorAll("input").forEach((input) => { input.value = ""; });
    row.querySelectorAll("select").forEach((select) => { select.selectedIndex = 0; });
    const summary = row.querySelector("summary");
    summary.textContent = summary.dataset.more;
    row.open = false;
    last.after(row);
}

// What was typed is drawn, and what is drawn is typed.
const drawing = document.getElementById("drawing");
const shape = document.getElementById("id_shape");
const drawnHours = () => {
    const numbers = shape.value.split(/[\s,]+/).filter(Boolean).map(Number);
    return Array.from({ length: HOURS }, (_none, hour) => (numbers[hour] > 0 ? numbers[hour] : 0));
};
// The top of the drawing: 1 or 100 where the numbers are shares or percents, else the largest of them.
const topOf = (hours) => {
    const highest = Math.max(...hours);
    return highest > 0 && highest <= 1 ? 1 : Math.max(highest, 100);
};
const levelsDrawn = () => {
    const hours = drawnHours();
    const top = topOf(hours);
    return hours.map((number) => Math.round((100 * number) / top));
};
function attributes(element, values) {
    for (const [name, value] of Object.entries(values)) {
        element.setAttribute(name, value);
    }
}
// Each bar is a slider. Tab leads to one of them, the arrows to the right and left to the others.
function makeBars() {
    drawing.removeAttribute("aria-hidden");
    attributes(drawing, { role: "group", "aria-label": drawing.dataset.label });
    drawing.replaceChildren(...Array.from({ length: HOURS }, (_none, hour) => {
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        attributes(bar, {
            x: hour * 10 + 0.5, width: 9, class: "level", tabindex: hour ? -1 : 0,
            role: "slider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 100,
            "aria-label": `${String(hour).padStart(2, "0")}:00`,
        });
        return bar;
    }));
}
function draw() {
    const hours = drawnHours();
    const top = topOf(hours);
    const levels = levelsDrawn();
    hours.forEach((number, hour) => {
        const height = Math.max((60 * number) / top, 1);
        const level = levels[hour];
        attributes(drawing.children[hour], { y: 60 - height, height, "aria-valuenow": level, "aria-valuetext": `${level} %` });
    });
}
function setLevel(hour, level) {
    const levels = levelsDrawn();
    levels[hour] = Math.min(Math.max(Math.round(level), 0), 100);
    shape.value = levels.join(", ");
    shape.dispatchEvent(new Event("input", { bubbles: true }));
}
function drawAt(event) {
    const box = drawing.getBoundingClientRect();
    const hour = Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * HOURS), 0), HOURS - 1);
    setLevel(hour, 100 * (1 - (event.clientY - box.top) / box.height));
}
const HOURS_ON = { ArrowRight: 1, ArrowLeft: -1 };
const LEVEL_BY = { ArrowUp: 5, ArrowDown: -5, PageUp: 20, PageDown: -20, Home: -100, End: 100 };
function drawByKey(event) {
    const hour = [...drawing.children].indexOf(event.target);
    if (hour < 0 || event.ctrlKey || event.altKey || event.metaKey) {
        return;
    }
    if (event.key in HOURS_ON) {
        const other = drawing.children[(hour + HOURS_ON[event.key] + HOURS) % HOURS];
        event.target.setAttribute("tabindex", -1);
        other.setAttribute("tabindex", 0);
        other.focus();
    } else if (event.key in LEVEL_BY) {
        setLevel(hour, levelsDrawn()[hour] + LEVEL_BY[event.key]);
    } else {
        return;
    }
    event.preventDefault();
}
if (drawing) {
    makeBars();
    draw();
    shape.addEventListener("input", draw);
    drawing.addEventListener("keydown", drawByKey);
    drawing.addEventListener("pointerdown", (event) => { drawing.setPointerCapture(event.pointerId); drawAt(event); });
    drawing.addEventListener("pointermove", (event) => { if (event.buttons) { drawAt(event); } });
}

// The answer is replaced at every change: what was unfolded in it stays so, and the fields show what is wrong with them.
// Where something was filled in since it was asked for, another answer is on its way.
let unfolded = [];
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.target.id === "answer") {
        detail.xhr.inputs = inputs;
    }
});
document.addEventListener("htmx:beforeSwap", () => {
    unfolded = [...document.querySelectorAll("#rest details[open]")].map((details) => details.id).filter(Boolean);
});
document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.xhr.inputs < inputs) {
        rankAnew();
        document.getElementById("answer")?.classList.add("waiting");
    }
});
document.addEventListener("htmx:afterSwap", () => {
    unfolded.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    showWeights();
    const problems = JSON.parse(document.getElementById("problems")?.textContent ?? "{}");
    for (const place of document.querySelectorAll(".try .error")) {
        const id = place.id.replace(/_error$/, "");
        place.textContent = problems[id] ?? "";
        place.closest(".field, .slider").classList.toggle("invalid", id in problems);
        const input = document.getElementById(id);
        input?.toggleAttribute("aria-invalid", id in problems);
        input?.setAttribute("aria-describedby", place.id);
    }
});
