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
    const row = input.closest(".row");
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

// A slider and the number beside it move each other.
order?.addEventListener("input", ({ target }) => {
    if (target.type === "range") {
        document.getElementById(target.dataset.of).value = Math.round(target.value * 10) / 10;
    } else if (target.dataset.own !== undefined) {
        order.querySelector(`[data-of="${target.id}"]`).value = target.value;
    }
    const row = target.closest(".row");
    if (row && !row.nextElementSibling && !isBlankRow(row)) {
        addRow(row);
    }
});

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
function draw() {
    const hours = drawnHours();
    const top = topOf(hours);
    drawing.replaceChildren(...hours.map((number, hour) => {
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        const height = Math.max((60 * number) / top, 1);
        for (const [name, value] of Object.entries({ x: hour * 10 + 0.5, y: 60 - height, width: 9, height, class: "level" })) {
            bar.setAttribute(name, value);
        }
        return bar;
    }));
}
function drawAt(event) {
    const box = drawing.getBoundingClientRect();
    const hour = Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * HOURS), 0), HOURS - 1);
    const level = Math.min(Math.max(1 - (event.clientY - box.top) / box.height, 0), 1);
    const hours = drawnHours();
    const top = topOf(hours);
    const levels = hours.map((number) => Math.round((100 * number) / top));
    levels[hour] = Math.round(100 * level);
    shape.value = levels.join(", ");
    shape.dispatchEvent(new Event("input", { bubbles: true }));
}
if (drawing) {
    draw();
    shape.addEventListener("input", draw);
    drawing.addEventListener("pointerdown", (event) => { drawing.setPointerCapture(event.pointerId); drawAt(event); });
    drawing.addEventListener("pointermove", (event) => { if (event.buttons) { drawAt(event); } });
}

// The answer is replaced at every change: what was unfolded in it stays so, and the fields show what is wrong with them.
let unfolded = [];
document.addEventListener("htmx:beforeSwap", () => {
    unfolded = [...document.querySelectorAll("#answer details[open]")].map((details) => details.id);
});
document.addEventListener("htmx:afterSwap", () => {
    unfolded.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    const problems = JSON.parse(document.getElementById("problems").textContent);
    for (const place of order.querySelectorAll(".error")) {
        const id = place.id.replace(/_error$/, "");
        place.textContent = problems[id] ?? "";
        place.closest(".field").classList.toggle("invalid", id in problems);
        const input = document.getElementById(id);
        input?.toggleAttribute("aria-invalid", id in problems);
        input?.setAttribute("aria-describedby", place.id);
    }
});
