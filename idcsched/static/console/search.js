// What the words in the header's search may mean, while they are typed: htmx asks, the keys are here.
"use strict";
{
    const input = document.querySelector("form.search input");
    const list = document.getElementById("suggestions");
    const options = () => [...list.querySelectorAll("[role=option]")];
    const chosen = () => list.querySelector("[aria-selected=true]");
    const choose = (option) => {
        for (const one of options()) {
            one.setAttribute("aria-selected", String(one === option));
        }
        if (option) {
            input.setAttribute("aria-activedescendant", option.id);
            option.scrollIntoView({ block: "nearest" });
        } else {
            input.removeAttribute("aria-activedescendant");
        }
    };
    const open = (yes) => {
        list.hidden = !yes;
        input.setAttribute("aria-expanded", String(yes));
        if (!yes) {
            choose(null);
        }
    };
    const step = (by) => {
        const all = options(), place = all.indexOf(chosen());
        open(true);
        choose(all[place < 0 ? (by > 0 ? 0 : all.length - 1) : (place + by + all.length) % all.length]);
    };

    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", list.id);
    open(false);
    list.addEventListener("htmx:afterSwap", () => open(options().length > 0 && document.activeElement === input));
    list.addEventListener("mousedown", (event) => event.preventDefault());  // the search keeps the focus until the click
    input.addEventListener("blur", () => open(false));
    input.addEventListener("keydown", (event) => {
        if (event.isComposing) {
            return;  // a key of the input method, as for Chinese
        }
        if ((event.key === "ArrowDown" || event.key === "ArrowUp") && options().length) {
            event.preventDefault();
            step(event.key === "ArrowDown" ? 1 : -1);
        } else if (event.key === "Enter" && chosen()) {
            event.preventDefault();
            chosen().click();
        } else if (event.key === "Escape" && !list.hidden) {
            event.preventDefault();
            open(false);
        }
    });
}
