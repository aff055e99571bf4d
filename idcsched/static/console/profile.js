// A profile's page: a weight's slider and its number follow each other, and a preview says that it takes a while.
"use strict";

for (const slider of document.querySelectorAll("input[type=range][data-for]")) {
    const number = document.getElementById(slider.dataset.for);
    slider.addEventListener("input", () => { number.value = String(Math.round(slider.value * 10) / 10); });
    number.addEventListener("input", () => {
        slider.max = Math.max(slider.max, number.value || 0);
        slider.value = number.value || 0;
    });
}

document.addEventListener("submit", ({ submitter }) => {
    if (submitter?.dataset.busy) {
        submitter.textContent = submitter.dataset.busy;
        submitter.setAttribute("aria-busy", "true");
    }
});
