// Before anything is painted: where no theme was chosen, the page has the system's.
"use strict";

const page = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => {
    if (!page.dataset.chosen) {
        page.dataset.theme = system.matches ? "dark" : "light";
        document.dispatchEvent(new Event("theme"));
    }
};
system.addEventListener("change", follow);
follow();
