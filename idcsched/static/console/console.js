// What all pages of the console do: the browser's time zone, light and dark, keys, dialogs, polls, a server that is away.
"use strict";

const root = document.documentElement;
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = document.cookie.split("; ").some((cookie) => cookie === `zone=${encodeURIComponent(own)}`);
if (own && !known) {
    document.cookie = `zone=${encodeURIComponent(own)}; path=/console/; max-age=31536000; samesite=lax`;
    if (own !== root.dataset.zone && document.cookie.includes("zone=")) {
        location.reload();
    }
}

// The server remembers the theme; the page changes at once, and whatever was being filled in stays.
document.addEventListener("submit", (event) => {
    const form = event.target.closest("form.theme");
    if (form) {
        event.preventDefault();
        root.dataset.theme = root.dataset.chosen = root.dataset.theme === "dark" ? "light" : "dark";
        form.elements.theme.value = root.dataset.theme;
        fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
        document.dispatchEvent(new Event("theme"));
        return;
    }
    const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    if (question && !window.confirm(question)) {
        event.preventDefault();
    }
});

// Keys. `g` and a letter lead to a place; what else a page offers says `data-key` on its link or button.
const single = document.getElementById("single-keys");
if (single) {
    single.checked = localStorage.getItem("single-keys") !== "off";
    single.addEventListener("change", () => localStorage.setItem("single-keys", single.checked ? "on" : "off"));
}
const press = (selector) => {
    const found = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility() && !one.disabled);
    found?.click();
    return Boolean(found);
};
// A place may stand in a menu that is closed.
const go = (key) => {
    const place = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
    place?.click();
    return Boolean(place);
};
const step = (by) => {
    const rows = [...document.querySelectorAll("main :is(tbody tr, .wrong li, .rank, .rej)")].filter((row) => row.checkVisibility() && row.querySelector("a"));
    const next = rows[Math.min(Math.max(rows.findIndex((row) => row.contains(document.activeElement)) + by, 0), rows.length - 1)];
    next?.querySelector("a").focus();
    return Boolean(next);
};
const range = (by) => {
    const steps = [...document.querySelectorAll("[data-ranges] a")];
    const next = steps[steps.findIndex((one) => one.hasAttribute("aria-current")) + by];
    next?.click();
    return Boolean(next);
};
const KEYS = {
    "/": () => {
        const search = [...document.querySelectorAll("input[type=search]")].find((one) => one.checkVisibility());
        if (!search) {
            return press(".tool.find");
        }
        search.focus();
        search.select();
        return true;
    },
    "?": () => { document.getElementById("help").showModal(); return true; },
    j: () => step(1),
    k: () => step(-1),
    x: () => {
        const box = document.activeElement.closest("main tbody tr")?.querySelector("input[type=checkbox]");
        box?.click();
        return Boolean(box);
    },
    c: () => { navigator.clipboard?.writeText(location.href); return true; },
    "[": () => range(-1),
    "]": () => range(1),
};
let going = false;
document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (single && !single.checked) || document.querySelector("dialog[open]") || event.target.closest("input:not([type=checkbox]), textarea, select")) {
        return;
    }
    const key = event.key;
    const done = going ? go(key) : Object.hasOwn(KEYS, key) ? KEYS[key]() : key.length === 1 && press(`[data-key="${CSS.escape(key)}"]`);
    going = !going && key === "g";
    if (done) {
        event.preventDefault();
    }
});

document.addEventListener("change", (event) => event.target.closest("form[data-submit]")?.requestSubmit());

// One box chooses all of its form.
for (const all of document.querySelectorAll("[data-all]")) {
    all.hidden = false;
    all.addEventListener("change", (event) => {
        all.closest("form").querySelectorAll("input.pick").forEach((box) => { box.checked = event.target.checked; });
    });
}

document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) {
        const dialog = document.getElementById(opener.dataset.open);
        if (dialog) {  // else it is a link to a page of its own
            event.preventDefault();
            dialog.showModal();
        }
    }
    const closer = event.target.closest("[data-close]");
    if (closer) {
        event.preventDefault();
        closer.closest("dialog").close();
    }
    const fold = event.target.closest('a[href^="#"]') && document.getElementById(event.target.closest("a").hash.slice(1));
    if (fold?.matches("details")) {
        fold.open = true;
    }
    const copier = event.target.closest("[data-copy]");
    if (copier) {
        navigator.clipboard.writeText(document.getElementById(copier.dataset.copy).textContent.trim());
        copier.textContent = copier.dataset.done;
    }
    for (const menu of document.querySelectorAll("details.menu[open]")) {
        if (!menu.contains(event.target)) {
            menu.open = false;
        }
    }
});
document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
        for (const menu of document.querySelectorAll("details.menu[open]")) {
            menu.open = false;
        }
    }
});

// A server that is away: the banner says so, the dot is hollow, and the polls come at longer and longer intervals.
const offline = document.getElementById("offline");
let failures = 0, beats = 0;
const away = (lost) => {
    offline.hidden = !lost;
    failures = lost ? failures + 1 : 0;
    beats = lost ? Math.min(2 ** failures, 20) : 0;
    document.querySelectorAll(".live").forEach((dot) => dot.classList.toggle("lost", lost));
};
const isPoll = (event) => !event.detail.requestConfig.triggeringEvent;
document.addEventListener("htmx:sendError", () => away(true));
document.addEventListener("htmx:responseError", (event) => { if (event.detail.xhr.status >= 500) { away(true); } });
document.addEventListener("htmx:afterOnLoad", (event) => {
    if (event.detail.xhr.status < 400) {
        away(false);
        const now = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: root.dataset.zone }).format();
        document.querySelectorAll("[data-clock]").forEach((clock) => { clock.textContent = now; });
    }
});

// A tab that nobody sees asks for nothing: requests without an event that caused them are those of `every 3s`.
document.addEventListener("htmx:beforeRequest", (event) => {
    if (isPoll(event) && (document.hidden || beats-- > 0)) {
        event.preventDefault();
    }
});
